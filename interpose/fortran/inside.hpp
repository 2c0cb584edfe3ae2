// While a Fortran routine of the MPI library works for the application, what it calls itself is no call of the
// application. MPICH's routines call C MPI_* functions, which lead back to our wrappers; Open MPI's call PMPI_* only.
#pragma once

#include "interpose/recorder.hpp"

namespace pclscope {

#ifdef OPEN_MPI

class InsideFortran {
 public:
  InsideFortran() {}
};
inline bool inside_fortran() { return false; }

#else

extern __thread int fortran_depth __attribute__((tls_model("initial-exec")));

// Takes the thread's recorder away: wrappers that record then do nothing but hide the tool's ranks, at no cost to calls
// from C. Wrappers with other effects (communicators made and freed, Init, Finalize) ask inside_fortran().
class InsideFortran {
 public:
  InsideFortran() : recorder_(thread_recorder), refused_(thread_refused) {
    thread_recorder = nullptr;
    thread_refused = true;
    ++fortran_depth;
  }
  ~InsideFortran() {
    --fortran_depth;
    thread_refused = refused_;
    thread_recorder = recorder_;
  }
  InsideFortran(const InsideFortran&) = delete;
  InsideFortran& operator=(const InsideFortran&) = delete;

 private:
  Recorder* recorder_;
  bool refused_;
};
inline bool inside_fortran() { return fortran_depth != 0; }

#endif

}  // namespace pclscope
