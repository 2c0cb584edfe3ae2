// The sender sends at once, the receiver sleeps before it posts: late receivers of known length.
// Arguments: messages per pair (10), sleep in microseconds (20000), and 1 to print the waits as rank 1 saw them happen
// (by its own clock and the sender's, which comes with the message), in ns; 1 for MPI_Ssend, so that the sender is
// blocked (a small message that MPI_Send copies blocks nobody).
// On paper: rank 2k sends to 2k + 1, tag 1, 64 bytes. Both leave a barrier together, then the receiver sleeps: each
// message has late_receiver >= sleep - (spread of the barrier's end), and late_sender = 0.
#include <time.h>
#include <unistd.h>

#include "answer.h"

static long now_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * 1000000000L + now.tv_nsec;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const long messages = argument(argc, argv, 1, 10);
  const long sleep_us = argument(argc, argv, 2, 20000);
  const long tell = argument(argc, argv, 3, 0);
  const long synchronous = argument(argc, argv, 4, 0);
  int rank, size;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  REQUIRE(size % 2 == 0);
  long data[8] = {0};
  for (long i = 0; i < messages; i++) {
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank % 2 == 0) {
      data[0] = i;
      data[1] = now_ns();
      (synchronous ? MPI_Ssend : MPI_Send)(data, 64, MPI_BYTE, rank + 1, 1, MPI_COMM_WORLD);
    } else {
      usleep((useconds_t)sleep_us);
      const long entered = now_ns();
      MPI_Recv(data, 64, MPI_BYTE, rank - 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      REQUIRE(data[0] == i);
      const long sent = data[1];
      if (tell && rank == 1) printf("wait %ld\n", entered - sent > 0 ? entered - sent : 0);
    }
  }
  if (rank == 0) printf("late_receiver: pairs %d messages %ld sleep_us %ld\n", size / 2, messages, sleep_us);
  MPI_Finalize();
  return 0;
}
