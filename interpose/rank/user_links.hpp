// Links to libraries, in a folder that is this user's alone.
#pragma once

namespace pclscope {

// ld.so takes a blank or a colon in LD_PRELOAD for the end of a name. A library whose path has one gets a link without;
// others, and where that fails, the path as it is.
const char* without_blanks(const char* library);

// Lets the dynamic linker take this MPI library whichever one of the family a program was linked with: by the names
// that its kind has, in a folder before all others of LD_LIBRARY_PATH. An application's own MPI may lie anywhere, and
// have another name than the one that the aggregator was built with (libmpi.so.12 of Intel and MPICH, libmpich.so.12 of
// Debian).
void take_mpi(const char* library);

}  // namespace pclscope
