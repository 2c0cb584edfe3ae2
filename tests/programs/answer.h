// What every known-answer program shares: numeric arguments, an end on request, a check that ends the job loudly, and a
// checksum. Header only, C11 and C++. Only rank 0 prints, one line, the same in every run with the same arguments.
#pragma once

#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// The i-th argument as a number, or `otherwise` when it is not given.
static inline long argument(int argc, char** argv, int i, long otherwise) {
  return i < argc ? strtol(argv[i], NULL, 10) : otherwise;
}

// A last argument `until=FILE` is taken off: the program goes on until this file is there, so that a test need not know
// how long it will take; what the other arguments say is then the most. NULL without.
static inline const char* take_until(int* argc, char** argv) {
  return *argc > 1 && strncmp(argv[*argc - 1], "until=", 6) == 0 ? argv[--*argc] + 6 : NULL;
}
// Is it there? Collective, with the answer of rank 0; without a file nothing is sent and the answer is no.
static inline int is_told_to_end(const char* until) {
  if (until == NULL) return 0;
  int rank, there = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0) there = access(until, F_OK) == 0;
  MPI_Bcast(&there, 1, MPI_INT, 0, MPI_COMM_WORLD);
  return there;
}

// Ends the job when a value is not what it has to be: a wrong answer is never a matter of exit status alone.
#define REQUIRE(condition)                                                      \
  do {                                                                          \
    if (!(condition)) {                                                         \
      fprintf(stderr, "%s:%d: not true: %s\n", __FILE__, __LINE__, #condition); \
      MPI_Abort(MPI_COMM_WORLD, 9);                                             \
    }                                                                           \
  } while (0)

// splitmix64: a hash of one number, and the step of a random generator. Sums of it do not depend on the order.
static inline uint64_t mix(uint64_t x) {
  x += 0x9e3779b97f4a7c15u;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

// Sum of one number over all ranks, on every rank.
static inline uint64_t sum_over_ranks(uint64_t mine) {
  uint64_t sum = 0;
  MPI_Allreduce(&mine, &sum, 1, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
  return sum;
}
