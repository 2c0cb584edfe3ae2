// Ranks that are as late as those that a finding names. Who waits is told of the last one to come; when another one
// came a moment earlier, speeding up the last one alone gains nothing.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "analysis/values/attribution.hpp"
#include "analysis/values/what_if.hpp"

namespace pclscope::attribute {

using Without = std::function<std::optional<WhatIf>(const Finding&)>;

// `replayed`: what `without` says of the finding. Adds the ranks that hold the end of that replay at the same place in
// the code, while all named are half of the ranks at most, when without all of them half as much again is gained, and
// 2 % of the period. The finding's words and `replayed` are of all of them then. `replays`: how many are left.
void name_as_late(Finding& finding, WhatIf& replayed, std::int32_t ranks, const Without& without, std::size_t& replays);

}  // namespace pclscope::attribute
