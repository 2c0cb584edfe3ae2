// What one node costs: processor time, bytes per kind of frame, memory.
//
// Memory: this program's operator new (meter.cpp) notes for whom it allocates, so that many nodes in one process can
// be told apart. Time: of this thread, so that other processes do not count. One thread.
#pragma once

#include <array>
#include <cstdint>
#include <ctime>

#include "analysis/nodes/link.hpp"
#include "analysis/nodes/packing.hpp"

namespace pclscope::benchmark {

inline double cpu_s() {
  timespec t{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_nsec) * 1e-9;
}

// While it lives memory is allocated for `owner` (0: nobody in particular).
inline constexpr int most_owners = 8;
class Owner {
 public:
  explicit Owner(int owner);
  ~Owner();
  Owner(const Owner&) = delete;
  Owner& operator=(const Owner&) = delete;

 private:
  int before_;
};
std::int64_t live_bytes(int owner);  // 0 when the sanitizer's allocator is in use

enum class Work { events, end_epoch, sends, report, raw, orders, epoch_over, status };
inline constexpr std::size_t works = 8;
inline constexpr const char* work_names[works] = {"events", "end_epoch", "sends",      "report",
                                                  "raw",    "orders",    "epoch_over", "status"};
inline constexpr std::size_t kinds = 4;
inline constexpr const char* kind_names[kinds] = {"sends", "report", "raw", "orders"};

struct Traffic {
  std::array<std::uint64_t, kinds> bytes{}, frames{};
  void add(std::span<const std::byte> frame) {
    const auto kind = static_cast<std::size_t>(nodes::kind_of(frame).value());
    bytes[kind] += frame.size();
    ++frames[kind];
  }
};

// Of one window.
struct Cost {
  std::array<double, works> seconds{};
  Traffic sent, received;
  double total_s() const {
    double sum = 0;
    for (const double s : seconds) sum += s;
    return sum;
  }
};

// What a real node sends passes through here.
class MeteredLink : public nodes::Link {
 public:
  explicit MeteredLink(nodes::Link& link) : link_(link) {}
  int nodes() const override { return link_.nodes(); }
  int self() const override { return link_.self(); }
  void send(int node, std::vector<std::byte> bytes) override;
  void end_epoch(const nodes::EpochWord& word) override { link_.end_epoch(word); }
  bool next(nodes::LinkEvent& event) override;
  nodes::LinkTraffic traffic() const override { return link_.traffic(); }

  Cost cost;                           // since whoever reads it cleared it
  std::vector<nodes::Report> reports;  // that went up, when wanted
  bool keep_reports = false;

 private:
  nodes::Link& link_;
};

}  // namespace pclscope::benchmark
