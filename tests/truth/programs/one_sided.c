// One-sided communication on windows of `bytes` per rank. Kinds:
//   fence    work, MPI_Put to the right in a ring, MPI_Win_fence
//   post     2k puts to 2k + 1: Post and Wait there, Start and Complete here. 2k + 1 works before MPI_Win_post, 2k
//   before
//            MPI_Win_start: who is late makes the other wait (in Start, Complete or Wait)
//   lock     all but rank `root` lock its window for themselves, work serve_us inside if they are slow, put and unlock
//   flush    everybody puts into the window of rank `root` and flushes; root works outside MPI meanwhile (mode=1: a
//   window
//            that MPI did not allocate, whose target may have to help)
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

#include "faults.h"

static MPI_Win window = MPI_WIN_NULL;
static char* memory;
static int own_memory;

static void begin(void) {
  own_memory = plan.mode == 1;
  if (own_memory) {
    memory = malloc((size_t)plan.bytes * 2);
    MPI_Win_create(memory, (MPI_Aint)plan.bytes * 2, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
  } else {
    MPI_Win_allocate((MPI_Aint)plan.bytes * 2, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &window);
  }
  if (strcmp(plan.kind, "fence") == 0) MPI_Win_fence(0, window);
}

static void end(void) {
  MPI_Win_free(&window);
  if (own_memory) free(memory);
}

static void put(int to) { MPI_Put(out, (int)plan.bytes, MPI_BYTE, to, 0, (int)plan.bytes, MPI_BYTE, window); }

static void fence(long step) {
  put((rank + 1) % size);
  work_of_step(step);
  arrives(step);
  MPI_Win_fence(0, window);
  goes_on(step);
}

static void post(long step) {
  MPI_Group all, other;
  const int partner = rank ^ 1;
  if (partner >= size) return;
  MPI_Comm_group(MPI_COMM_WORLD, &all);
  MPI_Group_incl(all, 1, &partner, &other);
  if (rank % 2 == 1) {
    if (plan.after == 0) work_of_step(step);
    arrives(step);
    MPI_Win_post(other, 0, window);
    if (plan.after == 1) work_of_step(step);
    if (plan.after == 1) waits_from(step);
    MPI_Win_wait(window);
    goes_on(step);
  } else {
    if (plan.after == 0) work_of_step(step);
    waits_from(step);
    MPI_Win_start(other, 0, window);
    put(partner);
    if (plan.after == 1) {
      work_of_step(step);
      waits_from(step);
    }
    ready(step);
    MPI_Win_complete(window);
    goes_on(step);
  }
  MPI_Group_free(&other);
  MPI_Group_free(&all);
}

static void lock(long step) {
  const int root = (int)plan.root;
  if (rank == root) {
    work((double)(plan.work_us + plan.serve_us));
    return;
  }
  if (!slow) work_of_step(step);
  waits_from(step);
  MPI_Win_lock(MPI_LOCK_EXCLUSIVE, root, 0, window);
  put(root);
  MPI_Win_flush(root, window);
  goes_on(step);
  if (slow) work((double)plan.serve_us);
  MPI_Win_unlock(root, window);
  if (slow) work_of_step(step);
}

static void flush(long step) {
  const int root = (int)plan.root;
  if (rank == root) {
    work(work_us_of(step));
    int flag;
    MPI_Iprobe(MPI_ANY_SOURCE, 99, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
    return;
  }
  work((double)plan.work_us / 2);
  waits_from(step);
  MPI_Win_lock(MPI_LOCK_SHARED, root, 0, window);
  MPI_Accumulate(out, (int)plan.bytes, MPI_BYTE, root, 0, (int)plan.bytes, MPI_BYTE, MPI_REPLACE, window);
  MPI_Win_flush(root, window);
  MPI_Win_unlock(root, window);
  goes_on(step);
}

// Of post: a late post or a late complete is what the partner waits for.
const struct kind one_sided_kinds[] = {{"fence", fence, awaits_all, begin, end},
                                       {"post", post, awaits_partner, begin, end},
                                       {"lock", lock, NULL, begin, end},
                                       {"flush", flush, NULL, begin, end},
                                       {NULL, NULL, NULL, NULL, NULL}};
