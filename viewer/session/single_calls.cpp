#include "viewer/session/single_calls.hpp"

#include <algorithm>
#include <cmath>

namespace pclscope::session {
namespace {

constexpr std::size_t most_sums = 3;
constexpr std::uint32_t most_sites = 1u << 20;  // ids beyond are not believed

class Longest {
 public:
  explicit Longest(std::size_t most) : most_(most) {}
  void offer(const FoundCall& found) {
    if (most_ == 0) return;
    if (heap_.size() == most_) {
      if (!better(found, heap_.front())) return;
      std::pop_heap(heap_.begin(), heap_.end(), better);
      heap_.pop_back();
    }
    heap_.push_back(found);
    std::push_heap(heap_.begin(), heap_.end(), better);
  }
  std::vector<FoundCall> take() {
    std::sort_heap(heap_.begin(), heap_.end(), better);
    return std::move(heap_);
  }

 private:
  static bool better(const FoundCall& a, const FoundCall& b) { return a.order() < b.order(); }
  std::size_t most_;
  std::vector<FoundCall> heap_;  // the least on top
};

std::vector<FoundCalls::Sum> largest(std::vector<FoundCalls::Sum> sums) {
  std::erase_if(sums, [](const FoundCalls::Sum& sum) { return sum.calls == 0; });
  const std::size_t most = std::min(most_sums, sums.size());
  std::partial_sort(sums.begin(), sums.begin() + static_cast<std::ptrdiff_t>(most), sums.end(),
                    [](const auto& a, const auto& b) {
                      return std::tuple(~a.ns, ~a.calls, a.of) < std::tuple(~b.ns, ~b.calls, b.of);
                    });
  sums.resize(most);
  return sums;
}

void add(std::vector<FoundCalls::Sum>& sums, std::size_t at, std::uint64_t ns) {
  if (at >= sums.size()) sums.resize(at + 1);
  sums[at].of = at;
  ++sums[at].calls;
  sums[at].ns += ns;
}

}  // namespace

bool has_length(const TimelineCall& call) { return !call.running && call.ending == CallEnding::returned; }

std::uint64_t duration_of(const TimelineCall& call) {
  if (call.end <= call.begin) return 0;
  return static_cast<std::uint64_t>(call.end) - static_cast<std::uint64_t>(call.begin);
}

bool CallPart::has(const TimelineCall& call) const {
  if (!has_length(call) || (function && *function != call.function)) return false;
  const std::int64_t at = by_end ? call.end : call.begin;
  const std::uint64_t length = duration_of(call);
  return at >= begin_ns && at < end_ns && length >= least_ns && length < below_ns;
}

namespace {

// Takes calls in any order.
class Finder {
 public:
  Finder(const CallPart& part, std::size_t most, const std::optional<CallPoint>& point)
      : part_(part), point_(point), longest_(most) {}
  void offer(std::int32_t rank, std::uint16_t thread, const TimelineCall& call) {
    if (!part_.has(call)) return;
    const FoundCall one{rank, thread, call};
    const std::uint64_t ns = duration_of(call);
    ++found_.stored;
    longest_.offer(one);
    add(ranks_, static_cast<std::size_t>(rank), ns);
    if (call.site < most_sites) add(sites_, call.site, ns);
    if (!point_) return;
    const double distance = point_->distance(call, part_.by_end);
    if (distance < nearest_ || (distance == nearest_ && one.order() < found_.nearest->order())) {
      nearest_ = distance;
      found_.nearest = one;
    }
  }
  FoundCalls take() {
    found_.longest = longest_.take();
    found_.ranks = largest(std::move(ranks_));
    found_.sites = largest(std::move(sites_));
    return std::move(found_);
  }

 private:
  const CallPart& part_;
  const std::optional<CallPoint>& point_;
  Longest longest_;
  FoundCalls found_;
  double nearest_ = INFINITY;
  std::vector<FoundCalls::Sum> ranks_, sites_;
};

}  // namespace

FoundCalls find_calls(const TimelineRun& run, const CallPart& part, std::size_t most,
                      const std::optional<CallPoint>& point, const std::function<bool()>& stopping) {
  Finder finder(part, most, point);
  std::size_t looked_at = 0;
  for (const TimelineThread& thread : run.threads) {
    const auto calls = run.within(thread, part.begin_ns, part.end_ns);
    if ((looked_at += calls.size() + 1) > 100'000) {
      looked_at = 0;
      if (stopping && stopping()) break;
    }
    for (const TimelineCall& call : calls) finder.offer(thread.rank, thread.thread, call);
  }
  return finder.take();
}

Result<FoundCalls> read_calls(Session& session, std::int32_t ranks, const CallPart& part, std::size_t most,
                              const std::optional<CallPoint>& point, const std::function<bool()>& stopping) {
  Finder finder(part, most, point);
  TimeSpan span;
  span.begin_ns = part.begin_ns;
  span.end_ns = part.end_ns;
  const Status read = session.mpi_calls(span, [&](std::span<const MpiCall> batch) {
    for (const MpiCall& call : batch)
      if (call.rank >= 0 && call.rank < ranks) finder.offer(call.rank, call.thread, timeline_call(call));
    return !stopping || !stopping();
  });
  if (!read) return read.error();
  return finder.take();
}

}  // namespace pclscope::session
