// The MPI library of this process: found at the first MPI call, never linked.
#pragma once

namespace pclscope {

// Generated tables (wrappers.cpp). real_names[i] belongs to the i-th pointer of `real`.
struct SlotEntry {
  int real_index;  // into real_names
  void* wrapper;
};
extern const char* const real_names[];
extern const int slot_count;
extern const SlotEntry slot_entries[];

// From now on every exported function goes straight to the MPI library: one jump, nothing else.
void pass_everything_through();

// A routine of the MPI library's Fortran part that is not interposed, or nullptr.
void* find_fortran_routine(const char* name);

// "Open MPI v4.1.4" or "MPICH 4.0.2": the first words of MPI_Get_library_version. Empty before the first MPI call.
const char* library_version();

}  // namespace pclscope
