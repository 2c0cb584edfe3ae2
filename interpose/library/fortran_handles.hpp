// Fortran's integers for handles, and back.
#pragma once

#include <type_traits>

#include "interpose/library/handles.hpp"
#include "interpose/library/mpi.hpp"
#include "real_functions.hpp"

namespace pclscope {

// Integers, and statuses in all three bindings, have the layout of C: shims hand pointers to them on.
static_assert(sizeof(MPI_Fint) == sizeof(int));

#ifdef OPEN_MPI

inline constexpr MPI_Fint fortran_world = 0;  // MPI_COMM_WORLD of mpif.h

template <class Handle>
Handle from_fortran(MPI_Fint f) {
  if constexpr (std::is_same_v<Handle, MPI_Comm>) {
    if (f == fortran_world) [[likely]]
      return handles.world;
    const MPI_Comm comm = real.Comm_f2c(f);
    return comm != nullptr ? comm : handles.comm_null;
  } else if constexpr (std::is_same_v<Handle, MPI_Request>) {
    const MPI_Request request = real.Request_f2c(f);
    return request != nullptr ? request : handles.request_null;
  } else if constexpr (std::is_same_v<Handle, MPI_Datatype>) {
    return real.Type_f2c(f);
  } else if constexpr (std::is_same_v<Handle, MPI_Message>) {
    return real.Message_f2c(f);
  } else if constexpr (std::is_same_v<Handle, MPI_Win>) {
    return real.Win_f2c(f);
  } else if constexpr (std::is_same_v<Handle, MPI_File>) {
    return real.File_f2c(f);
  } else if constexpr (std::is_same_v<Handle, MPI_Group>) {
    return real.Group_f2c(f);
  } else if constexpr (std::is_same_v<Handle, MPI_Info>) {
    return real.Info_f2c(f);
  } else if constexpr (std::is_same_v<Handle, MPI_Errhandler>) {
    return real.Errhandler_f2c(f);
  } else {
    static_assert(std::is_same_v<Handle, MPI_Op>);
    return real.Op_f2c(f);
  }
}

inline MPI_Fint to_fortran(MPI_Comm comm) { return real.Comm_c2f(comm); }

#else  // MPICH: the same integers, but for files

template <class Handle>
Handle from_fortran(MPI_Fint f) {
  if constexpr (std::is_same_v<Handle, MPI_File>) {
    return real.File_f2c(f);
  } else {
    return f;
  }
}

inline MPI_Fint to_fortran(MPI_Comm comm) { return comm; }

#endif

}  // namespace pclscope
