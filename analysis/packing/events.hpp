// A list of ranks' events, part of several frames. The order of one rank is kept; ranks come one after the other.
#pragma once

#include <vector>

#include "analysis/packing/bytes.hpp"
#include "analysis/values/part.hpp"

namespace pclscope::packing {

inline constexpr std::size_t least_event = 2;  // bytes
void put_events(Writer& out, const std::vector<nodes::RankEvent>& events);
void get_events(Reader& in, std::vector<nodes::RankEvent>& events);

}  // namespace pclscope::packing
