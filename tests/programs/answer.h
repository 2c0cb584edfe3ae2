// What every known-answer program shares: numeric arguments, a check that ends the job loudly, and a checksum.
// Header only, C11 and C++. Only rank 0 prints, one line, the same in every run with the same arguments.
#pragma once

#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

// The i-th argument as a number, or `otherwise` when it is not given.
static inline long argument(int argc, char** argv, int i, long otherwise) {
  return i < argc ? strtol(argv[i], NULL, 10) : otherwise;
}

// Ends the job when a value is not what it has to be: a wrong answer is never a matter of exit status alone.
#define REQUIRE(condition)                                                             \
  do {                                                                                 \
    if (!(condition)) {                                                                \
      fprintf(stderr, "%s:%d: not true: %s\n", __FILE__, __LINE__, #condition);        \
      MPI_Abort(MPI_COMM_WORLD, 9);                                                    \
    }                                                                                  \
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
