#include "analysis/window/activity.hpp"

#include <algorithm>

namespace pclscope {

using record::EventKind;

namespace {
// Threads per rank that are told apart; a segment's number beyond that is not believed.
constexpr std::uint32_t thread_limit = 1024;
// Bytes of a ring that are asked for before they are read; here they are seen for the first time.
constexpr std::size_t events_ahead = 64 * sizeof(record::Event);

// Most events are nothing but an interval.
bool is_plain(EventKind kind) { return kind < EventKind::collective; }

// Intervals of these are not time inside a call: they span several calls, or none.
bool no_interval(const record::Event& e) {
  if (e.kind >= EventKind::unrecorded_sends && e.kind <= EventKind::lost_number) return true;  // no times at all
  return e.kind == EventKind::init || e.kind == EventKind::call_path || e.kind == EventKind::neighbour ||
         e.kind == EventKind::finalize || e.kind == EventKind::lost ||
         (e.kind == EventKind::collective && e.flags & record::flag::nonblocking);
}

// Of the calls of a thread that nobody saw begin.
std::uint64_t first_begin(std::span<const record::Event> events) {
  const auto first = std::find_if(events.begin(), events.end(), [](const record::Event& e) { return !no_interval(e); });
  return first == events.end() ? 0 : first->begin;
}
}  // namespace

void Activity::add(std::int32_t rank, std::uint32_t thread, std::span<const record::Event> events) {
  Rank& r = ranks_[static_cast<std::size_t>(rank)];
  thread = std::min(thread, thread_limit);
  if (r.covered.size() <= thread) {
    r.covered.resize(thread + 1);
    r.mpi_ticks_of.resize(thread + 1);
  }
  if (events.empty()) return;
  if (r.covered[thread] == 0) {
    r.covered[thread] = 1;
    ++r.threads;
  }
  // One call may leave several events with the same interval (Waitall, Sendrecv, Startall): each tick counts once.
  std::uint64_t covered = r.covered[thread], ticks = 0, collectives = 0;
  for (const record::Event& e : events) {
    __builtin_prefetch(reinterpret_cast<const char*>(&e) + events_ahead);
    if (is_plain(e.kind)) [[likely]] {
      if (e.end <= covered) continue;
      ticks += e.end - std::min(e.end, std::max(e.begin, covered));
      covered = e.end;
      continue;
    }
    if (e.kind == EventKind::collective) ++collectives;
    if (e.kind == EventKind::control || e.kind == EventKind::marker || e.kind == EventKind::lost) [[unlikely]]
      mark(rank, thread, e, {covered, r.mpi_ticks_of[thread] + ticks});
    if (e.kind == EventKind::init) {
      r.begin_ticks = e.end;
      r.init_ticks = e.end - std::min(e.begin, e.end);
      if (e.ordinal > 0 && e.ordinal <= INT64_MAX) r.before_init_ns = static_cast<std::int64_t>(e.ordinal);
      r.came = true;
    }
    if (e.kind == EventKind::finalize && !r.finalized) {
      r.finalized = true;
      r.end_ticks = std::max({r.end_ticks, covered, e.begin});
      ++finalized_ranks_;
    }
    if (no_interval(e) || e.end <= covered) continue;
    const std::uint64_t more = e.end - std::min(e.end, std::max(e.begin, covered));
    ticks += more;
    if (e.kind == EventKind::rma_sync) r.one_sided_ticks += more;
    else if (e.kind == EventKind::file) r.file_ticks += more;
    covered = e.end;
  }
  r.covered[thread] = covered;
  if (!r.came && covered > 1) r.begin_ticks = first_begin(events), r.came = true;
  if (r.came && !r.finalized) r.end_ticks = std::max({r.end_ticks, covered, r.begin_ticks});
  r.mpi_ticks += ticks;
  r.mpi_ticks_of[thread] += ticks;
  r.collectives += collectives;
  events_ += events.size();
}

void Activity::mark(std::int32_t rank, std::uint32_t thread, const record::Event& e, const Markers::Now& now) {
  if (e.kind == EventKind::lost) return markers_.cut(rank, thread, now);
  markers_.add(rank, thread, e, now.mpi_ticks);
  const bool off = e.kind == EventKind::control && e.tag == 0;  // nothing more is recorded
  if (off) markers_.cut(rank, thread, {e.begin, now.mpi_ticks});
}

std::vector<Marker> Activity::markers(const TickScale& scale) const {
  return markers_.list(scale, [this](std::int32_t rank, std::uint32_t thread) -> Markers::Now {
    const Rank& r = ranks_[static_cast<std::size_t>(rank)];
    return {r.finalized ? r.end_ticks : r.covered[thread], r.mpi_ticks_of[thread], r.finalized};
  });
}

}  // namespace pclscope
