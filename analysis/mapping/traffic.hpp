// Who sends how much to whom: the input of mapping and of routes. Sparse; directed.
#pragma once

#include <cstdint>
#include <vector>

namespace pclscope::mapping {

struct Flow {
  std::int32_t source = 0;
  std::int32_t destination = 0;
  std::uint64_t messages = 0;
  double bytes = 0;  // traffic files have them as decimal fractions
  bool operator==(const Flow&) const = default;
};

struct Traffic {
  std::int32_t ranks = 0;
  std::vector<Flow> flows;  // by source, then destination; each pair once; ranks below `ranks`
};

}  // namespace pclscope::mapping
