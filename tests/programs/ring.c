// A token goes around the ring; every rank adds one.
// Arguments: rounds (100), bytes per message (64, at least 8).
// On paper: n ranks make n * rounds messages, rank r to (r + 1) mod n, tag 7, and the token ends at n * rounds.
// One rank sends to itself. Only blocking Send and Recv: one message is on its way at any time.
#include "answer.h"

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const long rounds = argument(argc, argv, 1, 100);
  const long bytes = argument(argc, argv, 2, 64);
  int rank, size;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  REQUIRE(bytes >= 8);
  const int right = (rank + 1) % size, left = (rank + size - 1) % size;
  uint64_t* token = calloc((size_t)bytes / 8 + 1, 8);

  for (long i = 0; i < rounds; i++) {
    if (size == 1) {
      MPI_Request request;
      token[0]++;
      MPI_Isend(token, (int)bytes, MPI_BYTE, 0, 7, MPI_COMM_WORLD, &request);
      uint64_t* copy = calloc((size_t)bytes / 8 + 1, 8);
      MPI_Recv(copy, (int)bytes, MPI_BYTE, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      MPI_Wait(&request, MPI_STATUS_IGNORE);
      REQUIRE(copy[0] == token[0]);
      free(copy);
    } else if (rank == 0) {
      token[0]++;
      MPI_Send(token, (int)bytes, MPI_BYTE, right, 7, MPI_COMM_WORLD);
      MPI_Recv(token, (int)bytes, MPI_BYTE, left, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else {
      MPI_Status status;
      MPI_Recv(token, (int)bytes, MPI_BYTE, left, 7, MPI_COMM_WORLD, &status);
      REQUIRE(status.MPI_SOURCE == left && status.MPI_TAG == 7);
      token[0]++;
      MPI_Send(token, (int)bytes, MPI_BYTE, right, 7, MPI_COMM_WORLD);
    }
  }
  if (rank == 0) {
    REQUIRE(token[0] == (uint64_t)size * (uint64_t)rounds);
    printf("ring: ranks %d rounds %ld token %llu\n", size, rounds, (unsigned long long)token[0]);
  }
  free(token);
  MPI_Finalize();
  return 0;
}
