// The Fortran routines of the MPI library: found one by one, each at its first call.
#pragma once

namespace pclscope {

// The names a routine has, and how it takes choice buffers: f08ts with a descriptor, the others by address.
enum class Binding : unsigned char {
  plain,  // mpif.h and `use mpi`: mpi_send_, mpi_send__, mpi_send, MPI_SEND
  f08,    // mpi_send_f08_
  f08ts,  // mpi_send_f08ts_
  f08_large,
  f08ts_large,
};

// Generated tables (fortran_shims.cpp). fortran_routines[i] is what the i-th shim calls.
struct FortranEntry {
  const char* base;  // mpi_send
  Binding binding;
  void* shim;
};
extern const int fortran_count;
extern const FortranEntry fortran_entries[];
extern void* fortran_routines[];

// Where the slot of entry i leads: to its shim when calls are `wrapped` and the routine is there, else to the library's
// own routine of that name (there may be another tool after us); nullptr when there is none. `find` gives the address
// of a symbol.
void* resolve_routine(int i, bool wrapped, void* (*find)(const char*));

}  // namespace pclscope
