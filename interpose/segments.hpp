// Creation of a thread's segment in /dev/shm.
#pragma once

#include <cstdint>

#include "interpose/record/segment.hpp"

namespace pclscope {

// The segment of thread number `thread` of this rank, mapped, its pages taken and its header valid. The ring has as
// many events as asked for, or, where /dev/shm is short of room, half as many again and again down to 1024. nullptr
// (and one line on stderr per node) when not even that fits. `muted`: a summary comes first. `session`: of the board,
// for which it is made.
record::SegmentHeader* create_segment(std::uint32_t thread, bool muted = false, std::uint32_t session = 0);
// Unmaps it; removes its name if no consumer took it.
void remove_segment(record::SegmentHeader* segment);

}  // namespace pclscope
