// What the sections of numbers.c share.
#pragma once

#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { room = 64, nobody = MPI_PROC_NULL, bad_rank = 77, bad_tag = -5 };

// One thread's: a communicator of its own, and what it sends and receives.
typedef struct {
  MPI_Comm comm;
  int me, other, among_threads;
  unsigned chance;  // 0: recording stays on
  int out[room], in[room];
} Side;

extern int rank;

#define CHECK(what)                                                                 \
  do {                                                                              \
    if (!(what)) {                                                                  \
      fprintf(stderr, "%s line %d rank %d: %s\n", __FILE__, __LINE__, rank, #what); \
      MPI_Abort(MPI_COMM_WORLD, 1);                                                 \
    }                                                                               \
  } while (0)

// Between any two calls of the program.
static inline void maybe_switch(Side* s) {
  if (s->chance == 0) return;
  s->chance = s->chance * 1664525u + 1013904223u;
  if (s->chance == 0) s->chance = 1;
  if ((s->chance >> 16) % 4 == 0) MPI_Pcontrol((int)(s->chance >> 24) % 2);
}
static inline int error_class(int code) {
  int found = MPI_SUCCESS;
  if (code != MPI_SUCCESS) MPI_Error_class(code, &found);
  return found;
}
#define RIGHT(call) CHECK((maybe_switch(s), (call)) == MPI_SUCCESS)
#define REFUSED(call) CHECK((maybe_switch(s), (call)) != MPI_SUCCESS)
#define TRUNCATED(call) CHECK((maybe_switch(s), error_class(call)) == MPI_ERR_TRUNCATE)
#define TOGETHER() RIGHT(MPI_Barrier(s->comm))

void sends(Side* s);
void receives(Side* s);
void exchanges(Side* s);
void truncations(Side* s);
void probes(Side* s);
void persistent(Side* s);
void cancelled_and_freed(Side* s);
void empty(Side* s);
void collectives(Side* s);
void isendrecvs(Side* s);
void partitioned(Side* s);
void persistent_collectives(Side* s);
