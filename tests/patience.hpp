// For tests that must not depend on how much of a core they are given.
#pragma once

#include <chrono>
#include <ctime>

namespace pclscope::test {

// The limit of a wait for another thread or process, for what comes at once when nothing is wrong: at the lowest
// priority beside others a second of work can take minutes. Shorter than ctest's limit for a test.
inline constexpr std::chrono::seconds patience(900);

// Seconds of a core that this process has used: a method of the wrong order takes too many, others at work take none.
inline double core_seconds() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

}  // namespace pclscope::test
