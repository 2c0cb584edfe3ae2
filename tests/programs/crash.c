// Ends badly on purpose. Before that every rank sends `messages` messages of 64 bytes around the ring and leaves a
// barrier, so that a tool has n * messages matched messages to show, whatever comes then.
// Arguments: how (exit), messages (100), rank that does it (n - 1), exit status (3), pause before it in ms (0),
// until=FILE (the pause may be shorter).
//   exit      every rank finalizes and returns the status
//   one-exit  only that rank returns the status after MPI_Finalize, the others return 0
//   early     that rank calls exit(status) without MPI_Finalize
//   leave     every rank returns the status from main without MPI_Finalize
//   abort     that rank calls MPI_Abort(status)
//   segfault  that rank writes to address 0
//   kill      that rank sends itself SIGKILL
//   hang      every rank sleeps for ten minutes: whoever waits for it must kill it
//   deadlock  every rank waits in MPI_Recv for a message that nobody sends, with tag 77
#include <signal.h>

#include "answer.h"

static void exchange(long messages, int rank, int size) {
  char out[64] = {0}, in[64];
  for (long i = 0; i < messages; i++)
    MPI_Sendrecv(out, 64, MPI_BYTE, (rank + 1) % size, 1, in, 64, MPI_BYTE, (rank + size - 1) % size, 1, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const char* until = take_until(&argc, argv);
  int rank, size;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const char* how = argc > 1 ? argv[1] : "exit";
  const long messages = argument(argc, argv, 2, 100);
  const int who = (int)argument(argc, argv, 3, size - 1);
  const int status = (int)argument(argc, argv, 4, 3);
  const long pause_ms = argument(argc, argv, 5, 0);
  exchange(messages, rank, size);
  if (rank == 0) {
    printf("crash: %s after %ld messages per rank\n", how, messages);
    fflush(stdout);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  for (long ms = 0; ms < pause_ms && (until == NULL || access(until, F_OK) != 0); ms += 50) usleep(50 * 1000);

  if (rank == who) {
    if (!strcmp(how, "early")) exit(status);
    if (!strcmp(how, "abort")) MPI_Abort(MPI_COMM_WORLD, status);
    if (!strcmp(how, "segfault")) *(volatile int*)NULL = 1;
    if (!strcmp(how, "kill")) kill(getpid(), SIGKILL);
  }
  if (!strcmp(how, "leave")) return status;
  if (!strcmp(how, "hang")) sleep(600);
  if (!strcmp(how, "deadlock")) MPI_Recv(&size, 1, MPI_INT, (rank + 1) % size, 77, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  if (!strcmp(how, "early") || !strcmp(how, "abort") || !strcmp(how, "segfault") || !strcmp(how, "kill"))
    MPI_Barrier(MPI_COMM_WORLD);  // the others wait for the one that never comes

  MPI_Finalize();
  return !strcmp(how, "exit") || (!strcmp(how, "one-exit") && rank == who) ? status : 0;
}
