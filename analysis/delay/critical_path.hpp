// The critical path of a period: the chain of computation and communication that ends with the last event. Walks back
// from there; where a rank waited, the path goes on at the rank it waited for, at the moment that one came. Shortening
// a step shortens the period, unless another path is as long. The steps fill the period without gaps or overlaps.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "analysis/values/collective_call.hpp"
#include "analysis/values/message.hpp"

namespace pclscope {

enum class PathKind : std::uint8_t {
  computation = 0,  // between two MPI calls; `site` is that of the call behind it, `after_site` of the call before
  transfer = 1,     // receiving, when the message was already sent
  in_mpi = 2,       // other time inside sends and receives
  collective = 3,   // inside a collective, when everybody awaited had come
};

struct PathStep {
  std::int32_t rank = 0;
  PathKind kind = PathKind::computation;
  std::uint32_t site = 0;
  std::uint32_t after_site = 0;  // computation only
  double begin_s = 0;            // seconds since the time origin
  double end_s = 0;
  bool operator==(const PathStep&) const = default;
};

// Time on the path per rank and place, most first.
struct PathShare {
  std::int32_t rank = 0;
  PathKind kind = PathKind::computation;
  std::uint32_t site = 0;
  std::uint32_t after_site = 0;
  std::uint64_t steps = 0;
  double on_path_s = 0;
  bool operator==(const PathShare&) const = default;
};

struct CriticalPath {
  double begin_s = 0;  // the period; both 0 and no steps when nothing happened in it
  double end_s = 0;
  std::vector<PathStep> steps;  // in the order of time
  std::vector<PathShare> shares;
  bool operator==(const CriticalPath&) const = default;
};

// Of a rank: MPI_Init had returned, and MPI_Finalize began.
struct RankLife {
  std::int64_t begin_ns = 0, end_ns = 0;
};

// Of [from_ns, to_ns), cut to where there are messages and collectives among `ranks` ranks; with `lives` (by rank; as
// many as ranks, or none: not known) to where ranks live, so that computation before the first call and behind the last
// one is in it. Any order of input; those whose ranks are out of range are left out. n log n in their number.
CriticalPath critical_path(std::int32_t ranks, std::span<const Message> messages,
                           std::span<const CollectiveCall> collectives, std::int64_t from_ns = INT64_MIN,
                           std::int64_t to_ns = INT64_MAX, std::span<const RankLife> lives = {});

}  // namespace pclscope
