// The critical path of a stored run without its single calls: the one that the rank timeline shows.
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include "analysis/delay/critical_path.hpp"
#include "viewer/session/session.hpp"

namespace pclscope::session {

inline constexpr std::size_t most_on_path = 1'500'000;  // messages and collective calls of a run: of more, none

// Reads messages and collective calls of the whole run. Empty: too many, a fault, or `stopping`.
std::vector<PathStep> read_run_path(Session& session, std::int32_t ranks, const std::function<bool()>& stopping);

}  // namespace pclscope::session
