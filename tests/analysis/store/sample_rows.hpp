// Rows that can be recognised one by one: every field follows from the row's number.
#pragma once

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "analysis/values/collective_call.hpp"
#include "analysis/values/message.hpp"
#include "analysis/values/mpi_call.hpp"
#include "analysis/values/snapshot.hpp"

namespace pclscope::testing {

inline std::uint64_t mix(std::uint64_t x) {  // splitmix64
  x += 0x9e3779b97f4a7c15;
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
  x = (x ^ x >> 27) * 0x94d049bb133111eb;
  return x ^ x >> 31;
}

inline Message message_of(std::uint64_t row) {
  Message m;
  m.comm = mix(row) | 1;  // never 0: a hole in the file would be
  m.source = static_cast<std::int32_t>(row % 64);
  m.destination = static_cast<std::int32_t>(row % 61);
  m.tag = static_cast<std::int32_t>(mix(row + 1));
  m.flags = static_cast<std::uint32_t>(mix(row + 2));
  m.bytes = mix(row + 3) >> 20;
  m.send_begin = static_cast<std::int64_t>(row * 1000 + 1);
  m.send_end = m.send_begin + 7;
  m.recv_post = m.send_begin - 5;
  m.recv_wait = m.send_begin + 3;
  m.recv_end = m.send_begin + static_cast<std::int64_t>(mix(row + 4) % 1000);
  m.send_site = mix(row + 5) | 1;
  m.recv_site = mix(row + 6) | 1;
  return m;
}

inline std::vector<Message> messages_of(std::uint64_t first, std::uint64_t count) {
  std::vector<Message> rows;
  for (std::uint64_t i = 0; i < count; i++) rows.push_back(message_of(first + i));
  return rows;
}

inline CollectiveCall collective_of(std::uint64_t row) {
  CollectiveCall c;
  c.comm = mix(row / 3) | 1;
  c.ordinal = row / 3;
  c.rank = static_cast<std::int32_t>(row % 7);
  c.awaited = static_cast<std::int32_t>(mix(row) % 8) - 1;
  c.function = static_cast<std::uint16_t>(mix(row + 2));
  c.shape = static_cast<CollectiveShape>(row % 5);
  c.nonblocking = row % 11 == 0;
  c.begin = static_cast<std::int64_t>(row * 700 + mix(row) % 900);
  c.end = c.begin + static_cast<std::int64_t>(mix(row + 4) % 10'000);
  c.awaited_begin = c.begin + static_cast<std::int64_t>(mix(row + 5) % 5'000) - 1000;
  c.bytes = mix(row + 6) >> 40;
  c.site = mix(row + 7) | 1;
  return c;
}

inline std::vector<CollectiveCall> collectives_of(std::uint64_t first, std::uint64_t count) {
  std::vector<CollectiveCall> rows;
  for (std::uint64_t i = 0; i < count; i++) rows.push_back(collective_of(first + i));
  return rows;
}

// Of 8 ranks, a few in a row of each, one after the other, now and then with a gap that is not known.
inline MpiCall mpi_call_of(std::uint64_t row) {
  MpiCall c;
  c.comm = mix(row / 50) | 1;
  c.rank = static_cast<std::int32_t>(row / 20 % 8);
  c.function = static_cast<std::uint16_t>(300 + row % 20);
  c.ending = row % 23 == 0 ? CallEnding::unseen : CallEnding::returned;
  c.peer = static_cast<std::int32_t>(mix(row) % 10) - 2;
  c.begin = static_cast<std::int64_t>(row % 20 * 1000 + row / 160 * 20'000);
  c.end = c.ending == CallEnding::unseen ? c.begin : c.begin + static_cast<std::int64_t>(mix(row + 1) % 900);
  c.outside = row % 20 == 0 ? -1 : static_cast<std::int64_t>(mix(row + 2) % 500);
  c.bytes = mix(row + 3) >> 40;
  c.site = 1 + row % 3;
  return c;
}

inline std::vector<MpiCall> mpi_calls_of(std::uint64_t first, std::uint64_t count) {
  std::vector<MpiCall> rows;
  for (std::uint64_t i = 0; i < count; i++) rows.push_back(mpi_call_of(first + i));
  return rows;
}

inline Window window_of(std::uint64_t row) {
  Window w;
  w.begin_s = static_cast<double>(row) * 0.1;
  w.length_s = 0.1;
  w.all = {-1, mix(row), mix(row) + 1, mix(row) + 2, 1.5, 0.1, 0.2, 0.3, 1.25};
  for (std::uint64_t i = 0; i < mix(row + 9) % 5; i++) {
    w.regions.push_back(
        {static_cast<std::int32_t>(i), row * 10 + i, row, i, 0.5, 1, 2, static_cast<double>(row), 0.75});
  }
  return w;
}

// Call site `id`, before and after its names were found.
inline CallSite site_of(std::uint32_t id, bool named) {
  CallSite s;
  s.id = id;
  s.module = "/opt/" + std::string(id % 7 * 300, 'm') + "/app" + std::to_string(id % 3);
  s.build_id = id % 3 == 0 ? "" : "00ff" + std::to_string(id % 3);
  s.offset = mix(id);
  s.mpi_function = static_cast<std::uint16_t>(id % 600);
  s.caller = id / 2;
  if (!named) return s;
  s.function = "solver::step" + std::to_string(id) + "(int)";
  s.file = "/src/with blanks/" + std::to_string(id % 5) + ".cpp";
  s.line = 1 + id % 10'000;
  return s;
}

inline std::vector<CallSite> sites_of(std::uint32_t first, std::uint32_t count, bool named) {
  std::vector<CallSite> sites;
  for (std::uint32_t id = first; id < first + count; id++) sites.push_back(site_of(id, named));
  return sites;
}

// A directory of one's own, gone at the end.
class TemporaryDirectory {
 public:
  TemporaryDirectory() {
    char name[] = "/tmp/pcl-store-XXXXXX";
    path_ = ::mkdtemp(name);
  }
  ~TemporaryDirectory() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  std::string operator/(const std::string& name) const { return path_ + "/" + name; }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace pclscope::testing
