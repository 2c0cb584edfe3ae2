// What blocks, and what does not: transfers hidden behind computation, many receives that one call completes, Sendrecv,
// one-sided synchronisation and a file.
// Arguments: rounds (8), computation in microseconds (50000).
// On paper, of an even number of ranks, each round: partners 2k and 2k + 1 exchange 4 KiB (tag 1) while both compute;
// then 2k computes and sends 26 messages (tag 2) to 2k + 1, which waits for all of them in one call; then all ranks
// shift 256 KiB to the right (tag 3); then a fence of a window, and 2k + 1 comes to it late.
#include <stdlib.h>
#include <unistd.h>

#include "answer.h"

enum { many = 26, words = 512, shift_words = 32768 };

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const long rounds = argument(argc, argv, 1, 8);
  const useconds_t compute_us = (useconds_t)argument(argc, argv, 2, 50000);
  int rank, size;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  REQUIRE(size % 2 == 0);
  const int partner = rank ^ 1, right = (rank + 1) % size, left = (rank + size - 1) % size;
  static long out[shift_words], in[shift_words], got[many][words];
  long shared = 0;
  MPI_Win window;
  MPI_Win_create(&shared, sizeof shared, sizeof shared, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
  for (long round = 0; round < rounds; round++) {
    MPI_Request requests[many];
    out[0] = round;
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Irecv(in, words, MPI_LONG, partner, 1, MPI_COMM_WORLD, &requests[0]);
    MPI_Isend(out, words, MPI_LONG, partner, 1, MPI_COMM_WORLD, &requests[1]);
    usleep(compute_us);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    REQUIRE(in[0] == round);
    if (rank % 2 == 0) {
      usleep(compute_us);
      for (int i = 0; i < many; i++) MPI_Send(out, words, MPI_LONG, partner, 2, MPI_COMM_WORLD);
    } else {
      for (int i = 0; i < many; i++) MPI_Irecv(got[i], words, MPI_LONG, partner, 2, MPI_COMM_WORLD, &requests[i]);
      MPI_Waitall(many, requests, MPI_STATUSES_IGNORE);
      REQUIRE(got[many - 1][0] == round);
    }
    MPI_Sendrecv(out, shift_words, MPI_LONG, right, 3, in, shift_words, MPI_LONG, left, 3, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    REQUIRE(in[0] == round);
    if (rank % 2 == 1) usleep(compute_us);
    MPI_Win_fence(0, window);
  }
  MPI_Win_free(&window);
  if (rank == 0) printf("blocked_time: rounds %ld\n", rounds);
  MPI_Finalize();
  return 0;
}
