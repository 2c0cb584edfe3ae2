// Pairs of ranks play ping-pong, each at its own pace: pairs [seconds] [bytes] [rank partner]... [until=FILE]
// With until=FILE a pause of a millisecond before each ball: it goes on for long.
// Known: the answer to every ball carries its number; each rank prints nothing, rank 0 the number of all balls.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "answer.h"

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const char* until = take_until(&argc, argv);
  int rank, partner = -1, serves = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const double seconds = argc > 1 ? atof(argv[1]) : 1;
  const int bytes = argc > 2 ? atoi(argv[2]) : 1024;
  for (int i = 3; i + 1 < argc; i += 2) {
    const int a = atoi(argv[i]), b = atoi(argv[i + 1]);
    if (rank == a) partner = b, serves = 1;
    if (rank == b) partner = a;
  }
  char* ball = calloc(1, (size_t)(bytes < 16 ? 16 : bytes));
  const int size = bytes < 16 ? 16 : bytes;
  long count = 0;
  MPI_Barrier(MPI_COMM_WORLD);
  const double end = MPI_Wtime() + seconds;
  while (partner >= 0) {
    long number = count;
    if (serves) {
      const int last = MPI_Wtime() > end || (until != NULL && access(until, F_OK) == 0);
      memcpy(ball, &number, sizeof number);
      if (until != NULL) usleep(1000);
      MPI_Send(ball, size, MPI_CHAR, partner, last, MPI_COMM_WORLD);
      if (last) break;
      MPI_Recv(ball, size, MPI_CHAR, partner, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      memcpy(&number, ball, sizeof number);
      REQUIRE(number == count + 1);
      count += 2;
    } else {
      MPI_Status status;
      MPI_Recv(ball, size, MPI_CHAR, partner, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
      if (status.MPI_TAG == 1) break;
      memcpy(&number, ball, sizeof number);
      ++number;
      memcpy(ball, &number, sizeof number);
      MPI_Send(ball, size, MPI_CHAR, partner, 0, MPI_COMM_WORLD);
    }
  }
  long all = 0, mine = serves ? count + 1 : 0;
  MPI_Reduce(&mine, &all, 1, MPI_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0) printf("pairs: balls %ld\n", all);
  free(ball);
  MPI_Finalize();
  return 0;
}
