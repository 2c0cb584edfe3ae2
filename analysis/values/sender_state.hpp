// What pairing must know of a rank whose events another node's matcher reads: how far its sends have been read there.
#pragma once

#include <cstdint>

namespace pclscope {

struct SenderState {
  std::int32_t rank = 0;
  std::uint64_t next_send = 0;          // the sends before it have been handed on
  std::uint64_t told_sends = 0;         // no unrecorded send still to be told comes before it
  std::uint64_t latest_send_begin = 0;  // ticks
  bool several = false;                 // threads may be in MPI at once
  bool owes = false;                    // something it did before is still to be told
  bool lossy = false;                   // events are missing: all its later sends are ambiguous
  bool finalized = false;
  bool operator==(const SenderState&) const = default;
};

}  // namespace pclscope
