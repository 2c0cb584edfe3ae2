// Single calls of a part of the call view, worst first: those that began (or ended) in a span of time and took so long.
// What had not returned, and what left no time of its return, is in no part.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <tuple>
#include <vector>

#include "viewer/session/call_point.hpp"
#include "viewer/session/timeline_run.hpp"

namespace pclscope::session {

bool has_length(const TimelineCall& call);            // it is known how long it took
std::uint64_t duration_of(const TimelineCall& call);  // ns

struct CallPart {
  bool by_end = false;                         // when they ended, not when they began
  std::int64_t begin_ns = 0, end_ns = 0;       // end_ns not included
  std::uint64_t least_ns = 0, below_ns = 0;    // durations; below_ns not included
  std::optional<std::uint16_t> function = {};  // that alone
  bool has(const TimelineCall& call) const;
  bool operator==(const CallPart&) const = default;
};

struct FoundCall {
  std::int32_t rank = 0;
  std::uint16_t thread = 0;
  TimelineCall call;
  // Worst first: the longest, of equal ones the earliest, then by rank, thread, function and site.
  auto order() const { return std::tuple(~duration_of(call), call.begin, rank, thread, call.function, call.site); }
};

struct FoundCalls {
  std::uint64_t stored = 0;          // in the part
  std::vector<FoundCall> longest;    // worst first
  std::optional<FoundCall> nearest;  // to the point, if one was given; of equal ones the first in the order above
  struct Sum {
    std::uint64_t of = 0;  // rank, or call site
    std::uint64_t calls = 0, ns = 0;
    bool operator==(const Sum&) const = default;
  };
  std::vector<Sum> ranks, sites;  // most time first, three at most
};

// At most `most` calls in the list. `stopping` is asked now and then: true ends it early, with what there is.
FoundCalls find_calls(const TimelineRun& run, const CallPart& part, std::size_t most,
                      const std::optional<CallPoint>& point = {}, const std::function<bool()>& stopping = {});
// The same from the dump itself, which may have more than fit into memory: reads what of it is of that time.
Result<FoundCalls> read_calls(Session& session, std::int32_t ranks, const CallPart& part, std::size_t most,
                              const std::optional<CallPoint>& point = {}, const std::function<bool()>& stopping = {});

}  // namespace pclscope::session
