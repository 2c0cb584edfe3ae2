#include "interpose/library/handles.hpp"

namespace pclscope {

Handles handles;

#ifdef OPEN_MPI

namespace {

template <class Handle>
bool fill(Handle& handle, void* address) {
  handle = static_cast<Handle>(address);
  return address != nullptr;
}

}  // namespace

bool find_handles(void* (*find_data)(const char*)) {
  return fill(handles.world, find_data("ompi_mpi_comm_world")) && fill(handles.self, find_data("ompi_mpi_comm_self")) &&
         fill(handles.comm_null, find_data("ompi_mpi_comm_null")) &&
         fill(handles.request_null, find_data("ompi_request_null")) &&
         fill(handles.message_no_proc, find_data("ompi_message_no_proc")) &&
         fill(handles.byte, find_data("ompi_mpi_byte"));
}

#else  // MPICH: handles are integers

bool find_handles(void* (*)(const char*)) {
  handles = {MPI_COMM_WORLD, MPI_COMM_SELF, MPI_COMM_NULL, MPI_REQUEST_NULL, MPI_MESSAGE_NO_PROC, MPI_BYTE};
  return true;
}

#endif

}  // namespace pclscope
