// Every blocking and nonblocking collective of MPI 3, on the world and on a reversed half, each with its values
// checked. Arguments: rounds (3). On paper: every rank r contributes numbers made of r and an index, so every result is
// a closed form; a wrong one ends the job. No point-to-point message at all: messages = 0. Blocking and nonblocking
// forms share their checks; 25 collectives per form, round and communicator (24 where a communicator has fewer than
// three members).
#include <string.h>

#include "answer.h"

enum { most = 64 };  // members at most

static MPI_Comm comm;
static int me, size, root, nonblocking;
static long done;
static int64_t out[most * most], in[most * most];
static int counts[most], starts[most];
static MPI_Request request;

// Calls the form that is under test: F(arguments, comm) or its I-form with a request, which is completed at once by
// Wait or by polling Test.
#define CALL(name, ...)                         \
  do {                                          \
    if (nonblocking) {                          \
      MPI_I##name(__VA_ARGS__, comm, &request); \
      complete();                               \
    } else {                                    \
      MPI_##name##_(__VA_ARGS__);               \
    }                                           \
    done++;                                     \
  } while (0)
#define MPI_bcast_(...) MPI_Bcast(__VA_ARGS__, comm)
#define MPI_reduce_(...) MPI_Reduce(__VA_ARGS__, comm)
#define MPI_allreduce_(...) MPI_Allreduce(__VA_ARGS__, comm)
#define MPI_scan_(...) MPI_Scan(__VA_ARGS__, comm)
#define MPI_exscan_(...) MPI_Exscan(__VA_ARGS__, comm)
#define MPI_gather_(...) MPI_Gather(__VA_ARGS__, comm)
#define MPI_gatherv_(...) MPI_Gatherv(__VA_ARGS__, comm)
#define MPI_scatter_(...) MPI_Scatter(__VA_ARGS__, comm)
#define MPI_scatterv_(...) MPI_Scatterv(__VA_ARGS__, comm)
#define MPI_allgather_(...) MPI_Allgather(__VA_ARGS__, comm)
#define MPI_allgatherv_(...) MPI_Allgatherv(__VA_ARGS__, comm)
#define MPI_alltoall_(...) MPI_Alltoall(__VA_ARGS__, comm)
#define MPI_alltoallv_(...) MPI_Alltoallv(__VA_ARGS__, comm)
#define MPI_alltoallw_(...) MPI_Alltoallw(__VA_ARGS__, comm)
#define MPI_reduce_scatter_(...) MPI_Reduce_scatter(__VA_ARGS__, comm)
#define MPI_reduce_scatter_block_(...) MPI_Reduce_scatter_block(__VA_ARGS__, comm)

static void complete(void) {
  static int turn;
  if (turn++ % 2) {
    int flag = 0;
    while (!flag) MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
  } else {
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
}

static void fill(int n) {
  for (int i = 0; i < n; i++) out[i] = me * 1000 + i;
  memset(in, 0x7f, sizeof in);
}

static void one_to_all(void) {
  fill(4);
  for (int i = 0; i < 4; i++) in[i] = me == root ? 7 * i : -1;
  CALL(bcast, in, 4, MPI_INT64_T, root);
  for (int i = 0; i < 4; i++) REQUIRE(in[i] == 7 * i);

  fill(2 * size);
  CALL(scatter, out, 2, MPI_INT64_T, in, 2, MPI_INT64_T, root);
  REQUIRE(in[0] == root * 1000 + 2 * me && in[1] == root * 1000 + 2 * me + 1);
  fill(2 * size);  // the root keeps its part in place
  CALL(scatter, out, 2, MPI_INT64_T, me == root ? MPI_IN_PLACE : in, 2, MPI_INT64_T, root);
  REQUIRE(me == root || in[1] == root * 1000 + 2 * me + 1);

  fill(size * size);
  for (int i = 0, at = 0; i < size; at += i++ + 1) counts[i] = i + 1, starts[i] = at;
  CALL(scatterv, out, counts, starts, MPI_INT64_T, in, me + 1, MPI_INT64_T, root);
  for (int i = 0; i <= me; i++) REQUIRE(in[i] == root * 1000 + starts[me] + i);
}

static void all_to_one(void) {
  const int64_t ranks = (int64_t)size * (size - 1) / 2;
  fill(2);
  CALL(gather, out, 2, MPI_INT64_T, in, 2, MPI_INT64_T, root);
  for (int i = 0; me == root && i < 2 * size; i++) REQUIRE(in[i] == i / 2 * 1000 + i % 2);

  fill(2);
  memcpy(in + 2 * me, out, 2 * sizeof out[0]);
  CALL(gather, me == root ? MPI_IN_PLACE : out, 2, MPI_INT64_T, in, 2, MPI_INT64_T, root);
  for (int i = 0; me == root && i < 2 * size; i++) REQUIRE(in[i] == i / 2 * 1000 + i % 2);

  fill(size);
  CALL(gatherv, out, me + 1, MPI_INT64_T, in, counts, starts, MPI_INT64_T, root);
  for (int r = 0; me == root && r < size; r++)
    for (int i = 0; i <= r; i++) REQUIRE(in[starts[r] + i] == r * 1000 + i);

  fill(3);
  CALL(reduce, out, in, 3, MPI_INT64_T, MPI_SUM, root);
  for (int i = 0; me == root && i < 3; i++) REQUIRE(in[i] == ranks * 1000 + size * i);
  fill(3);
  memcpy(in, out, 3 * sizeof out[0]);
  CALL(reduce, me == root ? MPI_IN_PLACE : in, in, 3, MPI_INT64_T, MPI_MAX, root);
  for (int i = 0; me == root && i < 3; i++) REQUIRE(in[i] == (size - 1) * 1000 + i);
}

static void all_to_all_reductions(void) {
  const int64_t ranks = (int64_t)size * (size - 1) / 2;
  fill(3);
  CALL(allreduce, out, in, 3, MPI_INT64_T, MPI_SUM);
  for (int i = 0; i < 3; i++) REQUIRE(in[i] == ranks * 1000 + size * i);
  fill(3);
  memcpy(in, out, 3 * sizeof out[0]);
  CALL(allreduce, MPI_IN_PLACE, in, 3, MPI_INT64_T, MPI_MIN);
  for (int i = 0; i < 3; i++) REQUIRE(in[i] == i);

  fill(1);
  CALL(scan, out, in, 1, MPI_INT64_T, MPI_SUM);
  REQUIRE(in[0] == (int64_t)me * (me + 1) / 2 * 1000);
  fill(1);
  CALL(exscan, out, in, 1, MPI_INT64_T, MPI_SUM);
  REQUIRE(me == 0 || in[0] == (int64_t)me * (me - 1) / 2 * 1000);

  fill(2 * size);
  CALL(reduce_scatter_block, out, in, 2, MPI_INT64_T, MPI_SUM);
  REQUIRE(in[0] == ranks * 1000 + size * 2 * me && in[1] == ranks * 1000 + size * (2 * me + 1));
  fill(size * size);
  CALL(reduce_scatter, out, in, counts, MPI_INT64_T, MPI_SUM);
  for (int i = 0; i <= me; i++) REQUIRE(in[i] == ranks * 1000 + (int64_t)size * (starts[me] + i));
}

static void all_to_all(void) {
  fill(2);
  CALL(allgather, out, 2, MPI_INT64_T, in, 2, MPI_INT64_T);
  for (int i = 0; i < 2 * size; i++) REQUIRE(in[i] == i / 2 * 1000 + i % 2);
  fill(2);
  memcpy(in + 2 * me, out, 2 * sizeof out[0]);
  CALL(allgather, MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, in, 2, MPI_INT64_T);
  for (int i = 0; i < 2 * size; i++) REQUIRE(in[i] == i / 2 * 1000 + i % 2);
  fill(size);
  CALL(allgatherv, out, me + 1, MPI_INT64_T, in, counts, starts, MPI_INT64_T);
  for (int r = 0; r < size; r++)
    for (int i = 0; i <= r; i++) REQUIRE(in[starts[r] + i] == r * 1000 + i);

  fill(size);
  CALL(alltoall, out, 1, MPI_INT64_T, in, 1, MPI_INT64_T);
  for (int r = 0; r < size; r++) REQUIRE(in[r] == r * 1000 + me);
  fill(size);
  memcpy(in, out, (size_t)size * sizeof out[0]);
  CALL(alltoall, MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, in, 1, MPI_INT64_T);
  for (int r = 0; r < size; r++) REQUIRE(in[r] == r * 1000 + me);

  // Rank r gets r + 1 numbers from everybody.
  int mine[most], here[most], bytes_out[most], bytes_in[most], at_out[most], at_in[most];
  MPI_Datatype type[most];
  for (int i = 0; i < size; i++) {
    mine[i] = me + 1, here[i] = i * (me + 1), type[i] = MPI_INT64_T;
    bytes_out[i] = counts[i], bytes_in[i] = mine[i];
    at_out[i] = starts[i] * (int)sizeof out[0], at_in[i] = here[i] * (int)sizeof in[0];
  }
  fill(size * size);
  CALL(alltoallv, out, counts, starts, MPI_INT64_T, in, mine, here, MPI_INT64_T);
  for (int i = 0; i < size * (me + 1); i++) REQUIRE(in[i] == i / (me + 1) * 1000 + starts[me] + i % (me + 1));
  fill(size * size);
  CALL(alltoallw, out, bytes_out, at_out, type, in, bytes_in, at_in, type);
  for (int i = 0; i < size * (me + 1); i++) REQUIRE(in[i] == i / (me + 1) * 1000 + starts[me] + i % (me + 1));
}

static void barrier(void) {
  if (nonblocking) {
    MPI_Ibarrier(comm, &request);
    complete();
  } else {
    MPI_Barrier(comm);
  }
  done++;
}

// Neighbourhood collectives on a ring: left neighbour first, then right.
static void neighbourhood(void) {
  const int extent[1] = {size}, periodic[1] = {1};
  const int left = (me + size - 1) % size, right = (me + 1) % size;
  MPI_Comm grid;
  MPI_Cart_create(comm, 1, extent, periodic, 0, &grid);
  fill(2);
  if (nonblocking) {
    MPI_Ineighbor_allgather(out, 1, MPI_INT64_T, in, 1, MPI_INT64_T, grid, &request);
    complete();
  } else {
    MPI_Neighbor_allgather(out, 1, MPI_INT64_T, in, 1, MPI_INT64_T, grid);
  }
  REQUIRE(in[0] == left * 1000 && in[1] == right * 1000);
  done++;
  if (size > 2) {  // with one or two members both neighbours are the same rank, and the standard was long unclear
    fill(2);
    if (nonblocking) {
      MPI_Ineighbor_alltoall(out, 1, MPI_INT64_T, in, 1, MPI_INT64_T, grid, &request);
      complete();
    } else {
      MPI_Neighbor_alltoall(out, 1, MPI_INT64_T, in, 1, MPI_INT64_T, grid);
    }
    REQUIRE(in[0] == left * 1000 + 1 && in[1] == right * 1000);
  }
  done++;
  MPI_Comm_free(&grid);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const long rounds = argument(argc, argv, 1, 3);
  int rank, ranks;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  REQUIRE(ranks <= most);
  MPI_Comm half;
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &half);
  for (long round = 0; round < rounds; round++)
    for (int form = 0; form < 4; form++) {
      comm = form / 2 ? half : MPI_COMM_WORLD;
      nonblocking = form % 2;
      MPI_Comm_rank(comm, &me);
      MPI_Comm_size(comm, &size);
      root = (int)(round % size);
      one_to_all();
      all_to_one();
      all_to_all_reductions();
      all_to_all();
      neighbourhood();
      barrier();
    }
  MPI_Comm_free(&half);
  const uint64_t all = sum_over_ranks((uint64_t)done);
  if (rank == 0) printf("collectives: ranks %d rounds %ld calls %llu\n", ranks, rounds, (unsigned long long)all);
  MPI_Finalize();
  return 0;
}
