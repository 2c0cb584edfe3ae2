// Ranks that talk with the one half the job away, each step, and now and then with their neighbour (r ^ 1): placed in
// order, two on a node, the chatty pairs are apart. Computation sleeps, so no rank takes a core from another.
// Arguments: steps (100), bytes (65536), microseconds of computation (20000), every how many steps the neighbours talk
// (20). Prints the seconds of the loop, and by how much a rank slept longer than asked, the most.
#include "answer.h"
#include "sleeping.h"

static void exchange(int with, char* out, char* in, int bytes) {
  MPI_Request requests[2];
  MPI_Irecv(in, bytes, MPI_BYTE, with, 1, MPI_COMM_WORLD, &requests[0]);
  MPI_Isend(out, bytes, MPI_BYTE, with, 1, MPI_COMM_WORLD, &requests[1]);
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const long steps = argument(argc, argv, 1, 100);
  const int bytes = (int)argument(argc, argv, 2, 65536);
  const long us = argument(argc, argv, 3, 20000), every = argument(argc, argv, 4, 20);
  int rank, size;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  char* out = calloc((size_t)bytes, 1);
  char* in = calloc((size_t)bytes, 1);
  MPI_Barrier(MPI_COMM_WORLD);
  const double begin = now_s();
  for (long i = 0; i < steps; i++) {
    compute(us);
    exchange((rank + size / 2) % size, out, in, bytes);
    if (i % every == 0) exchange(rank ^ 1, out, in, bytes);
  }
  double mine[2] = {now_s() - begin, longer_s}, most[2];
  MPI_Reduce(mine, most, 2, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
  if (rank == 0) printf("chatty: loop %.6f longer %.6f\n", most[0], most[1]);
  free(out);
  free(in);
  MPI_Finalize();
  return 0;
}
