// Handles of an MPI that is not there: numbers, or addresses of nothing.
#pragma once

#include "tests/explore/explored_rank.hpp"

namespace explore {

template <class Handle>
Handle fake(std::uintptr_t number) {
  if constexpr (std::is_pointer_v<Handle>) {
    return reinterpret_cast<Handle>(number * 1024);
  } else {
    return static_cast<Handle>(number);
  }
}

inline MPI_Comm world_handle() { return fake<MPI_Comm>(1); }
inline MPI_Datatype byte_handle() { return fake<MPI_Datatype>(5); }
inline MPI_Request request_of(std::uintptr_t number) { return fake<MPI_Request>(1000 + number); }
inline MPI_Message message_of(std::uintptr_t number) { return fake<MPI_Message>(1000 + number); }

}  // namespace explore
