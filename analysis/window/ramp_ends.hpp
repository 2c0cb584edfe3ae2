// Where exactly a rise begins and ends, once it is known roughly.
#pragma once

#include <cstddef>
#include <span>

namespace pclscope {

struct RampEnds {
  std::size_t foot = 0;  // last window before the rise
  std::size_t top = 0;   // first window at its full height
};

// Least squares of base - straight rise - top over the ends within 6 windows of the rough ones, in the ratio itself and in its
// logarithm; the better fit counts. `value` and `level`: logarithms; the surroundings are as long as the level is flat, at
// most 16 windows. Where the level falls right after the top, the top stays where it is. Cost: about 20 microseconds.
RampEnds ramp_ends(std::span<const double> value, std::span<const double> weight, std::span<const double> level,
                   double deviation, std::size_t foot, std::size_t top);

}  // namespace pclscope
