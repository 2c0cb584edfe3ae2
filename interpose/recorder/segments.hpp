// Creation of a thread's segment in /dev/shm.
#pragma once

#include <cstdint>

#include "interpose/record/segment.hpp"

namespace pclscope {

// The segment of thread number `thread` of this rank, mapped, its pages taken and its header valid. The ring has as
// many events as asked for, or fewer where there is no room for so many (ring_file.hpp; one line on stderr per node).
// nullptr (and one line) when there is none at all. `muted`: a summary comes first. `session`: of the board,
// for which it is made.
record::SegmentHeader* create_segment(std::uint32_t thread, bool muted = false, std::uint32_t session = 0);
// Unmaps it; removes its name if no consumer took it.
void remove_segment(record::SegmentHeader* segment);

}  // namespace pclscope
