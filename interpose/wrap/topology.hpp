// Whom a neighbourhood collective waits for: told once per communicator and session, as `neighbour` events before its
// first one.
#pragma once

#include "interpose/recorder/recorder.hpp"

namespace pclscope {

// Number of neighbours that a neighbourhood collective sends to.
std::int64_t out_degree(Communicator& c);
void tell_neighbours(Recorder& r, Communicator& c);
inline void note_neighbours(Recorder& r, Communicator& c) {
  if (c.neighbours_told != r.session() + 1) [[unlikely]]
    tell_neighbours(r, c);
}

}  // namespace pclscope
