// What taking away a finding's cause would gain, in words: the end of its advice.
#pragma once

#include <string>
#include <vector>

#include "analysis/values/attribution.hpp"
#include "analysis/values/what_if.hpp"

namespace pclscope::attribute {

// By the sums of waiting, in ranks' time. "; gains up to 23 % of all ranks' time in that period."
std::string gain_by_sums(const Finding& finding);
// By a replay: in its place, with how it was found as evidence, and gain_s. A replay that takes longer gains nothing.
void tell_gain(Finding& finding, const WhatIf& replayed);

// The sure ones of `findings` by what fixing them would bring, most first: what was replayed, else at most what the
// ranks lost on average. What differs by less than 2 % of the time in which there are findings stays in order.
void order_by_gain(std::vector<Finding>& findings, std::int32_t ranks);

}  // namespace pclscope::attribute
