// Only has to be linked with an MPI: tests look at it, nobody runs it.
#include <mpi.h>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  return MPI_Finalize();
}
