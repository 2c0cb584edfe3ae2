// mpi.h of the implementation this library is built for. Open MPI's predefined handles are addresses of libmpi's
// data: MPI_COMM_WORLD, MPI_BYTE and so on must never be written in these sources, or the preloaded library would
// need libmpi's symbols in every process that it leaks into. Use handles.hpp.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <type_traits>

#define PCLSCOPE_INLINE [[gnu::always_inline]] inline

namespace pclscope {

// A handle as a number: never 0 for a valid one, in either implementation.
template <class Handle>
std::uint64_t key_of(Handle handle) {
  if constexpr (std::is_pointer_v<Handle>) {
    return reinterpret_cast<std::uint64_t>(handle);
  } else {
    return static_cast<std::uint32_t>(handle);
  }
}

// Bytes of the message a status tells of, from its public fields: a call of MPI_Get_count costs as much as the rest
// of recording. confirm_status_layout() (world.cpp) checks at MPI_Init that the library agrees.
inline std::uint64_t bytes_in(const MPI_Status& status) {
#ifdef OPEN_MPI
  return status._ucount;
#else
  const auto low = static_cast<std::uint32_t>(status.count_lo);
  const auto high = static_cast<std::uint32_t>(status.count_hi_and_cancelled) >> 1;
  return (static_cast<std::uint64_t>(high) << 32) | low;
#endif
}

// In place of the size of a received message: MPI did not tell.
inline constexpr std::uint64_t untold_bytes = ~std::uint64_t{0};
// MPICH fills the status of MPI_Isendrecv with what its request object held before.
#ifdef OPEN_MPI
inline constexpr bool isendrecv_tells_status = true;
#else
inline constexpr bool isendrecv_tells_status = false;
#endif

// Was it MPI_Cancel that completed this receive? To be confirmed by MPI_Test_cancelled.
inline bool seems_cancelled(const MPI_Status& status) {
#ifdef OPEN_MPI
  return status._cancelled != 0;
#else
  return (status.count_hi_and_cancelled & 1) != 0;
#endif
}

}  // namespace pclscope
