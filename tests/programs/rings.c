// A ring in one direction with a slow rank: each rank computes (sleeps), sends to the next one and receives from the
// one before. Without the slow rank a step takes as long as the others compute: what a what-if must foresee.
// Arguments: way (0), bytes (512), steps (60), microseconds of rank 1 (40000), of the others (10000).
// Ways: 0 Irecv, Isend, Waitall; 1 the same, persistent; 2 Irecv, Send, Waitall; 3 half of the computation between
// Isend and Waitall; 4 Sendrecv; 5 Send, Probe, Recv; 6 Irecv, Isend, a Wait for each. Prints the seconds of the loop,
// and by how much a rank slept longer than asked, the most.
#include "answer.h"
#include "sleeping.h"

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const long way = argument(argc, argv, 1, 0);
  const int bytes = (int)argument(argc, argv, 2, 512);
  const long steps = argument(argc, argv, 3, 60);
  int rank, size;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const long us = rank == 1 ? argument(argc, argv, 4, 40000) : argument(argc, argv, 5, 10000);
  const int to = (rank + 1) % size, from = (rank + size - 1) % size;
  char* out = calloc((size_t)bytes, 1);
  char* in = calloc((size_t)bytes, 1);
  MPI_Request requests[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
  if (way == 1) {
    MPI_Recv_init(in, bytes, MPI_BYTE, from, 1, MPI_COMM_WORLD, &requests[0]);
    MPI_Send_init(out, bytes, MPI_BYTE, to, 1, MPI_COMM_WORLD, &requests[1]);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  const double begin = now_s();
  for (long i = 0; i < steps; i++) {
    compute(way == 3 ? us / 2 : us);
    if (way == 0 || way == 3 || way == 6) {
      MPI_Irecv(in, bytes, MPI_BYTE, from, 1, MPI_COMM_WORLD, &requests[0]);
      MPI_Isend(out, bytes, MPI_BYTE, to, 1, MPI_COMM_WORLD, &requests[1]);
      if (way == 3) compute(us / 2);
    } else if (way == 1) {
      MPI_Startall(2, requests);
    } else if (way == 2) {
      MPI_Irecv(in, bytes, MPI_BYTE, from, 1, MPI_COMM_WORLD, &requests[0]);
      MPI_Send(out, bytes, MPI_BYTE, to, 1, MPI_COMM_WORLD);
    } else if (way == 4) {
      MPI_Sendrecv(out, bytes, MPI_BYTE, to, 1, in, bytes, MPI_BYTE, from, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else {
      MPI_Send(out, bytes, MPI_BYTE, to, 1, MPI_COMM_WORLD);
      MPI_Probe(from, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      MPI_Recv(in, bytes, MPI_BYTE, from, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    if (way == 6) {
      MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
      MPI_Wait(&requests[1], MPI_STATUS_IGNORE);
    } else if (way < 4) {
      MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    }
  }
  if (way == 1) {
    MPI_Request_free(&requests[0]);
    MPI_Request_free(&requests[1]);
  }
  double mine[2] = {now_s() - begin, longer_s}, most[2];
  MPI_Reduce(mine, most, 2, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
  if (rank == 0) printf("rings: loop %.6f longer %.6f\n", most[0], most[1]);
  free(out);
  free(in);
  MPI_Finalize();
  return 0;
}
