// What the headers of a rank's rings say of them, over its threads.
#pragma once

#include <cstdint>

namespace pclscope {

struct BufferUse {
  std::int64_t held_up_ns = 0;  // its threads waited for room in full rings: the sum
  std::uint64_t events = 0;     // that the largest holds now
  bool operator==(const BufferUse&) const = default;
};

}  // namespace pclscope
