// Calls that fail, on 2 ranks, with MPI_ERRORS_RETURN and with a handler of the program's own: the same error classes,
// as often, with the communicator that the program knows; and everything still works afterwards.
#include "check.h"

static int seen_world, seen_other;

static void handler(MPI_Comm* comm, int* code, ...) {
  int error_class;
  MPI_Error_class(*code, &error_class);
  if (*comm == MPI_COMM_WORLD) {
    seen_world++;
  } else {
    seen_other++;
  }
  if (rank == 0) printf("handler: class %d world %d\n", error_class, *comm == MPI_COMM_WORLD);
}

static void tell(const char* what, int code) {
  int error_class = -1;
  if (code != MPI_SUCCESS) MPI_Error_class(code, &error_class);
  if (rank == 0) printf("%s: class %d\n", what, error_class);
}

static void fail_often(MPI_Comm comm) {
  int data[4] = {0};
  MPI_Request request;
  MPI_Comm made;
  tell("send to rank 99", MPI_Send(data, 1, MPI_INT, 99, 0, comm));
  tell("isend to rank 99", MPI_Isend(data, 1, MPI_INT, 99, 0, comm, &request));
  tell("receive from rank -7", MPI_Recv(data, 1, MPI_INT, -7, 0, comm, MPI_STATUS_IGNORE));
  tell("tag -5", MPI_Send(data, 1, MPI_INT, 0, -5, comm));
  tell("count -1", MPI_Send(data, -1, MPI_INT, 0, 0, comm));
  tell("type null", MPI_Send(data, 1, MPI_DATATYPE_NULL, 0, 0, comm));
  tell("bcast from root 99", MPI_Bcast(data, 1, MPI_INT, 99, comm));
  tell("reduce with op null", MPI_Allreduce(data, data + 1, 1, MPI_INT, MPI_OP_NULL, comm));
  tell("cart too large", MPI_Cart_create(comm, 1, (int[]){1000}, (int[]){0}, 0, &made));
  int in = -1;
  MPI_Sendrecv(&rank, 1, MPI_INT, 1 - rank, 1, &in, 1, MPI_INT, 1 - rank, 1, comm, MPI_STATUS_IGNORE);
  MPI_Bcast(&in, 1, MPI_INT, 0, comm);
  CHECK(in == 1);
}

// Both receive less than was sent.
static void truncate(MPI_Comm comm) {
  int out[4] = {1, 2, 3, 4}, in[4] = {0};
  MPI_Request request;
  MPI_Isend(out, 4, MPI_INT, 1 - rank, 2, comm, &request);
  tell("truncated", MPI_Recv(in, 2, MPI_INT, 1 - rank, 2, comm, MPI_STATUS_IGNORE));
  MPI_Wait(&request, MPI_STATUS_IGNORE);
}

int main(int argc, char** argv) {
  start_mpi(&argc, &argv);
  MPI_Errhandler own;
  MPI_Comm copy;
  MPI_Comm_dup(MPI_COMM_WORLD, &copy);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(copy, MPI_ERRORS_RETURN);
  fail_often(MPI_COMM_WORLD);
  fail_often(copy);
  truncate(MPI_COMM_WORLD);
  tell("communicator null", MPI_Send(&rank, 1, MPI_INT, 0, 0, MPI_COMM_NULL));
  tell("window null", MPI_Win_fence(0, MPI_WIN_NULL));
  MPI_Comm_create_errhandler(handler, &own);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, own);
  MPI_Comm_set_errhandler(copy, own);
  fail_often(MPI_COMM_WORLD);
  fail_often(copy);
  truncate(copy);
  MPI_Comm_call_errhandler(MPI_COMM_WORLD, MPI_ERR_OTHER);
  MPI_Comm_call_errhandler(copy, MPI_ERR_OTHER);
  MPI_Errhandler_free(&own);
  if (rank == 0) printf("handled %d of world, %d of others\n", seen_world, seen_other);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
  MPI_Comm_free(&copy);
  MPI_Finalize();
  return 0;
}
