// The calls that make the application's world: begin and end of MPI, and what must reach the real MPI_COMM_WORLD.
#pragma once

#include "interpose/recorder/recorder.hpp"

namespace pclscope {

int hand_Init(Caller caller, int* argc, char*** argv);
int hand_Init_thread(Caller caller, int* argc, char*** argv, int required, int* provided);
int hand_Finalize(Caller caller);
int hand_Initialized(Caller caller, int* flag);
int hand_Finalized(Caller caller, int* flag);
int hand_Abort(Caller caller, MPI_Comm comm, int code);
int hand_Comm_get_attr(Caller caller, MPI_Comm comm, int keyval, void* value, int* found);
int hand_Attr_get(Caller caller, MPI_Comm comm, int keyval, void* value, int* found);
int hand_Comm_set_attr(Caller caller, MPI_Comm comm, int keyval, void* value);
int hand_Attr_put(Caller caller, MPI_Comm comm, int keyval, void* value);
int hand_Comm_set_errhandler(Caller caller, MPI_Comm comm, MPI_Errhandler handler);
int hand_Errhandler_set(Caller caller, MPI_Comm comm, MPI_Errhandler handler);
int hand_Type_free(Caller caller, MPI_Datatype* type);

// Their parts, for the Fortran shims (fortran/hand.hpp).
bool is_world(MPI_Comm comm);
void announce_init();
// The program calls MPI_Init after its first session: that has been done for it.
bool take_world_of_sessions();
void begin_record(Function function, Caller caller, std::uint64_t begin);
void announce_finalize(Function function, Caller caller);
MPI_Comm attribute_holder(MPI_Comm comm, int keyval);
// True when the handler is MPI_ERRORS_ARE_FATAL and the application's world, where tool ranks are hidden, now behaves
// so.
bool make_world_fatal(MPI_Errhandler handler);

}  // namespace pclscope
