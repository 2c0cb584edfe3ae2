// A part of the run's time axis.
#pragma once

#include <cstdint>

namespace pclscope::whatif {

struct Period {  // [from, to), nanoseconds since the time origin
  std::int64_t from_ns = 0;
  std::int64_t to_ns = 0;
};

}  // namespace pclscope::whatif
