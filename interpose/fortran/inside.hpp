// While a Fortran routine of the MPI library works for the application, what it calls itself is no call of the
// application. MPICH's routines call C MPI_* functions, which lead back to our wrappers; Open MPI's call PMPI_* only.
#pragma once

#include "interpose/recorder/recorder.hpp"

namespace pclscope {

#ifdef OPEN_MPI

class InsideFortran {
 public:
  InsideFortran() {}
};
inline bool inside_fortran() { return false; }

#else

// Costs calls from C nothing. Wrappers with effects beyond a record (communicators made and freed, Init, Finalize) ask
// inside_fortran().
class InsideFortran : RecordingPaused {
 public:
  InsideFortran() { ++this_thread.fortran_depth; }
  ~InsideFortran() { --this_thread.fortran_depth; }
};
inline bool inside_fortran() { return this_thread.fortran_depth != 0; }

#endif

}  // namespace pclscope
