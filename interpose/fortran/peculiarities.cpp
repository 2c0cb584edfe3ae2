#include "interpose/fortran/peculiarities.hpp"

#ifndef OPEN_MPI

#include <atomic>

#include "interpose/fortran/inside.hpp"
#include "interpose/library/fortran_handles.hpp"
#include "interpose/library/library.hpp"

namespace pclscope::fortran {

namespace {

// Waits for one of two requests, of which the second is there: its index tells where counting begins.
int try_origin() {
  auto* waitany =
      reinterpret_cast<void (*)(void*, void*, void*, void*, void*)>(find_fortran_routine("pmpir_waitany_f08_"));
  MPI_Request requests[2] = {handles.request_null, handles.request_null};
  char nothing = 0;
  if (waitany == nullptr ||
      real.Isend(&nothing, 0, handles.byte, MPI_PROC_NULL, 0, handles.self, &requests[1]) != MPI_SUCCESS)
    return 1;
  InsideFortran inside;
  int count = 2, index = 2, error = MPI_SUCCESS;
  MPI_Status status;
  waitany(&count, requests, &index, &status, &error);
  return index == 1 ? 0 : 1;
}

}  // namespace

int f08_origin() {
  static std::atomic<int> known{-1};
  int origin = known.load(std::memory_order_relaxed);
  if (origin >= 0) return origin;
  origin = try_origin();
  known.store(origin, std::memory_order_relaxed);
  return origin;
}

}  // namespace pclscope::fortran

#endif
