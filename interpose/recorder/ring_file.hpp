// The file behind a ring: in /dev/shm where there is room for it and the application, else without a name.
#pragma once

#include <sys/types.h>

#include <cstdint>

namespace pclscope {

struct RingFile {
  int descriptor = -1;  // open for reading and writing; all pages are taken
  std::uint64_t capacity = 0;
  // Without a name of its own: `path` is a symbolic link to our descriptor in /proc, which must stay open until the
  // consumer has followed it. Its inode tells later whether the descriptor is still ours.
  bool nameless = false;
  ino_t inode = 0;
};

// `path`: where the consumer looks for it. As many events as options().ring_events, or a power of two that is less
// where there is no room for so many (at least 1024, or as many as asked for). A descriptor of -1 and errno when not
// even that can be had; ENOSPC: no room.
RingFile make_ring_file(const char* path, std::uint32_t session);
// Of a nameless file, when the ring is not needed any more, or its consumer has it. Nothing when the application closed
// our descriptor and the number is another's now.
void close_nameless(int descriptor, ino_t inode);

}  // namespace pclscope
