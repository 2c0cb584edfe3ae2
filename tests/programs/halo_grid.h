// A periodic grid in three dimensions: rank = (x * py + y) * pz + z. What the 3-D halo programs share. Directions t = 0
// .. 5: 2 * d travels towards smaller coordinates of dimension d, 2 * d + 1 towards larger ones.
#pragma once

#include "answer.h"

typedef struct {
  int extent[3];  // px, py, pz: MPI_Dims_create(ranks, 3)
  int at[3];      // of this rank
} HaloGrid;

static inline HaloGrid halo_grid(int ranks, int rank) {
  HaloGrid grid = {{0, 0, 0}, {0, 0, 0}};
  MPI_Dims_create(ranks, 3, grid.extent);
  const int* extent = grid.extent;
  grid.at[0] = rank / (extent[1] * extent[2]);
  grid.at[1] = rank / extent[2] % extent[1];
  grid.at[2] = rank % extent[2];
  return grid;
}

static inline int moved(const HaloGrid* grid, int dimension, int step) {
  int to[3] = {grid->at[0], grid->at[1], grid->at[2]};
  to[dimension] = (to[dimension] + step + grid->extent[dimension]) % grid->extent[dimension];
  return (to[0] * grid->extent[1] + to[1]) * grid->extent[2] + to[2];
}

// Who sends to this rank in direction t, and to whom it sends.
static inline int comes_from(const HaloGrid* grid, int t) { return moved(grid, t / 2, t % 2 ? -1 : 1); }
static inline int goes_to(const HaloGrid* grid, int t) { return moved(grid, t / 2, t % 2 ? 1 : -1); }
