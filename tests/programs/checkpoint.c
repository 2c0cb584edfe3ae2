// Runs until a signal asks it to save its state; then all ranks agree, rank 0 writes the number of the signal to FILE,
// and the job ends as ever. FILE.ready is there when all ranks run. With `plain` signals do what they do by default.
// Usage: checkpoint FILE handled|plain
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

static volatile sig_atomic_t asked;
static void ask(int number) { asked = number; }

static void write_file(const char* path, int number) {
  FILE* file = fopen(path, "w");
  if (file == NULL) return;
  fprintf(file, "saved %d\n", number);
  fclose(file);
}

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  MPI_Init(&argc, &argv);
  int rank, size;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (strcmp(argv[2], "handled") == 0) {
    const int numbers[] = {SIGUSR1, SIGUSR2, SIGXCPU, SIGTERM, SIGINT, SIGHUP, SIGALRM};
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = ask;
    action.sa_flags = SA_RESTART;
    for (unsigned i = 0; i < sizeof numbers / sizeof *numbers; ++i) sigaction(numbers[i], &action, NULL);
  }
  const struct timespec pause = {0, 1000000};
  for (int step = 0;; ++step) {
    int mine = asked, all = 0;
    MPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    if (all != 0) {
      if (rank == 0) write_file(argv[1], all);
      break;
    }
    if (rank == 0 && step == 10) {
      char path[4096];
      snprintf(path, sizeof path, "%s.ready", argv[1]);
      write_file(path, 0);
    }
    int value = step;
    MPI_Sendrecv_replace(&value, 1, MPI_INT, (rank + 1) % size, 0, (rank + size - 1) % size, 0, MPI_COMM_WORLD,
                         MPI_STATUS_IGNORE);
    nanosleep(&pause, NULL);
  }
  MPI_Finalize();
  return 0;
}
