// The addresses by which Fortran programs say MPI_IN_PLACE, MPI_STATUS_IGNORE and MPI_STATUSES_IGNORE. Everything else
// of this sort (MPI_BOTTOM, MPI_ARGV_NULL, MPI_UNWEIGHTED ...) is handed on unseen.
#pragma once

#include "interpose/library/mpi.hpp"

namespace pclscope {

// [0] is that of mpif.h and `use mpi`, [1] that of `use mpi_f08` where it is another one. Never nullptr.
struct Sentinels {
  const void* in_place[2];
  const void* status_ignore[2];
  const void* statuses_ignore[2];
};
extern Sentinels sentinels;

// Called once, before the first Fortran call goes on. `find` gives the address of a symbol, or nullptr.
void find_sentinels(void* (*find)(const char*));

inline bool is_one_of(const void* address, const void* const (&set)[2]) {
  return address == set[0] || address == set[1];
}

}  // namespace pclscope
