// The sanitizers make tests some ten times slower: there, long loops go through a sixteenth of their rounds. In all
// other builds through all of them, and with the option PCLSCOPE_FULL_LENGTH (ci/nightly).
#pragma once

#include <algorithm>

namespace pclscope::test {

#if defined(PCLSCOPE_UNDER_SANITIZER) && !defined(PCLSCOPE_FULL_LENGTH)
inline constexpr bool under_sanitizer = true;
#else
inline constexpr bool under_sanitizer = false;
#endif
inline constexpr int sanitizer_thinning = under_sanitizer ? 16 : 1;

// Rounds of a loop, never fewer than `least`.
template <class Count>
constexpr Count thinned(Count rounds, Count least = 1) {
  return std::max(static_cast<Count>(rounds / static_cast<Count>(sanitizer_thinning)), std::min(least, rounds));
}

}  // namespace pclscope::test
