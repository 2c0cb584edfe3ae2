// MPI 4, 2 ranks: MPI_Isendrecv and MPI_Isendrecv_replace with the other rank, of 40 and 24 bytes, then one that
// receives from MPI_ANY_SOURCE with MPI_ANY_TAG. Between them a Sendrecv of another size and tag, which leaves its mark
// in request objects that are used again. Statuses are not looked at: MPICH 4.0 fills them with anything.
#include <string.h>

#include "check.h"

#if MPI_VERSION < 4
int main(void) { return 77; }  // this MPI has none
#else

static void mark(void) {
  char out[7] = {0}, in[7];
  MPI_Request request;
  MPI_Irecv(in, sizeof in, MPI_BYTE, 1 - rank, 70, MPI_COMM_WORLD, &request);
  MPI_Send(out, sizeof out, MPI_BYTE, 1 - rank, 70, MPI_COMM_WORLD);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
}

int main(int argc, char** argv) {
  start_mpi(&argc, &argv);
  char out[64], in[64];
  MPI_Request request;
  memset(out, 'a' + rank, sizeof out);
  mark();
  MPI_Isendrecv(out, 40, MPI_BYTE, 1 - rank, 10 + rank, in, 64, MPI_BYTE, 1 - rank, 11 - rank, MPI_COMM_WORLD,
                &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  CHECK(in[0] == 'b' - rank && in[39] == 'b' - rank);
  mark();
  MPI_Isendrecv_replace(out, 24, MPI_BYTE, 1 - rank, 20, 1 - rank, 20, MPI_COMM_WORLD, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  CHECK(out[0] == 'b' - rank && out[24] == 'a' + rank);
  mark();
  MPI_Isendrecv(out, 16, MPI_BYTE, 1 - rank, 30, in, 64, MPI_BYTE, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD,
                &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  CHECK(in[15] == 'a' + rank);  // what the replace brought to the other one
  if (rank == 0) printf("isendrecv: right\n");
  MPI_Finalize();
  return 0;
}

#endif
