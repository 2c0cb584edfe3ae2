// Programs that hang, and programs that only look as if they did.
// Arguments: kind, seconds that the slow ones take (3), rounds of a ring before (20), until=FILE (the slow ones may end
// sooner). On paper: every rank first passes `rounds` messages around the ring. Then, with n ranks (next = rank + 1 mod
// n):
//   recv_cycle       everybody receives from next                                      cycle 0 1 .. n-1
//   probe_cycle      the same with MPI_Probe
//   send_cycle       everybody sends 4 MiB to next                                     cycle 0 1 .. n-1
//   ssend_cycle      everybody sends 4 bytes to next, synchronously
//   isend_cycle      the same with Isend of 4 MiB and Wait
//   wait_cycle       Irecv from next, Wait
//   waitall_cycle    Irecv from both neighbours, Waitall                               all n ranks
//   waitany_knot     Irecv from both neighbours, Waitany                               all n ranks
//   sendrecv_shift   Sendrecv to next, from next                                       cycle 0 1 .. n-1
//   wildcard_knot    everybody receives from anybody                                   all n ranks
//   barrier_recv     pairs (2k, 2k+1): 2k receives from 2k+1, which is in a Barrier of the pair    n/2 cycles of two
//   split_barrier    rank 0 in Comm_split, the others in a Barrier of the world        contains 0
//   reduce_recv      rank 0 is the root of a Reduce, rank 1 receives from it, the others are through        cycle 0 1
//   ibarrier_wait    rank 0 in Wait for an Ibarrier, the others receive from 0             contains 0
//   bcast_barrier    ranks 0 and 1 in a Bcast of 3, the others in a Barrier             contains 0
//   reduce_allreduce rank 0 in a Reduce, the others in an Allreduce
//   fence_recv       rank 0 in Win_fence, the others receive from it (they have not come)  cycles of 0 with them
//   free_recv        the same with Win_free
//   post_wait        rank 0 in Win_wait for its Post to 1, which receives from it, the others are through     cycle 0 1
//   lock_held        rank 0 holds an exclusive lock of its own window and receives from 1, which is in Win_lock  0 1
//   open_recv        rank 0 in File_open, the others receive from it
//   on_finished      rank 0 receives from rank 1, which is in MPI_Finalize with all others
//   tail             ranks 0 and 1 receive from each other, 2 from 1, 3 from 2 ...     cycle 0 1 only
// Those that end by themselves after about `seconds`, and print one line:
//   slow_compute     rank 0 computes, 1 waits for 0, 2 for 1 ...
//   slow_receiver    rank 0 sends 4 MiB to rank 1, which computes first; the others wait for 1
//   slow_barrier     all but rank 0 are in a Barrier
//   polling          0 receives from 1, which polls for a message from 0 and then gives up and sends
//   master           rank 0 receives from anybody, workers from 0, one computes
//   big_messages     neighbours exchange 32 MiB all the time
//   thread_send      recv_cycle, but a second thread of rank 0 that never called MPI sends in the end
//   thread_again     the same with a thread that has called MPI before
//   ibarrier_ahead   all but rank 0 have begun an Ibarrier, then a Barrier; rank 0 computes, then does the same
//   isend_before     ranks 0 and 1 receive from each other, but 1 has made a large Isend before
#include <pthread.h>

#include "answer.h"

enum { big = 1 << 20, huge = 8 << 20 };
static int rank, size, next, before;
static double seconds;
static const char* until;
static int data[4], *large, *memory;

#define WORLD MPI_COMM_WORLD
#define NO_STATUS MPI_STATUS_IGNORE
#define IS(name) (strcmp(kind, name) == 0)

static void ring(long rounds) {
  for (long i = 0; i < rounds; i++) {
    int token = (int)i, got = -1;
    MPI_Sendrecv(&token, 1, MPI_INT, next, 1, &got, 1, MPI_INT, before, 1, WORLD, NO_STATUS);
    REQUIRE(got == token);
  }
}

static int goes_on(double end) { return MPI_Wtime() < end && (until == NULL || access(until, F_OK) != 0); }

static void compute(double duration) {  // without MPI
  const double end = MPI_Wtime() + duration;
  while (goes_on(end)) usleep(1000);
}

static void hang_in_window(const char* kind, MPI_Win window) {
  MPI_Group world, partner;
  const int other = 1 - rank;
  if (IS("fence_recv")) {
    MPI_Win_fence(0, window);
    if (rank == 0) MPI_Win_fence(0, window);                  // hangs: fence_recv
    else MPI_Recv(data, 1, MPI_INT, 0, 2, WORLD, NO_STATUS);  // hangs: fence_recv
  } else if (IS("free_recv")) {
    if (rank == 0) MPI_Win_free(&window);                     // hangs: free_recv
    else MPI_Recv(data, 1, MPI_INT, 0, 2, WORLD, NO_STATUS);  // hangs: free_recv
  } else if (IS("post_wait") && rank < 2) {
    MPI_Comm_group(WORLD, &world);
    MPI_Group_incl(world, 1, &other, &partner);
    if (rank == 0) MPI_Win_post(partner, 0, window);
    if (rank == 0) MPI_Win_wait(window);                      // hangs: post_wait
    else MPI_Recv(data, 1, MPI_INT, 0, 2, WORLD, NO_STATUS);  // hangs: post_wait
  } else if (IS("lock_held") && rank < 2) {
    if (rank == 0) MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, window);
    if (rank == 0) MPI_Send(data, 1, MPI_INT, 1, 3, WORLD);
    if (rank == 0) MPI_Recv(data, 1, MPI_INT, 1, 2, WORLD, NO_STATUS);  // hangs: lock_held
    MPI_Recv(data, 1, MPI_INT, 0, 3, WORLD, NO_STATUS);
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, window);  // hangs: lock_held
    MPI_Put(data, 1, MPI_INT, 0, 0, 1, MPI_INT, window);
    MPI_Win_unlock(0, window);
  }
}

static int hang(const char* kind) {
  MPI_Request requests[2];
  MPI_Comm comm;
  int index;
  if (IS("recv_cycle")) {
    MPI_Recv(data, 1, MPI_INT, next, 2, WORLD, NO_STATUS);  // hangs: recv_cycle
  } else if (IS("probe_cycle")) {
    MPI_Probe(next, 2, WORLD, NO_STATUS);  // hangs: probe_cycle
  } else if (IS("send_cycle")) {
    MPI_Send(large, big, MPI_INT, next, 2, WORLD);  // hangs: send_cycle
  } else if (IS("ssend_cycle")) {
    MPI_Ssend(data, 1, MPI_INT, next, 2, WORLD);  // hangs: ssend_cycle
  } else if (IS("isend_cycle")) {
    MPI_Isend(large, big, MPI_INT, next, 2, WORLD, requests);
    MPI_Wait(requests, NO_STATUS);  // hangs: isend_cycle
  } else if (IS("wait_cycle")) {
    MPI_Irecv(data, 1, MPI_INT, next, 2, WORLD, requests);
    MPI_Wait(requests, NO_STATUS);  // hangs: wait_cycle
  } else if (IS("waitall_cycle") || IS("waitany_knot")) {
    MPI_Irecv(data, 1, MPI_INT, next, 2, WORLD, requests);
    MPI_Irecv(data + 1, 1, MPI_INT, before, 2, WORLD, requests + 1);
    if (IS("waitall_cycle")) MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);  // hangs: waitall_cycle
    else MPI_Waitany(2, requests, &index, NO_STATUS);                        // hangs: waitany_knot
  } else if (IS("sendrecv_shift")) {
    MPI_Sendrecv(data, 1, MPI_INT, next, 2, data + 1, 1, MPI_INT, next, 2, WORLD, NO_STATUS);  // hangs: sendrecv_shift
  } else if (IS("wildcard_knot")) {
    MPI_Recv(data, 1, MPI_INT, MPI_ANY_SOURCE, 2, WORLD, NO_STATUS);  // hangs: wildcard_knot
  } else if (IS("barrier_recv")) {
    MPI_Comm_split(WORLD, rank / 2, rank, &comm);
    MPI_Barrier(comm);
    if (rank % 2 == 0) MPI_Recv(data, 1, MPI_INT, 1, 2, comm, NO_STATUS);  // hangs: barrier_recv
    else MPI_Barrier(comm);                                                // hangs: barrier_recv
  } else if (IS("split_barrier")) {
    if (rank == 0) MPI_Comm_split(WORLD, 0, 0, &comm);  // hangs: split_barrier
    else MPI_Barrier(WORLD);                            // hangs: split_barrier
  } else if (IS("reduce_recv")) {
    if (rank != 1) MPI_Reduce(data, data + 1, 1, MPI_INT, MPI_SUM, 0, WORLD);  // hangs: reduce_recv
    MPI_Recv(data, 1, MPI_INT, 0, 2, WORLD, NO_STATUS);                        // hangs: reduce_recv
  } else if (IS("bcast_barrier")) {
    if (rank < 2) MPI_Bcast(data, 1, MPI_INT, 3, WORLD);  // hangs: bcast_barrier
    else MPI_Barrier(WORLD);                              // hangs: bcast_barrier
  } else if (IS("reduce_allreduce")) {
    if (rank == 0) MPI_Reduce(data, data + 1, 1, MPI_INT, MPI_SUM, 0, WORLD);  // hangs: reduce_allreduce
    else MPI_Allreduce(data, data + 1, 1, MPI_INT, MPI_SUM, WORLD);            // hangs: reduce_allreduce
  } else if (IS("ibarrier_wait")) {
    if (rank == 0) MPI_Ibarrier(WORLD, requests);
    if (rank == 0) MPI_Wait(requests, NO_STATUS);             // hangs: ibarrier_wait
    else MPI_Recv(data, 1, MPI_INT, 0, 2, WORLD, NO_STATUS);  // hangs: ibarrier_wait
  } else if (IS("fence_recv") || IS("free_recv") || IS("post_wait") || IS("lock_held")) {
    MPI_Win window;
    MPI_Win_allocate(sizeof(int), sizeof(int), MPI_INFO_NULL, WORLD, &memory, &window);
    hang_in_window(kind, window);
  } else if (IS("open_recv")) {
    MPI_File file;
    if (rank == 0) MPI_File_open(WORLD, "/dev/null", MPI_MODE_RDONLY, MPI_INFO_NULL, &file);  // hangs: open_recv
    else MPI_Recv(data, 1, MPI_INT, 0, 2, WORLD, NO_STATUS);                                  // hangs: open_recv
  } else if (IS("on_finished")) {
    if (rank == 0) MPI_Recv(data, 1, MPI_INT, 1, 2, WORLD, NO_STATUS);  // hangs: on_finished
  } else if (IS("tail")) {
    MPI_Recv(data, 1, MPI_INT, rank < 2 ? 1 - rank : rank - 1, 2, WORLD, NO_STATUS);  // hangs: tail
  } else {
    return 0;
  }
  return 1;
}

static void* send_later(void* unused) {
  (void)unused;
  compute(seconds);
  MPI_Send(data, 1, MPI_INT, before, 2, WORLD);
  return NULL;
}
static void* send_again(void* unused) {
  MPI_Send(data, 1, MPI_INT, MPI_PROC_NULL, 3, WORLD);
  return send_later(unused);
}

static void pass_on(int from, int to) {
  if (from >= 0) MPI_Recv(data, 1, MPI_INT, from, 2, WORLD, NO_STATUS);
  if (to < size) MPI_Send(data, 1, MPI_INT, to, 2, WORLD);
}

static void with_thread(void* (*body)(void*)) {
  pthread_t thread;
  if (rank == 0) pthread_create(&thread, NULL, body, NULL);
  MPI_Recv(data + 2, 1, MPI_INT, next, 2, WORLD, NO_STATUS);
  if (rank > 0) MPI_Send(data, 1, MPI_INT, before, 2, WORLD);
  if (rank == 0) pthread_join(thread, NULL);
}

static void poll_and_give_up(void) {
  int found = 0;
  if (rank == 0) MPI_Recv(data, 1, MPI_INT, 1, 2, WORLD, NO_STATUS);
  if (rank != 1) return;
  const double end = MPI_Wtime() + seconds;
  while (!found && goes_on(end)) MPI_Iprobe(0, 2, WORLD, &found, NO_STATUS);
  REQUIRE(!found);
  MPI_Send(data, 1, MPI_INT, 0, 2, WORLD);
}

static void serve(void) {
  if (rank == 0) {
    for (int worker = 1; worker < size; worker++) {
      MPI_Status status;
      MPI_Recv(data, 1, MPI_INT, MPI_ANY_SOURCE, 2, WORLD, &status);
      for (int w = 1; worker == size - 1 && w < size; w++) MPI_Send(data, 1, MPI_INT, w, 4, WORLD);
    }
  } else {
    if (rank == size - 1) compute(seconds);
    MPI_Send(data, 1, MPI_INT, 0, 2, WORLD);
    MPI_Recv(data, 1, MPI_INT, 0, 4, WORLD, NO_STATUS);
  }
}

static void exchange_for_long(void) {
  const int partner = rank ^ 1;
  int go_on = 1;
  const double end = MPI_Wtime() + seconds;
  while (go_on && partner < size) {
    if (rank % 2 == 0) {
      MPI_Send(large, huge, MPI_INT, partner, 2, WORLD);
      MPI_Recv(large, huge, MPI_INT, partner, 2, WORLD, NO_STATUS);
    } else {
      MPI_Recv(large, huge, MPI_INT, partner, 2, WORLD, NO_STATUS);
      MPI_Send(large, huge, MPI_INT, partner, 2, WORLD);
    }
    go_on = goes_on(end);
    MPI_Bcast(&go_on, 1, MPI_INT, 0, WORLD);
  }
}

static void untie(void) {
  MPI_Request request;
  if (rank == 1) MPI_Isend(large, big, MPI_INT, 0, 2, WORLD, &request);
  if (rank == 0) compute(seconds);
  if (rank == 0) MPI_Recv(large, big, MPI_INT, 1, 2, WORLD, NO_STATUS);
  if (rank == 0) MPI_Send(data, 1, MPI_INT, 1, 2, WORLD);
  if (rank == 1) MPI_Recv(data, 1, MPI_INT, 0, 2, WORLD, NO_STATUS);
  if (rank == 1) MPI_Wait(&request, NO_STATUS);
}

static int go_slowly(const char* kind) {
  if (IS("slow_compute")) {
    if (rank == 0) compute(seconds);
    pass_on(rank - 1, rank + 1);
  } else if (IS("slow_receiver")) {
    if (rank == 0) MPI_Send(large, big, MPI_INT, 1, 2, WORLD);
    if (rank == 1) compute(seconds);
    if (rank == 1) MPI_Recv(large, big, MPI_INT, 0, 2, WORLD, NO_STATUS);
    if (rank >= 1) pass_on(rank == 1 ? -1 : rank - 1, rank + 1);
  } else if (IS("slow_barrier")) {
    if (rank == 0) compute(seconds);
    MPI_Barrier(WORLD);
  } else if (IS("ibarrier_ahead")) {
    MPI_Request request;
    if (rank == 0) compute(seconds);
    MPI_Ibarrier(WORLD, &request);
    if (rank == 1) MPI_Wait(&request, NO_STATUS);
    MPI_Barrier(WORLD);
    if (rank != 1) MPI_Wait(&request, NO_STATUS);
  } else if (IS("polling")) {
    poll_and_give_up();
  } else if (IS("master")) {
    serve();
  } else if (IS("big_messages")) {
    exchange_for_long();
  } else if (IS("thread_send")) {
    with_thread(send_later);
  } else if (IS("thread_again")) {
    with_thread(send_again);
  } else if (IS("isend_before")) {
    untie();
  } else {
    return 0;
  }
  return 1;
}

int main(int argc, char** argv) {
  const char* kind = argc > 1 ? argv[1] : "";
  int provided;
  MPI_Init_thread(&argc, &argv, strncmp(kind, "thread", 6) == 0 ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &provided);
  until = take_until(&argc, argv);
  seconds = (double)argument(argc, argv, 2, 3);
  MPI_Comm_rank(WORLD, &rank);
  MPI_Comm_size(WORLD, &size);
  next = (rank + 1) % size;
  before = (rank + size - 1) % size;
  large = calloc(huge, sizeof *large);
  ring(argument(argc, argv, 3, 20));
  const int known = hang(kind) || go_slowly(kind);
  if (!known) fprintf(stderr, "deadlock: no such kind: %s\n", kind);
  if (rank == 0 && known) printf("deadlock: %s ended\n", kind);
  free(large);
  MPI_Finalize();
  return known ? 0 : 2;
}
