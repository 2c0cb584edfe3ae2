// Takes what MPI takes of /dev/shm, and more: messages between all ranks, then a window in shared memory.
//
//   shared_memory KIB     KIB: each rank's part of the window; 0: none
//
// Every value that arrives is checked. Prints one line and exits with 0.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { longest = 16384 };  // ints of a message: small ones and such as are cut into pieces

static void fail(const char* what) {
  fprintf(stderr, "wrong: %s\n", what);
  MPI_Abort(MPI_COMM_WORLD, 3);
}

static void talk(int rank, int size, int count) {
  int* out = malloc((size_t)size * (size_t)count * sizeof *out);
  int* in = malloc((size_t)size * (size_t)count * sizeof *in);
  MPI_Request* requests = malloc(2 * (size_t)size * sizeof *requests);
  for (int i = 0; i < size * count; ++i) out[i] = rank * 100000 + i;
  for (int peer = 0; peer < size; ++peer) {
    MPI_Irecv(in + peer * count, count, MPI_INT, peer, 1, MPI_COMM_WORLD, &requests[2 * peer]);
    MPI_Isend(out + peer * count, count, MPI_INT, peer, 1, MPI_COMM_WORLD, &requests[2 * peer + 1]);
  }
  MPI_Waitall(2 * size, requests, MPI_STATUSES_IGNORE);
  for (int peer = 0; peer < size; ++peer)
    for (int i = 0; i < count; ++i)
      if (in[peer * count + i] != peer * 100000 + rank * count + i) fail("message");
  free(out);
  free(in);
  free(requests);
}

static void share(int rank, int size, int kib) {
  const int count = kib * 256;
  MPI_Comm node;
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
  int* mine = NULL;
  MPI_Win window;
  MPI_Win_allocate_shared(count * (MPI_Aint)sizeof *mine, sizeof *mine, MPI_INFO_NULL, node, &mine, &window);
  MPI_Win_fence(0, window);
  for (int i = 0; i < count; ++i) mine[i] = rank + i;
  MPI_Win_fence(0, window);
  MPI_Aint bytes;
  int unit, *others = NULL;
  const int peer = (rank + 1) % size;
  MPI_Win_shared_query(window, peer, &bytes, &unit, &others);
  for (int i = 0; i < count; ++i)
    if (others[i] != peer + i) fail("window");
  MPI_Win_fence(0, window);
  MPI_Win_free(&window);
  MPI_Comm_free(&node);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank, size;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const int kib = argc > 1 ? atoi(argv[1]) : 0;
  for (int count = 1; count <= longest; count *= 8) talk(rank, size, count);
  if (kib > 0) share(rank, size, kib);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) printf("all values are right\n");
  MPI_Finalize();
  return 0;
}
