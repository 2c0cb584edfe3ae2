// Halo exchange on a periodic three-dimensional grid, all on MPI_COMM_WORLD.
// Arguments: iterations (50), doubles per face (64), pause per iteration in microseconds (0), until=FILE.
// On paper: the grid is px x py x pz with MPI_Dims_create(n, 3), rank = (x * py + y) * pz + z. Every rank sends six
// faces per iteration, also to itself where a dimension has extent 1: messages = 6 * n * iterations, tag 2 * d for
// travel towards smaller coordinates of dimension d, 2 * d + 1 towards larger ones; 8 * doubles bytes each.
#include "halo_grid.h"

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const char* until = take_until(&argc, argv);
  const long most = argument(argc, argv, 1, 50);
  const long face = argument(argc, argv, 2, 64);
  const long pause_us = argument(argc, argv, 3, 0);
  int size, rank;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const HaloGrid grid = halo_grid(size, rank);

  double* out = malloc(6 * (size_t)face * sizeof(double));
  double* in = malloc(6 * (size_t)face * sizeof(double));
  uint64_t received = 0, checksum = 0;
  long iteration = 0;
  for (; iteration < most && !is_told_to_end(until); iteration++) {
    MPI_Request request[12];
    for (int t = 0; t < 6; t++) {
      const int from = comes_from(&grid, t);
      MPI_Irecv(in + t * face, (int)face, MPI_DOUBLE, from, t, MPI_COMM_WORLD, &request[t]);
    }
    for (int t = 0; t < 6; t++) {
      for (long i = 0; i < face; i++)
        out[t * face + i] = rank * 100.0 + (double)(iteration % 97) + t + (double)i / 1024;
      MPI_Isend(out + t * face, (int)face, MPI_DOUBLE, goes_to(&grid, t), t, MPI_COMM_WORLD, &request[6 + t]);
    }
    MPI_Waitall(12, request, MPI_STATUSES_IGNORE);
    for (int t = 0; t < 6; t++) {
      const int from = comes_from(&grid, t);
      for (long i = 0; i < face; i++)
        REQUIRE(in[t * face + i] == from * 100.0 + (double)(iteration % 97) + t + (double)i / 1024);
      received++;
      checksum += mix((uint64_t)in[t * face]);
    }
    if (pause_us > 0) usleep((useconds_t)pause_us);
  }
  received = sum_over_ranks(received);
  checksum = sum_over_ranks(checksum);
  if (rank == 0)
    printf("halo3d: grid %dx%dx%d iterations %ld faces %llu checksum %016llx\n", grid.extent[0], grid.extent[1],
           grid.extent[2], iteration, (unsigned long long)received, (unsigned long long)checksum);
  free(in);
  free(out);
  MPI_Finalize();
  return 0;
}
