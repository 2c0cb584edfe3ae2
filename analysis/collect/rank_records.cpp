#include "analysis/collect/rank_records.hpp"

#include <signal.h>

#include <algorithm>
#include <cerrno>
#include <limits>

namespace pclscope::collect {
namespace {

bool alive(std::uint32_t pid) { return ::kill(static_cast<pid_t>(pid), 0) == 0 || errno != ESRCH; }

struct Rings {
  std::size_t expected = 0, found = 0;
  bool all_final = true;
  std::uint64_t newest = 0;                                              // of all rings
  std::uint64_t broken_off = std::numeric_limits<std::uint64_t>::max();  // of those that hold more, or are muted
};

void take(Rings& rank, const SegmentFile& segment, bool session_over) {
  const record::SegmentHeader& h = segment.header();
  // In this order: after a final state there are no more events.
  const record::ProcessState state = h.state.load(std::memory_order_acquire);
  const bool final = state == record::ProcessState::finalizing || state == record::ProcessState::left;
  const std::uint64_t head = h.head.load(std::memory_order_acquire);
  // A thread that was inside one call for all of a session has a ring with nothing in it.
  const bool muted = h.muted.load(std::memory_order_acquire) != 0 && !(segment.session() != 0 && head == 0);
  if (segment.thread() == 0) rank.expected = std::max(h.thread_count.load(std::memory_order_acquire), 1u);
  ++rank.found;
  rank.all_final &= final || (session_over && alive(h.pid));
  rank.newest = std::max(rank.newest, segment.newest_ticks());
  if (head != segment.ring().consumed() || muted) rank.broken_off = std::min(rank.broken_off, segment.newest_ticks());
}

}  // namespace

std::vector<RankRecord> rank_records(const Collector& collector, std::size_t ranks, bool over) {
  std::vector<Rings> rings(ranks);
  for (const auto& segment : collector.segments()) {
    if (segment->rank() >= 0 && static_cast<std::size_t>(segment->rank()) < ranks)
      take(rings[static_cast<std::size_t>(segment->rank())], *segment, over && collector.in_session());
  }
  std::vector<RankRecord> records(ranks);
  for (std::size_t r = 0; r < ranks; ++r) {
    const Rings& rank = rings[r];
    RankRecord& record = records[r];
    record.here = rank.found > 0;
    const bool all_rings = rank.expected > 0 && rank.found >= rank.expected;
    const bool all_read = rank.broken_off == std::numeric_limits<std::uint64_t>::max();
    record.whole = all_rings && all_read && rank.all_final;
    if (all_rings || rank.found == 0) record.until_ticks = std::min(rank.newest, rank.broken_off);
  }
  return records;
}

}  // namespace pclscope::collect
