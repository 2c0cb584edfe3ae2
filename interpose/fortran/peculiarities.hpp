// Where the MPI libraries' Fortran routines differ from the standard or from each other.
#pragma once

#include "interpose/library/mpi.hpp"

namespace pclscope::fortran {

#ifdef OPEN_MPI
// Open MPI 4.1: Waitall and the like copy handles, statuses and counts back only when they succeeded.
inline constexpr bool arrays_stay_after_failure = true;

// What MPI_Waitany and the like call the first request.
inline int plain_origin() { return 1; }
inline int f08_origin() { return 1; }
#else
inline constexpr bool arrays_stay_after_failure = false;

inline int plain_origin() { return 1; }
// MPICH 4.0: 0 in mpi_f08. Found out by experiment at the first such call.
int f08_origin();
#endif

}  // namespace pclscope::fortran
