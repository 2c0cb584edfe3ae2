// Very many requests at a time: every rank posts a receive for each message of its left neighbour, then sends, and
// completes all receives in one MPI_Waitall. Sends are waited for in batches: Open MPI needs quadratic time otherwise.
// Arguments: messages per rank and step (100000), steps (1).
// On paper: n * messages * steps messages of 8 bytes, from each rank to the next, with tags 0 to 6 in turn.
// Rank 0 says on stderr how much memory its process had at most.
#include <string.h>

#include "answer.h"

enum { batch = 128 };

static long most_memory_kib(void) {
  char line[256];
  long kib = 0;
  FILE* file = fopen("/proc/self/status", "r");
  while (file && fgets(line, sizeof line, file)) sscanf(line, "VmHWM: %ld", &kib);
  if (file) fclose(file);
  return kib;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank, size;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const long messages = argument(argc, argv, 1, 100000), steps = argument(argc, argv, 2, 1);
  const int right = (rank + 1) % size, left = (rank + size - 1) % size;
  uint64_t* out = malloc((size_t)messages * sizeof *out);
  uint64_t* in = malloc((size_t)messages * sizeof *in);
  MPI_Request* requests = malloc((size_t)messages * sizeof *requests);
  MPI_Request sends[batch];
  uint64_t checksum = 0;
  const double begin = MPI_Wtime();
  for (long step = 0; step < steps; step++) {
    for (long i = 0; i < messages; i++)
      MPI_Irecv(&in[i], 8, MPI_BYTE, left, (int)(i % 7), MPI_COMM_WORLD, &requests[i]);
    MPI_Barrier(MPI_COMM_WORLD);
    for (long i = 0; i < messages; i++) {
      const int in_batch = (int)(i % batch);
      out[i] = mix((uint64_t)(rank * steps + step) * 0x100000000u + (uint64_t)i);
      MPI_Isend(&out[i], 8, MPI_BYTE, right, (int)(i % 7), MPI_COMM_WORLD, &sends[in_batch]);
      if (in_batch == batch - 1 || i == messages - 1) MPI_Waitall(in_batch + 1, sends, MPI_STATUSES_IGNORE);
    }
    MPI_Waitall((int)messages, requests, MPI_STATUSES_IGNORE);
    for (long i = 0; i < messages; i++) {
      REQUIRE(in[i] == mix((uint64_t)(left * steps + step) * 0x100000000u + (uint64_t)i));
      checksum += in[i];
    }
  }
  if (rank == 0) fprintf(stderr, "outstanding: %.2f s, %ld MiB\n", MPI_Wtime() - begin, most_memory_kib() / 1024);
  checksum = sum_over_ranks(checksum);
  if (rank == 0)
    printf("outstanding: ranks %d messages %ld checksum %016llx\n", size, size * messages * steps,
           (unsigned long long)checksum);
  free(requests);
  free(in);
  free(out);
  MPI_Finalize();
  return 0;
}
