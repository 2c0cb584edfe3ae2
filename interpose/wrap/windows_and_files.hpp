// Which communicator a window or a file belongs to: ranks in one-sided calls are ranks of that communicator.
#pragma once

#include "interpose/recorder/communicators.hpp"

namespace pclscope {

// Keeps the window's communicator alive until forget_window. Remembering twice is harmless.
void remember_window(MPI_Win window, Communicator& c);
Communicator& window_communicator(MPI_Win window);  // no_communicator for one that was made where we could not see it
void forget_window(MPI_Win window);

struct FileOrigin {
  std::uint64_t comm;  // 0 unknown
  std::uint32_t flags;
};
void remember_file(MPI_File file, const FileOrigin& origin);
FileOrigin origin_of(MPI_File file);
void forget_file(MPI_File file);

}  // namespace pclscope
