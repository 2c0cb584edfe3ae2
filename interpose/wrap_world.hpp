// The calls that make the application's world: begin and end of MPI, and what must reach the real MPI_COMM_WORLD.
#pragma once

#include "interpose/recorder.hpp"

namespace pclscope {

int hand_Init(Site site, int* argc, char*** argv);
int hand_Init_thread(Site site, int* argc, char*** argv, int required, int* provided);
int hand_Finalize(Site site);
int hand_Abort(Site site, MPI_Comm comm, int code);
int hand_Comm_get_attr(Site site, MPI_Comm comm, int keyval, void* value, int* found);
int hand_Attr_get(Site site, MPI_Comm comm, int keyval, void* value, int* found);
int hand_Comm_set_attr(Site site, MPI_Comm comm, int keyval, void* value);
int hand_Attr_put(Site site, MPI_Comm comm, int keyval, void* value);
int hand_Comm_set_errhandler(Site site, MPI_Comm comm, MPI_Errhandler handler);
int hand_Errhandler_set(Site site, MPI_Comm comm, MPI_Errhandler handler);
int hand_Type_free(Site site, MPI_Datatype* type);

}  // namespace pclscope
