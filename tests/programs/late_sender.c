// The receiver waits, the sender sleeps: late senders of known length.
// Arguments: messages per pair (10), sleep in microseconds (20000), and 1 to print the waits as rank 1 saw them happen
// (by its own clock and the sender's, which comes with the message), in ns; until=FILE, which ends the sleep it comes
// in. On paper: rank 2k sends to 2k + 1, tag 1, 64 bytes. Both leave a barrier together, then the sender sleeps: each
// message has late_sender >= sleep - (spread of the barrier's end), and late_receiver = 0.
#include <time.h>
#include <unistd.h>

#include "answer.h"

static long now_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * 1000000000L + now.tv_nsec;
}

static void nap(long us, const char* until) {
  const long end = now_ns() + us * 1000, piece_us = until == NULL || us < 10000 ? us : 10000;
  do usleep((useconds_t)piece_us);
  while (until != NULL && now_ns() < end && access(until, F_OK) != 0);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const char* until = take_until(&argc, argv);
  const long messages = argument(argc, argv, 1, 10);
  const long sleep_us = argument(argc, argv, 2, 20000);
  const long tell = argument(argc, argv, 3, 0);
  int rank, size;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  REQUIRE(size % 2 == 0);
  long data[8] = {0};
  for (long i = 0; i < messages && !is_told_to_end(until); i++) {
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank % 2 == 0) {
      nap(sleep_us, until);
      data[0] = i;
      data[1] = now_ns();
      MPI_Send(data, 64, MPI_BYTE, rank + 1, 1, MPI_COMM_WORLD);
    } else {
      const long entered = now_ns();
      MPI_Recv(data, 64, MPI_BYTE, rank - 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      REQUIRE(data[0] == i);
      const long sent = data[1];
      if (tell && rank == 1) printf("wait %ld\n", sent - entered > 0 ? sent - entered : 0);
    }
  }
  if (rank == 0) printf("late_sender: pairs %d messages %ld sleep_us %ld\n", size / 2, messages, sleep_us);
  MPI_Finalize();
  return 0;
}
