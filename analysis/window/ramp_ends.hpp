// Where exactly a rise begins and ends, once it is known roughly.
#pragma once

#include <cstddef>
#include <span>

namespace pclscope {

struct RampEnds {
  std::size_t foot = 0;  // last window before the rise
  std::size_t top = 0;   // first window at its full height
};

// A fitted part; all spans are equally long, values and levels logarithms.
struct FittedRamp {
  std::span<const double> value;
  std::span<const double> weight;
  std::span<const double> level;
  std::span<const char> begins;  // a piece of the fit begins here
  double deviation = 0.01;
};

// Least squares of base - straight rise - top, in the ratio itself and in its logarithm; the better fit counts. The
// foot is looked for from 6 windows before the rough one to the end of the first rising piece, the top from the begin
// of the last to 6 windows after the rough one (where the level falls right after it: not after). The surroundings
// are as long as the level is flat, at most 16 windows. Cost: about 20 microseconds.
RampEnds ramp_ends(const FittedRamp& fit, std::size_t foot, std::size_t top);

}  // namespace pclscope
