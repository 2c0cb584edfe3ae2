// Whether a program has an MPI library inside itself: no preloaded library can come between.
#pragma once

#include <string>

namespace pclscope::elf {

// Of an executable file: looks for what every program linked statically with Open MPI or MPICH contains, stripped or
// not. False when it cannot be read. Reads the whole file once (some milliseconds for a large one).
bool contains_mpi(const std::string& path);

}  // namespace pclscope::elf
