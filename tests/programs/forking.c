// Forks in the middle of the job: every rank has a child that calls nothing of MPI and ends; then the job goes on.
// Arguments: how (quiet), rounds (20).
//   quiet  the child calls _exit
//   exit   the child ends through the exit handlers that MPI and others have registered
//   exec   the child becomes another program
//   shell  system(), which does all of this in libc
// On paper: n * rounds messages of 64 bytes with tag 1 around the ring, half of them after the fork.
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "answer.h"

static void exchange(long messages, int rank, int size) {
  char out[64] = {0}, in[64];
  for (long i = 0; i < messages; i++)
    MPI_Sendrecv(out, 64, MPI_BYTE, (rank + 1) % size, 1, in, 64, MPI_BYTE, (rank + size - 1) % size, 1, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
}

static int have_a_child(const char* how) {
  if (!strcmp(how, "shell")) return system("exit 5");
  const pid_t child = fork();
  if (child == 0) {
    if (!strcmp(how, "exec")) execl("/bin/sh", "sh", "-c", "exit 5", (char*)NULL);
    if (!strcmp(how, "exit")) exit(5);
    _exit(5);
  }
  int status = -1;
  waitpid(child, &status, 0);
  return status;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank, size;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const char* how = argc > 1 ? argv[1] : "quiet";
  const long rounds = argument(argc, argv, 2, 20);
  exchange(rounds / 2, rank, size);
  const int status = have_a_child(how);
  REQUIRE(WIFEXITED(status) && WEXITSTATUS(status) == 5);
  exchange(rounds - rounds / 2, rank, size);
  const uint64_t children = sum_over_ranks(1);
  if (rank == 0) printf("forking: %s, %llu children\n", how, (unsigned long long)children);
  MPI_Finalize();
  return 0;
}
