#include "analysis/aggregator/rings.hpp"

#include <algorithm>

#include "analysis/aggregator/output.hpp"

namespace pclscope::aggregator {
namespace {

using std::chrono::milliseconds;

constexpr std::uint64_t slice = 2048;                      // events per ring
constexpr milliseconds search_early{5}, search_late{200};  // for new segments
constexpr milliseconds late_comers{10'000};                // after the first ring, ranks without one are given up

}  // namespace

void Rings::search(Clock::time_point now, const std::function<void(collect::SegmentFile&)>& found) {
  if (now < next_search_) return;
  collector_.discover(found);
  for (const std::string& line : collector_.complaints()) complain(line);
  const std::optional<std::size_t> expected = expected_();
  const bool all_here = expected && collector_.processes() >= *expected;
  if (collector_.segments().empty()) first_seen_ = now;
  // A rank that has no ring (no memory for one) must not hold up the others for ever.
  everybody_ = all_here || now - first_seen_ > late_comers;
  next_search_ = now + (all_here ? search_late : search_early);
}

// Pairing needs every ring read: not while one is still to be found.
bool Rings::all_found() {
  const bool missing = collector_.threads_missing();
  if (missing) next_search_ = {};
  return everybody_ && !missing;
}

std::uint64_t Rings::read(const collect::Collector::Sink& sink, const std::function<void()>& slice_read) {
  std::uint64_t events = 0;
  for (std::uint64_t read = 0; read < collector_.most_unread(); read += slice) {
    const std::uint64_t count = collector_.drain(slice, sink);
    if (count == 0) break;
    events += count;
    slice_read();
  }
  return events;
}

// Threads of a rank drop separately; the analysis wants the rank's total.
void Rings::tell_headers(const std::function<void(std::int32_t, const Told&)>& tell) {
  for (const auto& segment : collector_.segments()) {
    const auto index = static_cast<std::size_t>(std::max(segment->rank(), 0));
    if (index >= told_.size()) told_.resize(index + 1);
    Told& told = told_[index];
    const record::SegmentHeader& header = segment->header();
    told.dropped += header.dropped.load(std::memory_order_relaxed);
    told.muted |= header.muted.load(std::memory_order_acquire) != 0;
    told.buffer.held_up_ns += static_cast<std::int64_t>(header.held_up_ns.load(std::memory_order_relaxed));
    told.buffer.events = std::max(told.buffer.events, segment->capacity());
    told.here = true;
  }
  for (std::size_t rank = 0; rank < told_.size(); ++rank) {
    if (told_[rank].here) tell(static_cast<std::int32_t>(rank), told_[rank]);
    told_[rank] = {};
  }
}

}  // namespace pclscope::aggregator
