// The file behind a ring: in /dev/shm where there is room for it and the application, else without a name.
#pragma once

#include <sys/types.h>

#include <cstdint>

#include "interpose/record/segment.hpp"

namespace pclscope {

struct RingFile {
  int descriptor = -1;  // open for reading and writing; all pages of the first ring are taken
  std::uint64_t capacity = 0;
  std::uint32_t growths = 0;  // the file is so long that as many rings more fit; they have no pages yet
  // Without a name of its own: `path` is a symbolic link to our descriptor in /proc, which must stay open until the
  // consumer has followed it. Its inode tells later whether the descriptor is still ours.
  bool nameless = false;
  ino_t inode = 0;
};

// `path`: where the consumer looks for it. As many events as options().ring_events, or a power of two that is less
// where there is no room for so many (at least 1024, or as many as asked for). A descriptor of -1 and errno when not
// even that can be had; ENOSPC: no room.
RingFile make_ring_file(const char* path, std::uint32_t session);
// Maps it: null and errno when that fails. Without room in the address space for rings to grow they do not.
record::SegmentHeader* map_ring_file(RingFile& file);
// As RingWriter::Grow: takes the pages of ring number `ring`.
bool take_ring(record::SegmentHeader* segment, std::uint32_t ring);
// What of the segment has pages, as far as this process took them.
std::uint64_t bytes_taken(const record::SegmentHeader* segment);

// Of a nameless file, when the ring is not needed any more, or its consumer has it. Nothing when the application closed
// our descriptor and the number is another's now.
void close_nameless(int descriptor, ino_t inode);

}  // namespace pclscope
