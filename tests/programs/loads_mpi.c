// Loads the MPI library itself, as languages with an interface of their own do: nothing can come between it and MPI.
// Usage: loads_mpi LIBRARY local|global
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  void* mpi = dlopen(argv[1], RTLD_NOW | (strcmp(argv[2], "global") == 0 ? RTLD_GLOBAL : RTLD_LOCAL));
  if (mpi == NULL) {
    fprintf(stderr, "%s\n", dlerror());
    return 3;
  }
  int (*init)(int*, char***) = (int (*)(int*, char***))dlsym(mpi, "MPI_Init");
  int (*finalize)(void) = (int (*)(void))dlsym(mpi, "MPI_Finalize");
  if (init == NULL || finalize == NULL || init(&argc, &argv) != 0) return 4;
  puts("loads_mpi: in MPI");
  return finalize();
}
