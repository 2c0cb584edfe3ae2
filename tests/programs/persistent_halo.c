// A ring halo with persistent requests: made once, started every iteration, freed at the end.
// Arguments: iterations (100), doubles per face (16).
// On paper: every rank sends to both ring neighbours in every iteration (tag 0 to the left, tag 1 to the right):
// messages = 2 * n * iterations of 8 * doubles bytes on MPI_COMM_WORLD. Odd iterations start the receives one by one
// with MPI_Start and complete them with Waitany, even ones use Startall and Waitall. Requests to MPI_PROC_NULL are
// started along and never make a message.
#include "answer.h"

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const long iterations = argument(argc, argv, 1, 100);
  const int face = (int)argument(argc, argv, 2, 16);
  int rank, size;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const int side[2] = {(rank + size - 1) % size, (rank + 1) % size};
  double* out = calloc(2 * (size_t)face, sizeof(double));
  double* in = calloc(2 * (size_t)face, sizeof(double));
  MPI_Request request[6];
  for (int d = 0; d < 2; d++) {
    MPI_Recv_init(in + d * face, face, MPI_DOUBLE, side[1 - d], d, MPI_COMM_WORLD, &request[d]);
    MPI_Send_init(out + d * face, face, MPI_DOUBLE, side[d], d, MPI_COMM_WORLD, &request[2 + d]);
  }
  double nowhere = 0;
  MPI_Recv_init(&nowhere, 1, MPI_DOUBLE, MPI_PROC_NULL, 9, MPI_COMM_WORLD, &request[4]);
  MPI_Send_init(&nowhere, 1, MPI_DOUBLE, MPI_PROC_NULL, 9, MPI_COMM_WORLD, &request[5]);

  uint64_t checksum = 0;
  for (long iteration = 0; iteration < iterations; iteration++) {
    for (int i = 0; i < 2 * face; i++) out[i] = rank * 10.0 + (double)(iteration % 10) + i * 1e-3;
    if (iteration % 2) {
      for (int i = 0; i < 6; i++) MPI_Start(&request[i]);
      int completed = 0, index = 0;  // MPICH 4.0 takes started requests to MPI_PROC_NULL for inactive: 4, else 6
      while (MPI_Waitany(6, request, &index, MPI_STATUS_IGNORE), index != MPI_UNDEFINED) completed++;
      REQUIRE(completed == 6 || completed == 4);
    } else {
      MPI_Startall(6, request);
      MPI_Waitall(6, request, MPI_STATUSES_IGNORE);
    }
    for (int d = 0; d < 2; d++)
      for (int i = 0; i < face; i++) {
        REQUIRE(in[d * face + i] == side[1 - d] * 10.0 + (double)(iteration % 10) + (d * face + i) * 1e-3);
      }
    checksum += mix((uint64_t)in[0] * 1024 + (uint64_t)in[face]);
  }
  for (int i = 0; i < 6; i++) MPI_Request_free(&request[i]);
  checksum = sum_over_ranks(checksum);
  if (rank == 0)
    printf("persistent_halo: ranks %d iterations %ld checksum %016llx\n", size, iterations,
           (unsigned long long)checksum);
  free(in);
  free(out);
  MPI_Finalize();
  return 0;
}
