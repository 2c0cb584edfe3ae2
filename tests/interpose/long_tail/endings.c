// Ways to begin and to end. The first argument chooses; test_long_tail.py compares with the same run without pclscope.
#include <string.h>
#include <unistd.h>

#include "check.h"

static void questions(const char* when) {
  int initialized = -1, finalized = -1, version = -1, subversion = -1, length = -1;
  char text[MPI_MAX_LIBRARY_VERSION_STRING];
  MPI_Initialized(&initialized);
  MPI_Finalized(&finalized);
  MPI_Get_version(&version, &subversion);
  MPI_Get_library_version(text, &length);
  if (rank <= 0) printf("%s: %d %d, MPI %d.%d, %d\n", when, initialized, finalized, version, subversion, length > 0);
}

int main(int argc, char** argv) {
  const char* how = argc > 1 ? argv[1] : "";
  if (strcmp(how, "questions") == 0) {
    const char* id = getenv("OMPI_COMM_WORLD_RANK") ? getenv("OMPI_COMM_WORLD_RANK") : getenv("PMI_RANK");
    rank = id ? atoi(id) : 0;
    questions("before");
    start_mpi(&argc, &argv);
    questions("within");
    MPI_Finalize();
    questions("after");
    return 0;
  }
  if (strcmp(how, "too_early") == 0) {
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    puts("not reached");
    return 0;
  }
  start_mpi(&argc, &argv);
  MPI_Barrier(MPI_COMM_WORLD);
  if (strcmp(how, "too_late") == 0) {
    MPI_Finalize();
    MPI_Barrier(MPI_COMM_WORLD);
    puts("not reached");
  } else if (strcmp(how, "exit") == 0) {
    exit(atoi(argv[2]));
  } else if (strcmp(how, "return") == 0) {
    return atoi(argv[2]);
  } else if (strcmp(how, "finalize_then") == 0) {
    MPI_Finalize();
    return atoi(argv[2]);
  } else if (strcmp(how, "abort") == 0) {
    if (rank == size - 1) MPI_Abort(MPI_COMM_WORLD, atoi(argv[2]));
    sleep(60);
  } else if (strcmp(how, "abort_self") == 0) {
    if (rank == 0) MPI_Abort(MPI_COMM_SELF, atoi(argv[2]));
    sleep(60);
  } else if (strncmp(how, "fatal", 5) == 0) {  // as MPI begins, as asked for, as before again
    if (strcmp(how, "fatal_again") == 0) MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    if (strcmp(how, "fatal") != 0) MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
    MPI_Errhandler handler;
    MPI_Comm_get_errhandler(MPI_COMM_WORLD, &handler);
    CHECK(handler == MPI_ERRORS_ARE_FATAL);
    if (rank == 0) MPI_Send(&rank, 1, MPI_INT, 99, 0, MPI_COMM_WORLD);
    sleep(60);
  } else if (strcmp(how, "init_twice") == 0) {
    MPI_Init(&argc, &argv);
  }
  MPI_Finalize();
  return 0;
}
