// One line of a route file.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace pclscope::mapping {

struct RoutePoint {
  std::int32_t number = 0;
  std::vector<std::int32_t> coordinates;
};

struct RouteLine {
  std::int32_t hop = 0;  // from 1
  std::int32_t source = 0, destination = 0;
  RoutePoint from, to;
};

// False when the text is something else; `line` is then without meaning. Numbers are not negative.
bool parse_route_line(std::string_view text, RouteLine& line);

}  // namespace pclscope::mapping
