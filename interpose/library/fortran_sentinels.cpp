#include "interpose/library/fortran_sentinels.hpp"

namespace pclscope {

namespace {

const char nowhere = 0;  // no program passes this address

[[maybe_unused]] const void* at(const void* address) { return address != nullptr ? address : &nowhere; }

}  // namespace

Sentinels sentinels = {{&nowhere, &nowhere}, {&nowhere, &nowhere}, {&nowhere, &nowhere}};

#ifdef OPEN_MPI

void find_sentinels(void* (*find)(const char*)) {
  // Common blocks, named as the Fortran compiler names them; gfortran appends one underscore.
  const auto both = [&](const void*(&set)[2], const char* one, const char* two) {
    set[0] = at(find(one));
    set[1] = at(find(two));
  };
  both(sentinels.in_place, "mpi_fortran_in_place_", "mpi_fortran_in_place__");
  both(sentinels.status_ignore, "mpi_fortran_status_ignore_", "mpi_fortran_status_ignore__");
  both(sentinels.statuses_ignore, "mpi_fortran_statuses_ignore_", "mpi_fortran_statuses_ignore__");
}

#else

// MPICH keeps the addresses of mpif.h's common blocks in variables, set by mpirinitf_ at the first Fortran call.
void find_sentinels(void* (*find)(const char*)) {
  auto* needs_init = static_cast<const int*>(find("MPIR_F_NeedInit"));
  auto* init = reinterpret_cast<void (*)()>(find("mpirinitf_"));
  if (needs_init != nullptr && *needs_init != 0 && init != nullptr) init();
  const auto both = [&](const void*(&set)[2], const char* variable, const char* object) {
    auto* kept = static_cast<const void* const*>(find(variable));
    set[0] = at(kept != nullptr ? *kept : nullptr);
    set[1] = at(find(object));
  };
  both(sentinels.in_place, "MPIR_F_MPI_IN_PLACE", "MPIR_F08_MPI_IN_PLACE");
  both(sentinels.status_ignore, "MPI_F_STATUS_IGNORE", "MPIR_F08_MPI_STATUS_IGNORE_OBJ");
  both(sentinels.statuses_ignore, "MPI_F_STATUSES_IGNORE", "MPIR_F08_MPI_STATUSES_IGNORE_OBJ");
}

#endif

}  // namespace pclscope
