// Computes: each rank turns in a loop for so long of its own processor time, then all meet in an allreduce and rank 0
// and the last exchange a message; so often. Arguments: steps (20), milliseconds of processor time per step (10), and a
// path: each rank writes PATH.RANK with what its main thread ran and waited on a run queue meanwhile, and how long it
// took, in ns, its number and core.
#define _GNU_SOURCE
#include <sched.h>
#include <time.h>
#include <unistd.h>

#include "answer.h"

static long long now_ns(clockid_t clock) {
  struct timespec t;
  clock_gettime(clock, &t);
  return (long long)t.tv_sec * 1000000000 + t.tv_nsec;
}

static void read_times(long long* ran, long long* waited) {
  char path[64];
  snprintf(path, sizeof path, "/proc/self/task/%d/schedstat", (int)getpid());
  FILE* file = fopen(path, "r");
  REQUIRE(file != NULL);
  REQUIRE(fscanf(file, "%lld %lld", ran, waited) == 2);
  fclose(file);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const long steps = argument(argc, argv, 1, 20);
  const long long spin_ns = argument(argc, argv, 2, 10) * 1000000LL;
  int rank, size;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  long long ran, waited, ran_then, waited_then;
  double in = rank, out = 0;
  MPI_Barrier(MPI_COMM_WORLD);
  read_times(&ran_then, &waited_then);
  const long long began = now_ns(CLOCK_MONOTONIC);
  for (long step = 0; step < steps; step++) {
    const long long until = now_ns(CLOCK_THREAD_CPUTIME_ID) + spin_ns;
    while (now_ns(CLOCK_THREAD_CPUTIME_ID) < until) continue;
    MPI_Allreduce(&in, &out, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    REQUIRE(out == size * (size - 1) / 2.0);
    if (size > 1 && rank == 0) MPI_Send(&in, 1, MPI_DOUBLE, size - 1, 1, MPI_COMM_WORLD);
    if (size > 1 && rank == size - 1) MPI_Recv(&out, 1, MPI_DOUBLE, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  const long long wall = now_ns(CLOCK_MONOTONIC) - began;
  read_times(&ran, &waited);
  if (argc > 3) {
    char path[4096];
    snprintf(path, sizeof path, "%s.%d", argv[3], rank);
    FILE* file = fopen(path, "w");
    REQUIRE(file != NULL);
    fprintf(file, "%lld %lld %lld %d %d\n", ran - ran_then, waited - waited_then, wall, (int)getpid(), sched_getcpu());
    fclose(file);
  }
  if (rank == 0) printf("spin: steps %ld\n", steps);
  MPI_Finalize();
  return 0;
}
