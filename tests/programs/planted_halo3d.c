// Halo exchange on a periodic three-dimensional grid, where one rank sleeps before it posts its receives.
// Arguments: iterations (60), rank that sleeps (5; -1: none), first iteration in which it does (20), how many in a row
// (1), sleep in microseconds (50000), work of every rank per iteration in microseconds (300), noise of the work in
// percent (30), until=FILE. Work is slept too, so that ranks that share a core do not disturb each other. On paper: the
// others wait for the sleeper, once each, directly or through those that waited: the sleep costs up to (n - 1) * sleep,
// and goes back to the line marked PLANTED of that rank.
#include <unistd.h>

#include "halo_grid.h"

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const char* until = take_until(&argc, argv);
  const long iterations = argument(argc, argv, 1, 60);
  const long sleeper = argument(argc, argv, 2, 5);
  const long first = argument(argc, argv, 3, 20);
  const long in_a_row = argument(argc, argv, 4, 1);
  const long sleep_us = argument(argc, argv, 5, 50000);
  const long work_us = argument(argc, argv, 6, 300);
  const long noise_percent = argument(argc, argv, 7, 30);
  enum { face = 64 };
  int size, rank;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const HaloGrid grid = halo_grid(size, rank);

  double out[6][face], in[6][face];
  MPI_Barrier(MPI_COMM_WORLD);
  for (long iteration = 0; iteration < iterations && !is_told_to_end(until); iteration++) {
    const uint64_t random = mix((uint64_t)rank << 32 | (uint64_t)iteration) % 201;  // 0 .. 200 %
    const long noise_us = work_us * noise_percent * ((long)random - 100) / 10000;
    const int now = rank == sleeper && iteration >= first && iteration < first + in_a_row;
    usleep((useconds_t)(work_us + noise_us + (now ? sleep_us : 0)));

    MPI_Request request[12];
    for (int t = 0; t < 6; t++) {
      const int from = comes_from(&grid, t);
      MPI_Irecv(in[t], face, MPI_DOUBLE, from, t, MPI_COMM_WORLD, &request[t]);  // PLANTED
    }
    for (int t = 0; t < 6; t++) {
      for (int i = 0; i < face; i++) out[t][i] = rank * 100.0 + (double)(iteration % 97) + t;
      MPI_Isend(out[t], face, MPI_DOUBLE, goes_to(&grid, t), t, MPI_COMM_WORLD, &request[6 + t]);
    }
    MPI_Waitall(12, request, MPI_STATUSES_IGNORE);
    for (int t = 0; t < 6; t++) REQUIRE(in[t][face - 1] == comes_from(&grid, t) * 100.0 + (double)(iteration % 97) + t);
  }
  if (rank == 0)
    printf("planted_halo3d: grid %dx%dx%d iterations %ld sleeper %ld from %ld times %ld sleep_us %ld\n", grid.extent[0],
           grid.extent[1], grid.extent[2], iterations, sleeper, first, in_a_row, sleep_us);
  MPI_Finalize();
  return 0;
}
