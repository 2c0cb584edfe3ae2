// One-sided communication on 4 ranks. With r the rank and right = r + 1 (mod 4), left = r - 1, each rank does, in
// order:
//   world, fence:        Put 2 ints to right, Get 2 ints from left, Accumulate 1 int on 0
//   reversed (world rank 3 - rank there), lock of the neighbour there: Fetch_and_op, Compare_and_swap, Get_accumulate
//   world, lock_all:     Rput 3 ints, Rget 3 ints, Raccumulate, Rget_accumulate 1 int, all to right; flushes
//   world, post/start:   Put 1 int from even ranks to right, which waits (rank 1: Win_wait, rank 3: Win_test)
//   dynamic and shared windows: one Put each to right
// test_long_tail.py has the events on paper.
#include "check.h"

static int left, right;

static void fences(void) {
  int* memory;
  MPI_Win window;
  MPI_Win_allocate(8 * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &window);
  for (int i = 0; i < 8; i++) memory[i] = 0;
  const int mine[2] = {rank, 10 * rank}, one = 1;
  int got[2] = {-1, -1};
  MPI_Win_fence(0, window);
  MPI_Put(mine, 2, MPI_INT, right, 0, 2, MPI_INT, window);
  MPI_Accumulate(&one, 1, MPI_INT, 0, 4, 1, MPI_INT, MPI_SUM, window);
  MPI_Win_fence(0, window);
  MPI_Get(got, 2, MPI_INT, left, 0, 2, MPI_INT, window);
  MPI_Win_fence(0, window);
  CHECK(memory[0] == left && memory[1] == 10 * left);
  CHECK(got[0] == (left + size - 1) % size);
  CHECK(memory[4] == (rank == 0 ? size : 0));
  MPI_Win_free(&window);
}

// The neighbour in this communicator is rank + 1 there: world rank `left`.
static void locks(void) {
  MPI_Comm reversed;
  MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &reversed);
  int there, memory[4] = {0, 0, 0, 0}, one = 1, result = -1, zero = 0, seven = 7;
  MPI_Comm_rank(reversed, &there);
  const int target = (there + 1) % size;
  MPI_Win window;
  MPI_Win_create(memory, sizeof memory, sizeof(int), MPI_INFO_NULL, reversed, &window);
  MPI_Win_lock(MPI_LOCK_EXCLUSIVE, target, 0, window);
  MPI_Fetch_and_op(&one, &result, MPI_INT, target, 0, MPI_SUM, window);
  MPI_Win_flush(target, window);
  CHECK(result == 0);
  MPI_Compare_and_swap(&seven, &zero, &result, MPI_INT, target, 1, window);
  MPI_Win_flush_local(target, window);
  MPI_Get_accumulate(NULL, 0, MPI_INT, &result, 1, MPI_INT, target, 1, 1, MPI_INT, MPI_NO_OP, window);
  MPI_Win_unlock(target, window);
  CHECK(result == 7);
  MPI_Barrier(reversed);
  MPI_Win_lock(MPI_LOCK_SHARED, there, 0, window);
  MPI_Win_sync(window);
  CHECK(memory[0] == 1 && memory[1] == 7);
  MPI_Win_unlock(there, window);
  MPI_Win_free(&window);
  MPI_Comm_free(&reversed);
}

static void requests(MPI_Win window, int* memory) {
  const int mine[3] = {rank, rank, rank}, one = 1;
  int got[3] = {-1, -1, -1}, before = -1;
  MPI_Request request[2];
  MPI_Win_lock_all(0, window);
  MPI_Rput(mine, 3, MPI_INT, right, 0, 3, MPI_INT, window, &request[0]);
  MPI_Wait(&request[0], MPI_STATUS_IGNORE);
  MPI_Win_flush_all(window);
  MPI_Rget(got, 3, MPI_INT, right, 0, 3, MPI_INT, window, &request[0]);
  MPI_Raccumulate(&one, 1, MPI_INT, right, 3, 1, MPI_INT, MPI_SUM, window, &request[1]);
  MPI_Waitall(2, request, MPI_STATUSES_IGNORE);
  MPI_Win_flush_local_all(window);
  CHECK(got[0] == rank && got[2] == rank);
  MPI_Win_flush(right, window);
  MPI_Rget_accumulate(&one, 1, MPI_INT, &before, 1, MPI_INT, right, 3, 1, MPI_INT, MPI_SUM, window, &request[0]);
  MPI_Wait(&request[0], MPI_STATUS_IGNORE);
  MPI_Win_unlock_all(window);
  CHECK(before == 1);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Win_lock_all(MPI_MODE_NOCHECK, window);
  MPI_Win_sync(window);
  CHECK(memory[0] == left && memory[3] == 2);
  MPI_Win_unlock_all(window);
  MPI_Barrier(MPI_COMM_WORLD);
}

static void epochs(MPI_Win window, int* memory) {
  MPI_Group world, other;
  MPI_Comm_group(MPI_COMM_WORLD, &world);
  const int partner = rank % 2 == 0 ? right : left;
  MPI_Group_incl(world, 1, &partner, &other);
  if (rank % 2 == 0) {
    MPI_Win_start(other, 0, window);
    MPI_Put(&rank, 1, MPI_INT, right, 5, 1, MPI_INT, window);
    MPI_Win_complete(window);
  } else {
    int done = 0;
    MPI_Win_post(other, 0, window);
    if (rank == 1) MPI_Win_wait(window);
    while (rank == 3 && !done) MPI_Win_test(window, &done);
    CHECK(memory[5] == left);
  }
  MPI_Group_free(&other);
  MPI_Group_free(&world);
}

static void other_windows(void) {
  int cell = -1, *shared;
  MPI_Win window;
  MPI_Aint address, theirs;
  MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &window);
  MPI_Win_attach(window, &cell, sizeof cell);
  MPI_Get_address(&cell, &address);
  MPI_Sendrecv(&address, 1, MPI_AINT, left, 0, &theirs, 1, MPI_AINT, right, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Win_fence(0, window);
  MPI_Put(&rank, 1, MPI_INT, right, theirs, 1, MPI_INT, window);
  MPI_Win_fence(0, window);
  CHECK(cell == left);
  MPI_Win_detach(window, &cell);
  MPI_Win_free(&window);
  MPI_Win_allocate_shared(sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &shared, &window);
  MPI_Win_fence(0, window);
  MPI_Put(&rank, 1, MPI_INT, right, 0, 1, MPI_INT, window);
  MPI_Win_fence(0, window);
  CHECK(*shared == left);
  MPI_Win_free(&window);
}

int main(int argc, char** argv) {
  start_mpi(&argc, &argv);
  right = (rank + 1) % size;
  left = (rank + size - 1) % size;
  fences();
  locks();
  int memory[8] = {0};
  MPI_Win window;
  MPI_Win_create(memory, sizeof memory, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &window);
  requests(window, memory);
  epochs(window, memory);
  MPI_Win_free(&window);
  other_windows();
  if (rank == 0) printf("one-sided: right\n");
  MPI_Finalize();
  return 0;
}
