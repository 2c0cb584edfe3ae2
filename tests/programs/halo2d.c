// Halo exchange on a two-dimensional, non-periodic grid; borders are MPI_PROC_NULL.
// Arguments: iterations (100), doubles per face (32), pause per iteration in microseconds (0), until=FILE.
// On paper: the grid is px x py with MPI_Dims_create(n, 2), rank = x * py + y (row-major, no reordering). Each pair of
// grid neighbours exchanges one message per direction and iteration, on the grid's communicator:
//   messages = 2 * iterations * ((px - 1) * py + px * (py - 1)), tag = direction of travel:
//   0 towards smaller x, 1 towards larger x, 2 towards smaller y, 3 towards larger y; 8 * doubles bytes each.
#include "answer.h"

static double value(int rank, long iteration, int direction, long i) {
  return rank * 1000.0 + (double)(iteration % 1000) + direction * 0.25 + (double)i * 1e-6;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const char* until = take_until(&argc, argv);
  const long most = argument(argc, argv, 1, 100);
  const long face = argument(argc, argv, 2, 32);
  const long pause_us = argument(argc, argv, 3, 0);
  int size, rank, extent[2] = {0, 0}, periodic[2] = {0, 0};
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Dims_create(size, 2, extent);
  MPI_Comm grid;
  MPI_Cart_create(MPI_COMM_WORLD, 2, extent, periodic, 0, &grid);
  MPI_Comm_rank(grid, &rank);
  int neighbour[4];  // direction of travel: 0 -x, 1 +x, 2 -y, 3 +y
  MPI_Cart_shift(grid, 0, 1, &neighbour[0], &neighbour[1]);
  MPI_Cart_shift(grid, 1, 1, &neighbour[2], &neighbour[3]);

  double* out = malloc(4 * (size_t)face * sizeof(double));
  double* in = malloc(4 * (size_t)face * sizeof(double));
  uint64_t received = 0, checksum = 0;
  long iterations = 0;
  for (; iterations < most && !is_told_to_end(until); iterations++) {
    const long iteration = iterations;
    MPI_Request request[8];
    for (int d = 0; d < 4; d++)  // what travels in direction d comes from the neighbour on the opposite side
      MPI_Irecv(in + d * face, (int)face, MPI_DOUBLE, neighbour[d ^ 1], d, grid, &request[d]);
    for (int d = 0; d < 4; d++) {
      for (long i = 0; i < face; i++) out[d * face + i] = value(rank, iteration, d, i);
      MPI_Isend(out + d * face, (int)face, MPI_DOUBLE, neighbour[d], d, grid, &request[4 + d]);
    }
    MPI_Waitall(8, request, MPI_STATUSES_IGNORE);
    for (int d = 0; d < 4; d++) {
      if (neighbour[d ^ 1] == MPI_PROC_NULL) continue;
      for (long i = 0; i < face; i++) REQUIRE(in[d * face + i] == value(neighbour[d ^ 1], iteration, d, i));
      received++;
      checksum += mix((uint64_t)in[d * face] * 8 + (uint64_t)d);
    }
    if (pause_us > 0) usleep((useconds_t)pause_us);
  }
  received = sum_over_ranks(received);
  checksum = sum_over_ranks(checksum);
  if (rank == 0)
    printf("halo2d: grid %dx%d iterations %ld faces %llu checksum %016llx\n", extent[0], extent[1], iterations,
           (unsigned long long)received, (unsigned long long)checksum);
  free(in);
  free(out);
  MPI_Comm_free(&grid);
  MPI_Finalize();
  return 0;
}
