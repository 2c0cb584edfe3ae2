// Receives that are cancelled or freed, sends that are freed, and ordinary messages between them on the same channels.
// Arguments: rounds (20).
// On paper, per round and pair (2k to 2k + 1), on MPI_COMM_WORLD, 8 bytes each:
//   tag 1: three messages. The receiver posts a receive for the tag and cancels it before the sender may send, so that
//          the three later receives take the three messages in order;
//   tag 2: one message into a receive that was freed while active: it is delivered, its completion is never seen;
//   tag 3: one message whose send request is freed at once;
//   tag 4: no message: a wildcard-source receive, cancelled.
// messages = 5 per round and pair, and one go-ahead with tag 5 back from 2k + 1 to 2k per round: 6 in all; of them the
// one with tag 2 has no completion that anybody saw. Nothing stays unmatched.
#include "answer.h"

static void cancel(MPI_Request* request) {
  MPI_Status status;
  int cancelled = 0;
  MPI_Cancel(request);
  MPI_Wait(request, &status);
  MPI_Test_cancelled(&status, &cancelled);
  REQUIRE(cancelled);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const long rounds = argument(argc, argv, 1, 20);
  int rank, size;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  REQUIRE(size % 2 == 0);
  // Buffers of freed requests live until MPI_Finalize: one per round.
  int64_t* unseen = calloc((size_t)rounds, sizeof(int64_t));
  int64_t* given = calloc((size_t)rounds, sizeof(int64_t));
  uint64_t checksum = 0;
  for (long round = 0; round < rounds; round++) {
    int64_t value = 0;
    MPI_Request request;
    if (rank % 2) {
      MPI_Irecv(&value, 1, MPI_INT64_T, rank - 1, 1, MPI_COMM_WORLD, &request);
      cancel(&request);
      MPI_Irecv(&value, 1, MPI_INT64_T, MPI_ANY_SOURCE, 4, MPI_COMM_WORLD, &request);
      cancel(&request);
      MPI_Irecv(&unseen[round], 1, MPI_INT64_T, rank - 1, 2, MPI_COMM_WORLD, &request);
      MPI_Request_free(&request);
      MPI_Send(&round, 1, MPI_LONG, rank - 1, 5, MPI_COMM_WORLD);
      for (int i = 0; i < 3; i++) {
        MPI_Recv(&value, 1, MPI_INT64_T, rank - 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        REQUIRE(value == round * 10 + i);
        checksum += mix((uint64_t)value);
      }
      MPI_Recv(&value, 1, MPI_INT64_T, MPI_ANY_SOURCE, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      REQUIRE(value == -round);
    } else {
      long go = 0;
      MPI_Recv(&go, 1, MPI_LONG, rank + 1, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      REQUIRE(go == round);
      for (int i = 0; i < 3; i++) {
        value = round * 10 + i;
        MPI_Send(&value, 1, MPI_INT64_T, rank + 1, 1, MPI_COMM_WORLD);
      }
      MPI_Send(&value, 1, MPI_INT64_T, rank + 1, 2, MPI_COMM_WORLD);
      given[round] = -round;
      MPI_Isend(&given[round], 1, MPI_INT64_T, rank + 1, 3, MPI_COMM_WORLD, &request);
      MPI_Request_free(&request);
    }
  }
  checksum = sum_over_ranks(checksum);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0)
    printf("cancel_and_free: pairs %d rounds %ld checksum %016llx\n", size / 2, rounds, (unsigned long long)checksum);
  MPI_Finalize();
  free(given);
  free(unseen);
  return 0;
}
