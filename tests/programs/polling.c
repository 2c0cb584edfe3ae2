// Each rank but 0 polls for 3 ms, works for 2 ms, and so on for a while: polls that never find anything. Prints
// nothing; with a directory each rank writes into DIRECTORY/rank-N how many ns it was inside MPI_Iprobe.
// Usage: polling MILLISECONDS [DIRECTORY]
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static long long now_ns(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec * 1000000000LL + t.tv_nsec;
}

static void work(long long ns) {
  const long long end = now_ns() + ns;
  while (now_ns() < end) continue;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank, there = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const long long length = (argc > 1 ? atoll(argv[1]) : 100) * 1000000LL;
  long long polled = 0;
  MPI_Barrier(MPI_COMM_WORLD);
  for (const long long last = now_ns() + length; rank != 0 && !there && now_ns() < last; work(2000000)) {
    for (const long long end = now_ns() + 3000000; !there;) {
      const long long begin = now_ns();
      MPI_Iprobe(0, 1, MPI_COMM_WORLD, &there, MPI_STATUS_IGNORE);
      const long long after = now_ns();
      polled += after - begin;
      if (after >= end) break;
    }
  }
  MPI_Barrier(MPI_COMM_WORLD);
  if (argc > 2) {
    char name[4096];
    snprintf(name, sizeof name, "%s/rank-%d", argv[2], rank);
    FILE* file = fopen(name, "w");
    if (file == NULL) MPI_Abort(MPI_COMM_WORLD, 1);
    fprintf(file, "%lld\n", polled);
    fclose(file);
  }
  MPI_Finalize();
  return 0;
}
