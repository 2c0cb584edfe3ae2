// MPI 4, 2 ranks: a persistent Allreduce and a persistent Bcast, started 3 times one by one and with Startall, with an
// ordinary Barrier between; then collectives that are made and freed without a start; then one started on a duplicate.
#include "check.h"

#if MPI_VERSION < 4
int main(void) { return 77; }  // this MPI has none
#else

int main(int argc, char** argv) {
  start_mpi(&argc, &argv);
  int mine = rank + 1, sum = 0, root = 0;
  MPI_Request request[2], never;
  MPI_Comm copy;
  MPI_Allreduce_init(&mine, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, &request[0]);
  MPI_Bcast_init(&root, 2 - 1, MPI_INT, 1, MPI_COMM_WORLD, MPI_INFO_NULL, &request[1]);
  MPI_Barrier_init(MPI_COMM_WORLD, MPI_INFO_NULL, &never);
  for (int round = 0; round < 3; round++) {
    mine = rank + 1 + round;
    root = rank == 1 ? 100 + round : -1;
    if (round == 1) {
      MPI_Startall(2, request);
    } else {
      MPI_Start(&request[0]);
      MPI_Start(&request[1]);
    }
    if (round == 2) {
      MPI_Waitall(2, request, MPI_STATUSES_IGNORE);
    } else {
      MPI_Wait(&request[1], MPI_STATUS_IGNORE);
      MPI_Wait(&request[0], MPI_STATUS_IGNORE);
    }
    CHECK(sum == 3 + 2 * round && root == 100 + round);
    MPI_Barrier(MPI_COMM_WORLD);
  }
  for (int i = 0; i < 2; i++) MPI_Request_free(&request[i]);
  MPI_Request_free(&never);
  MPI_Comm_dup(MPI_COMM_WORLD, &copy);
  MPI_Barrier_init(copy, MPI_INFO_NULL, &request[0]);
  MPI_Start(&request[0]);
  int done = 0;
  while (!done) MPI_Test(&request[0], &done, MPI_STATUS_IGNORE);
  MPI_Request_free(&request[0]);
  MPI_Comm_free(&copy);
  if (rank == 0) printf("persistent collectives: right\n");
  MPI_Finalize();
  return 0;
}

#endif
