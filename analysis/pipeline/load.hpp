// How far a live analysis is behind its ranks, and what it leaves out because of that. What is left out is counted,
// told and stored with its period; pairing, counts and sums of latencies stay exact always (docs/methods.md).
#pragma once

#include <cstdint>

namespace pclscope {

enum class Load : std::uint8_t {
  ordinary,  // nothing
  high,      // delays
  too_high,  // and messages one by one: neither stored nor kept for questions (but with Keep::all)
};

}  // namespace pclscope
