// Predefined handles of the MPI in this process, found at the first MPI call. Constant afterwards.
#pragma once

#include "interpose/library/mpi.hpp"

namespace pclscope {

struct Handles {
  MPI_Comm world;  // what the application calls MPI_COMM_WORLD
  MPI_Comm self;
  MPI_Comm comm_null;
  MPI_Request request_null;
  MPI_Message message_no_proc;
  MPI_Datatype byte;
};
extern Handles handles;

// `find_data` gives the address of a data symbol of the MPI library. False when one is missing.
bool find_handles(void* (*find_data)(const char*));

}  // namespace pclscope
