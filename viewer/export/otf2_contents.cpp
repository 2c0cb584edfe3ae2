#include "viewer/export/otf2_contents.hpp"

#include <algorithm>
#include <set>
#include <unordered_map>

#include "viewer/export/otf2_functions.hpp"

namespace pclscope::exporting {
namespace {

// Ranks per communicator, as they come: most rows name the same ones as the row before.
class Members {
 public:
  void add(std::uint64_t comm, std::int32_t rank) {
    const std::uint64_t key = comm * 0x9e3779b97f4a7c15ull + static_cast<std::uint64_t>(rank);
    std::uint64_t& seen = recent_[key >> 52];
    if (seen == key + 1) return;
    seen = key + 1;
    members_[comm].insert(rank);
  }
  std::map<std::uint64_t, std::vector<std::int32_t>> lists() const {
    std::map<std::uint64_t, std::vector<std::int32_t>> lists;
    for (const auto& [comm, ranks] : members_) lists[comm] = {ranks.begin(), ranks.end()};
    return lists;
  }

 private:
  std::array<std::uint64_t, 4096> recent_{};
  std::unordered_map<std::uint64_t, std::set<std::int32_t>> members_;
};

}  // namespace

Result<Otf2Contents> otf2_contents(const Run& run, const Progress& progress) {
  Otf2Contents to;
  to.ranks = run.snapshot.application.ranks;
  const auto ranks = static_cast<std::size_t>(std::max(0, to.ranks));
  to.threads.assign(ranks, 1);
  to.regions.assign(1024, -1);
  Members members;
  std::int64_t first = 0;
  const auto member = [&](std::uint64_t comm, std::int32_t rank) {
    if (comm > record::self_comm_id && to.has(rank)) members.add(comm, rank);
  };
  RowVisitor visit;
  visit.message = [&](const Message& m) {
    first = std::min({first, m.send_begin, m.recv_post});
    member(m.comm, m.source);
    member(m.comm, m.destination);
  };
  visit.call = [&](const MpiCall& c) {
    if (!to.has(c.rank)) return;
    first = std::min(first, c.begin);
    if (c.function < to.regions.size()) to.regions[c.function] = 0;
    auto& threads = to.threads[static_cast<std::size_t>(c.rank)];
    threads = std::max<std::uint16_t>(threads, static_cast<std::uint16_t>(std::min(c.thread, std::uint16_t{4095}) + 1));
    member(c.comm, c.rank);
    if (c.peer >= 0) member(c.comm, c.peer);
    if (rma_of(c.function) != Rma::none && c.comm != 0) to.windows.emplace(c.comm, 0);
  };
  visit.collective = [&](const CollectiveCall& c) {
    first = std::min(first, c.begin);
    member(c.comm, c.rank);
  };
  if (const Status read = visit_rows(run.reader, run.choice, progress, visit); !read) return read.error();
  for (std::int32_t& region : to.regions)
    if (region == 0) region = static_cast<std::int32_t>(to.region_count++);
  to.comms = members.lists();
  std::uint32_t number = 0;
  for (auto& [comm, window] : to.windows) window = number++;
  to.first_ns = first;
  to.first.push_back(0);
  for (const std::uint16_t threads : to.threads) to.first.push_back(to.first.back() + threads);
  return to;
}

}  // namespace pclscope::exporting
