// Every program here checks its own answers: a wrong one ends the job with status 1 and a line that says where.
#pragma once

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static int rank = -1, size = -1;

#define CHECK(what)                                                    \
  do {                                                                 \
    if (!(what)) {                                                     \
      fprintf(stderr, "rank %d line %d: %s\n", rank, __LINE__, #what); \
      MPI_Abort(MPI_COMM_WORLD, 1);                                    \
    }                                                                  \
  } while (0)

static inline void start_mpi(int* argc, char*** argv) {
  MPI_Init(argc, argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
}
