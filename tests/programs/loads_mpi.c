// Loads the MPI library itself, as languages with an interface of their own do, and finds all it needs by name.
// Messages around a ring; prints the number of ranks.
// Usage: loads_mpi LIBRARY local|global ROUNDS
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Handles are pointers (Open MPI) or ints (MPICH): both are passed alike as this.
typedef uintptr_t Handle;
typedef int (*Init)(int*, char***);
typedef int (*Ask)(Handle, int*);
typedef int (*Exchange)(const void*, int, Handle, int, int, void*, int, Handle, int, int, Handle, void*);

static void* mpi;
static void* find(const char* name) {
  void* found = dlsym(mpi, name);
  if (found == NULL) {
    fprintf(stderr, "loads_mpi: no %s\n", name);
    exit(4);
  }
  return found;
}
static Handle handle(const char* object, Handle number) {
  void* found = dlsym(mpi, object);
  return found != NULL ? (Handle)found : number;
}

int main(int argc, char** argv) {
  if (argc != 4) return 2;
  mpi = dlopen(argv[1], RTLD_NOW | (strcmp(argv[2], "global") == 0 ? RTLD_GLOBAL : RTLD_LOCAL));
  if (mpi == NULL) {
    fprintf(stderr, "%s\n", dlerror());
    return 3;
  }
  if (((Init)find("MPI_Init"))(&argc, &argv) != 0) return 5;
  const Handle world = handle("ompi_mpi_comm_world", 0x44000000), byte = handle("ompi_mpi_byte", 0x4c00010d);
  int rank, size;
  ((Ask)find("MPI_Comm_rank"))(world, &rank);
  ((Ask)find("MPI_Comm_size"))(world, &size);
  const Exchange exchange = (Exchange)find("MPI_Sendrecv");
  for (int round = 0; round < atoi(argv[3]); ++round) {
    int out = rank * 1000 + round, in = -1;
    char status[64];
    const int to = (rank + 1) % size, from = (rank + size - 1) % size;
    if (exchange(&out, sizeof out, byte, to, 1, &in, sizeof in, byte, from, 1, world, status) != 0) return 6;
    if (in != from * 1000 + round) return 7;
  }
  if (rank == 0) printf("%d ranks\n", size);
  return ((int (*)(void))find("MPI_Finalize"))();
}
