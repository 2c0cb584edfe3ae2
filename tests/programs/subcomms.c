// One ring exchange on each of many communicators, made in every way that MPI has for intracommunicators.
// Arguments: rounds (10).
// On paper: on a communicator with m members (m >= 1) every member sends 8 bytes to the next one, also to itself when
// m = 1: m messages per round. Tags name the communicators; members are world ranks:
//   1 world, 2 duplicate of the world (all); 3 parity: the even and the odd ranks apart, in reversed order;
//   4 duplicate of 3; 5 split with MPI_UNDEFINED: ranks 0, 3, 6, ...; 6 MPI_Comm_create of the first (n + 1) / 2 ranks;
//   7 MPI_Comm_create_group of the last n / 2 ranks (only they call); 8 split by shared memory (one node: all);
//   9 MPI_COMM_SELF; 10 rows of a 2-column grid made with Cart_create and Cart_sub (even n only); 11 = 2 freed and
//   duplicated anew in every round; 12 nonblocking duplicate of the world.
#include "answer.h"

static uint64_t checksum;

// Every member sends its world rank to the next; MPI_COMM_NULL: not a member.
static void ring(MPI_Comm comm, int tag) {
  if (comm == MPI_COMM_NULL) return;
  int me, size, world;
  MPI_Comm_rank(comm, &me);
  MPI_Comm_size(comm, &size);
  MPI_Comm_rank(MPI_COMM_WORLD, &world);
  int64_t mine = world, theirs = -1;
  const int next = (me + 1) % size, previous = (me + size - 1) % size;
  MPI_Status status;
  MPI_Sendrecv(&mine, 1, MPI_INT64_T, next, tag, &theirs, 1, MPI_INT64_T, previous, tag, comm, &status);
  REQUIRE(status.MPI_SOURCE == previous && status.MPI_TAG == tag);

  MPI_Group members, all;
  MPI_Comm_group(comm, &members);
  MPI_Comm_group(MPI_COMM_WORLD, &all);
  int expected;
  MPI_Group_translate_ranks(members, 1, &previous, all, &expected);
  REQUIRE(theirs == expected);
  MPI_Group_free(&members);
  MPI_Group_free(&all);
  checksum += mix((uint64_t)theirs * 4096 + (uint64_t)tag * 128 + (uint64_t)world);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const long rounds = argument(argc, argv, 1, 10);
  int rank, size;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm dup, parity, parity_dup, thirds, first, last = MPI_COMM_NULL, node, grid, row = MPI_COMM_NULL, again, idup;
  MPI_Comm_dup(MPI_COMM_WORLD, &dup);
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &parity);
  MPI_Comm_dup(parity, &parity_dup);
  MPI_Comm_split(MPI_COMM_WORLD, rank % 3 ? MPI_UNDEFINED : 0, 0, &thirds);
  REQUIRE((thirds == MPI_COMM_NULL) == (rank % 3 != 0));

  MPI_Group all, part;
  MPI_Comm_group(MPI_COMM_WORLD, &all);
  int low[1][3] = {{0, (size + 1) / 2 - 1, 1}}, high[1][3] = {{(size + 1) / 2, size - 1, 1}};
  MPI_Group_range_incl(all, 1, low, &part);
  MPI_Comm_create(MPI_COMM_WORLD, part, &first);
  MPI_Group_free(&part);
  if (rank >= (size + 1) / 2) {
    MPI_Group_range_incl(all, 1, high, &part);
    MPI_Comm_create_group(MPI_COMM_WORLD, part, 3, &last);
    MPI_Group_free(&part);
  }
  MPI_Group_free(&all);
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &node);
  if (size % 2 == 0) {
    int extent[2] = {size / 2, 2}, periodic[2] = {1, 1}, keep[2] = {0, 1};
    MPI_Cart_create(MPI_COMM_WORLD, 2, extent, periodic, 0, &grid);
    MPI_Cart_sub(grid, keep, &row);
    MPI_Comm_free(&grid);
  }
  MPI_Request request;
  MPI_Comm_idup(MPI_COMM_WORLD, &idup, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);

  MPI_Comm fixed[] = {MPI_COMM_WORLD, dup, parity, parity_dup, thirds, first, last, node, MPI_COMM_SELF, row};
  for (long round = 0; round < rounds; round++) {
    for (int i = 0; i < 10; i++) ring(fixed[i], i + 1);
    MPI_Comm_dup(dup, &again);
    ring(again, 11);
    MPI_Comm_free(&again);
    ring(idup, 12);
  }
  fixed[8] = MPI_COMM_NULL;  // the world and MPI_COMM_SELF are not ours to free
  for (int i = 1; i < 10; i++)
    if (fixed[i] != MPI_COMM_NULL) MPI_Comm_free(&fixed[i]);
  MPI_Comm_free(&idup);
  checksum = sum_over_ranks(checksum);
  if (rank == 0) printf("subcomms: ranks %d rounds %ld checksum %016llx\n", size, rounds, (unsigned long long)checksum);
  MPI_Finalize();
  return 0;
}
