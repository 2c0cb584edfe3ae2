// Which communicator a window or a file belongs to: ranks in one-sided calls are ranks of that communicator.
#pragma once

#include "interpose/recorder/communicators.hpp"

namespace pclscope {

// Windows and files are made and used by all members of their communicator in the same order: the numbers below are
// the same on all of them, so that collective calls on them can be told to belong together. They count for life,
// whether or not anything is recorded.

// Which of its calls a synchronisation is counted among.
enum class SyncKind { none, collective, start, post, complete, wait };

struct WindowOrigin {
  Communicator* comm;  // no_communicator for a window that was made where we could not see it
  std::int32_t index;  // how many were made on the communicator before it
  std::uint64_t
      number;  // of the call among those of its kind, from 1; of Complete (Wait): that of the last Start (Post)
};

// Keeps the window's communicator alive until forget_window. Remembering twice is harmless.
std::int32_t remember_window(MPI_Win window, Communicator& c);  // its index
Communicator& window_communicator(MPI_Win window);
WindowOrigin count_sync(MPI_Win window, SyncKind kind);
void forget_window(MPI_Win window);

struct FileOrigin {
  std::uint64_t comm;  // 0 unknown
  std::uint32_t flags;
  std::int32_t index;    // how many were opened on the communicator before it; -1 unknown
  std::uint64_t number;  // of collective calls on it so far
};
void remember_file(MPI_File file, const FileOrigin& origin);
FileOrigin origin_of(MPI_File file);
void count_collective(MPI_File file);
void forget_file(MPI_File file);

}  // namespace pclscope
