// Two kinds of planted waits on lines that are known: call sites must be named and ranked by them.
// Arguments: messages of each kind (10), sleep in microseconds (20000), until=FILE.
// On paper, rank 2k with 2k + 1: at "site: late send" each message finds its receiver waiting since `sleep`; at "site:
// late receive" each message waits `sleep` / 2 for its receive. "site: prompt send" sends the latter, synchronously: it
// is blocked; "site: patient receive" takes the former. Both sides leave a barrier together before.
#include <unistd.h>

#include "answer.h"

static void send_late(const char* data, int to, useconds_t sleep_us) {
  usleep(sleep_us);
  MPI_Send(data, 64, MPI_BYTE, to, 1, MPI_COMM_WORLD);  // site: late send
}

static void receive_late(char* data, int from, useconds_t sleep_us) {
  MPI_Request request;
  usleep(sleep_us);
  MPI_Irecv(data, 1024, MPI_BYTE, from, 2, MPI_COMM_WORLD,  // site: late receive
            &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const char* until = take_until(&argc, argv);
  const long most = argument(argc, argv, 1, 10);
  const useconds_t sleep_us = (useconds_t)argument(argc, argv, 2, 20000);
  int rank, size;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  REQUIRE(size % 2 == 0);
  char data[1024] = {0};
  long messages = 0;
  for (; messages < most && !is_told_to_end(until); messages++) {
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank % 2 == 0) {
      send_late(data, rank + 1, sleep_us);
    } else {
      MPI_Recv(data, 64, MPI_BYTE, rank - 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);  // site: patient receive
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank % 2 == 0) {
      MPI_Ssend(data, 1024, MPI_BYTE, rank + 1, 2, MPI_COMM_WORLD);  // site: prompt send
    } else {
      receive_late(data, rank - 1, sleep_us / 2);
    }
  }
  if (rank == 0) printf("call_sites: pairs %d messages %ld\n", size / 2, messages);
  MPI_Finalize();
  return 0;
}
