// Work, then a collective operation. Kinds:
//   reduce       Allreduce, each fourth time Barrier
//   collective   op=barrier, bcast, reduce, allreduce, gather, alltoall, scan, exscan, neighbours, neighboursv,
//   ibarrier,
//                ibcast, iallreduce, ialltoall, file; poll=1: a loop of Test (pause_us between tries) in place of Wait.
//                after=1: who does not wait for the slow ranks works as long as they do, but afterwards, so that all go
//                on at one pace. overlap: `pieces` of work between start and Wait
//   serial       each `every`-th step rank `root` works slow_us alone, mode= 0 Bcast, 1 Barrier, 2 messages along a
//   tree,
//                and io=3: with a file that it writes meanwhile
#define _GNU_SOURCE
#include <mpi.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "faults.h"

static MPI_Comm ring = MPI_COMM_NULL;
static MPI_File file = MPI_FILE_NULL;
static int *counts, *displacements;

static void begin(void) {
  const int period = 1;
  counts = malloc(sizeof(int) * 2);
  displacements = malloc(sizeof(int) * 2);
  for (int i = 0; i < 2; i++) {
    counts[i] = (int)plan.bytes;
    displacements[i] = i * (int)plan.bytes;
  }
  in = realloc(in, (size_t)plan.bytes * (size_t)(size + 2) + 64);
  out = realloc(out, (size_t)plan.bytes * (size_t)(size + 2) + 64);
  memset(out, 0, (size_t)plan.bytes * (size_t)(size + 2) + 64);
  if (strncmp(plan.op, "neighbours", 10) == 0) MPI_Cart_create(MPI_COMM_WORLD, 1, &size, &period, 0, &ring);
  if (strcmp(plan.op, "file") == 0)
    MPI_File_open(MPI_COMM_WORLD, "together", MPI_MODE_CREATE | MPI_MODE_WRONLY, MPI_INFO_NULL, &file);
}

static void end(void) {
  if (ring != MPI_COMM_NULL) MPI_Comm_free(&ring);
  if (file != MPI_FILE_NULL) MPI_File_close(&file);
  free(counts);
  free(displacements);
}

static int is(const char* op) { return strcmp(plan.op, op) == 0; }

static int awaits(int waiter, int other, long step) {
  if (is("bcast") || is("ibcast")) return other == (int)plan.root && waiter != other;
  if (is("reduce") || is("gather")) return waiter == (int)plan.root && waiter != other;
  if (is("scan") || is("exscan")) return other < waiter;
  if (ring != MPI_COMM_NULL || is("neighbours") || is("neighboursv"))
    return awaits_left(waiter, other, step) || awaits_left(other, waiter, step);
  return waiter != other;
}

static void work_in_pieces(MPI_Request* request, double us) {
  int done = 0;
  for (long i = 0; i < plan.pieces; i++) {
    work(us / (double)plan.pieces);
    if (!done) MPI_Test(request, &done, MPI_STATUS_IGNORE);
  }
}

static void finish(MPI_Request* request) {
  int done = 0;
  while (plan.poll && !done) {
    MPI_Test(request, &done, MPI_STATUS_IGNORE);
    const struct timespec pause = {0, plan.pause_us * 1000};
    if (!done && plan.pause_us > 0) nanosleep(&pause, NULL);
    if (!done && plan.pause_us <= 0) sched_yield();
  }
  MPI_Wait(request, MPI_STATUS_IGNORE);
}

// Starts a nonblocking operation, or does a blocking one: then false.
static int operate(long step, MPI_Request* request) {
  static double mine = 1, sum;
  const int n = (int)plan.bytes, root = (int)plan.root;
  const MPI_Comm all = MPI_COMM_WORLD;
  if (is("ibarrier")) return MPI_Ibarrier(all, request), 1;
  if (is("ibcast")) return MPI_Ibcast(out, n, MPI_BYTE, root, all, request), 1;
  if (is("iallreduce")) return MPI_Iallreduce(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, all, request), 1;
  if (is("ialltoall")) return MPI_Ialltoall(out, n, MPI_BYTE, in, n, MPI_BYTE, all, request), 1;
  if (is("barrier")) MPI_Barrier(all);
  if (is("bcast")) MPI_Bcast(out, n, MPI_BYTE, root, all);
  if (is("reduce")) MPI_Reduce(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, root, all);
  if (is("allreduce")) MPI_Allreduce(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, all);
  if (is("gather")) MPI_Gather(out, n, MPI_BYTE, in, n, MPI_BYTE, root, all);
  if (is("alltoall")) MPI_Alltoall(out, n, MPI_BYTE, in, n, MPI_BYTE, all);
  if (is("scan")) MPI_Scan(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, all);
  if (is("exscan")) MPI_Exscan(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, all);
  if (is("neighbours")) MPI_Neighbor_alltoall(out, n, MPI_BYTE, in, n, MPI_BYTE, ring);
  if (is("neighboursv"))
    MPI_Neighbor_alltoallv(out, counts, displacements, MPI_BYTE, in, counts, displacements, MPI_BYTE, ring);
  if (is("file")) {
    MPI_File_seek(file, (MPI_Offset)((step % 16 * size + rank) * plan.bytes), MPI_SEEK_SET);
    MPI_File_write_all(file, out, n, MPI_BYTE, MPI_STATUS_IGNORE);
  }
  return 0;
}

static int waits_for_slow(long step) {
  for (int other = 0; other < size; other++)
    if (other == slow_ranks[0] && awaits(rank, other, step)) return 1;
  return 0;
}

static void collective(long step) {
  MPI_Request request = MPI_REQUEST_NULL;
  const double us = work_us_of(step);
  const int overlapped = plan.pieces > 1;
  if (!overlapped) work(us);
  arrives(step);
  if (operate(step, &request)) {
    if (overlapped) {
      work_in_pieces(&request, us);
      waits_from(step);
    }
    finish(&request);
  }
  goes_on(step);
  if (!plan.after) return;
  // Less than the late one, which is waited for each tenth step, too: two pieces of work take longer than one, and
  // nobody else may come late.
  if (acts(step) && !slow && !waits_for_slow(step)) work(0.75 * (double)plan.slow_us);
  if (step % 10 == 9) MPI_Barrier(MPI_COMM_WORLD);
}

static void reduce(long step) {
  double mine = rank, sum = 0;
  work_of_step(step);
  arrives(step);
  if (step % 4 == 3) {
    MPI_Barrier(MPI_COMM_WORLD);
  } else {
    MPI_Allreduce(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  }
  goes_on(step);
}

static void write_alone(void) {
  FILE* output = fopen("output", "w");
  for (int i = 0; i < 10; i++) {
    work((double)plan.slow_us / 10);
    if (output != NULL) fwrite(out, 1, (size_t)plan.bytes, output);
  }
  if (output != NULL) {
    fflush(output);
    fclose(output);
  }
}

// Each rank tells two others, so that none of them has more messages than the others.
static void tell_along_tree(int root, int n) {
  const int place = (rank + size - root) % size;
  if (place > 0) MPI_Recv(in, n, MPI_BYTE, ((place - 1) / 2 + root) % size, 8, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  for (int below = 2 * place + 1; below <= 2 * place + 2 && below < size; below++)
    MPI_Send(out, n, MPI_BYTE, (below + root) % size, 8, MPI_COMM_WORLD);
}

static void serial(long step) {
  const int root = (int)plan.root, n = (int)plan.bytes;
  work((double)plan.work_us);
  if (step % plan.every == plan.every - 1 && rank == root) {
    if (plan.io == 3) {
      write_alone();
    } else {
      work((double)plan.slow_us);
    }
  }
  arrives(step);
  if (plan.mode == 0) MPI_Bcast(out, n, MPI_BYTE, root, MPI_COMM_WORLD);
  if (plan.mode == 1) MPI_Barrier(MPI_COMM_WORLD);
  if (plan.mode == 2) tell_along_tree(root, n);
  goes_on(step);
}

static int awaits_root(int waiter, int other, long step) {
  (void)step;
  return plan.mode == 1 ? waiter != other : other == (int)plan.root && waiter != other;
}

const struct kind collective_kinds[] = {{"reduce", reduce, awaits_all, NULL, NULL},
                                        {"collective", collective, awaits, begin, end},
                                        {"serial", serial, awaits_root, NULL, NULL},
                                        {NULL, NULL, NULL, NULL, NULL}};
