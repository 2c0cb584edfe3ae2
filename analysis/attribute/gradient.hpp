// Does computation differ over all ranks, so that the last one is only the end of a row?
#pragma once

#include <cstdint>
#include <vector>

#include "analysis/values/attribution.hpp"

namespace pclscope::attribute {

struct RankWait {
  std::int32_t rank = 0;
  double waited_s = 0;
};

// Of all ranks but the one that is waited for most: the next ones of a row are waited for, too, and wait themselves.
// One late rank is waited for by all about equally, or not at all; in a gradient each waits by what it computes less:
// many waits lie between a fifth and four fifths of the longest. False of fewer than four.
bool is_gradient(const std::vector<RankWait>& others);
// Makes a finding about named ranks one about all of them.
void tell_gradient(Finding& finding, std::vector<RankWait> others);

}  // namespace pclscope::attribute
