// Ticks of events on the job's axis: ns, moved so that they are positive.
#pragma once

#include <cstdint>

#include "analysis/values/tick_scale.hpp"

namespace pclscope::nodes {

inline constexpr std::uint64_t job_tick_origin = std::uint64_t{1} << 62;
constexpr TickScale job_scale() { return {job_tick_origin, 1.0}; }
constexpr std::uint64_t job_ticks(std::int64_t ns) { return job_tick_origin + static_cast<std::uint64_t>(ns); }

}  // namespace pclscope::nodes
