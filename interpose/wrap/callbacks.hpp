// The application's functions that MPI calls with a communicator: error handlers and attribute callbacks. Where tool
// ranks are hidden they would see the communicator that stands for MPI_COMM_WORLD; what they get is MPI_COMM_WORLD.
// Functions given through Fortran are called as MPI calls them.
#pragma once

#include "interpose/recorder/recorder.hpp"

namespace pclscope {

int hand_Comm_create_errhandler(Caller caller, MPI_Comm_errhandler_function* function, MPI_Errhandler* handler);
int hand_Errhandler_create(Caller caller, MPI_Comm_errhandler_function* function, MPI_Errhandler* handler);
int hand_Comm_create_keyval(Caller caller, MPI_Comm_copy_attr_function* copy, MPI_Comm_delete_attr_function* remove,
                            int* keyval, void* extra);
int hand_Keyval_create(Caller caller, MPI_Comm_copy_attr_function* copy, MPI_Comm_delete_attr_function* remove,
                       int* keyval, void* extra);

}  // namespace pclscope
