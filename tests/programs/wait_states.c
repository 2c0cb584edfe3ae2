// Every wait state beside late senders and receivers of blocking calls, with what each costs by this program's own
// clocks: it notes when calls are entered and returned, and prints "KIND seconds" for each kind, summed over ranks.
// Arguments: rounds (15), seed (1). An even number of ranks, all on one node: one clock.
#include <stdint.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "answer.h"

enum { most_rounds = 200, large = 1 << 20 };

static int rank, size, rounds;
static uint64_t state;
static double entered[most_rounds], left[most_rounds], other[most_rounds];  // s; other: what partners wait for

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void work(void) {
  state = state * 6364136223846793005u + 1442695040888963407u;
  usleep(2000 + (useconds_t)(state >> 33) % 10000);
}

// The three lists of all ranks, on all ranks: list k of rank r begins at [(3 * r + k) * rounds].
static double* all_lists(void) {
  double* mine = malloc(3 * sizeof(double) * (size_t)rounds);
  double* all = malloc(3 * sizeof(double) * (size_t)(rounds * size));
  REQUIRE(mine != NULL && all != NULL);
  for (int i = 0; i < rounds; i++) {
    mine[i] = entered[i];
    mine[rounds + i] = left[i];
    mine[2 * rounds + i] = other[i];
  }
  MPI_Allgather(mine, 3 * rounds, MPI_DOUBLE, all, 3 * rounds, MPI_DOUBLE, MPI_COMM_WORLD);
  free(mine);
  return all;
}

static double clipped(double moment, double begin, double end) {
  return moment <= begin ? 0 : (moment < end ? moment : end) - begin;
}

// `awaited`: does rank a wait for rank b? A rank waits from `entered` to the latest `other` of those.
static void tell(const char* kind, int (*awaited)(int a, int b)) {
  double* all = all_lists();
  double sum = 0;
  for (int a = 0; a < size; a++)
    for (int i = 0; i < rounds; i++) {
      double last = 0;
      for (int b = 0; b < size; b++) {
        const double moment = all[(3 * b + 2) * rounds + i];
        if (a != b && awaited(a, b) && moment > last) last = moment;
      }
      sum += clipped(last, all[3 * a * rounds + i], all[(3 * a + 1) * rounds + i]);
    }
  if (rank == 0) printf("%s %.9f\n", kind, sum);
  free(all);
}

static int everybody(int a, int b) { return a != b; }
static int lower(int a, int b) { return b < a; }
static int beside(int a, int b) { return b == (a + 1) % size || b == (a + size - 1) % size; }
static int odd_partner(int a, int b) { return a % 2 == 0 && b == a + 1; }
static int even_partner(int a, int b) { return a % 2 == 1 && b == a - 1; }

static char* buffer;

static void late_receivers(void) {
  for (int i = 0; i < rounds; i++) {
    work();
    if (rank % 2 == 0) {
      MPI_Request request;
      MPI_Issend(buffer, large, MPI_CHAR, rank + 1, 1, MPI_COMM_WORLD, &request);
      entered[i] = now();
      MPI_Wait(&request, MPI_STATUS_IGNORE);
      left[i] = now();
    } else {
      work();
      other[i] = now();
      MPI_Recv(buffer, large, MPI_CHAR, rank - 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
  }
  tell("late_receiver", odd_partner);
}

static void late_senders(int how) {
  static const char* names[] = {"probe", "test_loop", "sleeping_test_loop", "iprobe_loop", "improbe_loop"};
  for (int i = 0; i < rounds; i++) {
    if (rank % 2 == 0) {
      work();
      work();
      other[i] = now();
      MPI_Send(&i, 1, MPI_INT, rank + 1, 2, MPI_COMM_WORLD);
      continue;
    }
    MPI_Status status;
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Message message = MPI_MESSAGE_NULL;
    int got = -1, done = 0;
    if (how == 1 || how == 2) MPI_Irecv(&got, 1, MPI_INT, rank - 1, 2, MPI_COMM_WORLD, &request);
    usleep(1000);
    entered[i] = now();
    if (how == 0) MPI_Probe(rank - 1, 2, MPI_COMM_WORLD, &status);
    while (how > 0 && !done) {
      if (how == 3) MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &done, &status);
      else if (how == 4) MPI_Improbe(rank - 1, 2, MPI_COMM_WORLD, &done, &message, &status);
      else MPI_Test(&request, &done, &status);
      if (how == 2 && !done) usleep(200);
    }
    left[i] = now();
    if (how == 0 || how == 3) MPI_Recv(&got, 1, MPI_INT, rank - 1, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (how == 4) MPI_Mrecv(&got, 1, MPI_INT, &message, MPI_STATUS_IGNORE);
    REQUIRE(got == i);
  }
  tell(names[how], even_partner);
}

static void collectives(int how) {
  static const char* names[] = {"ibarrier", "scan", "neighbour", "iallreduce_test"};
  int ring = size, periodic = 1, one = rank, sum = 0;
  int neighbours[2];
  MPI_Comm cart;
  MPI_Cart_create(MPI_COMM_WORLD, 1, &ring, &periodic, 0, &cart);
  for (int i = 0; i < rounds; i++) {
    work();
    MPI_Request request;
    int done = 0;
    other[i] = entered[i] = now();
    if (how == 0) MPI_Ibarrier(MPI_COMM_WORLD, &request);
    if (how == 1) MPI_Scan(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (how == 2) MPI_Neighbor_allgather(&one, 1, MPI_INT, neighbours, 1, MPI_INT, cart);
    if (how == 3) MPI_Iallreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request);
    if (how == 0 || how == 3) {
      usleep(1000);
      entered[i] = now();
      if (how == 0) MPI_Wait(&request, MPI_STATUS_IGNORE);
      while (how == 3 && !done) MPI_Test(&request, &done, MPI_STATUS_IGNORE);
    }
    left[i] = now();
  }
  tell(names[how], how == 1 ? lower : how == 2 ? beside : everybody);
  MPI_Comm_free(&cart);
}

static void fences(void) {
  MPI_Win window;
  MPI_Win_create(buffer, large, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
  for (int i = 0; i < rounds; i++) {
    work();
    other[i] = entered[i] = now();
    MPI_Win_fence(0, window);
    left[i] = now();
  }
  tell("fence", everybody);
  MPI_Win_free(&window);
}

// Even ranks put into the next one, which posts late in even rounds and is ready early in odd ones.
static void post_and_wait(void) {
  double complete_entered[most_rounds], complete_left[most_rounds];
  MPI_Win window;
  MPI_Group world, partner;
  const int with = rank ^ 1;
  MPI_Win_create(buffer, large, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
  MPI_Comm_group(MPI_COMM_WORLD, &world);
  MPI_Group_incl(world, 1, &with, &partner);
  double posts[most_rounds];
  for (int i = 0; i < rounds; i++) {
    work();
    if (rank % 2 == 0) {
      if (i % 2 == 1) work();
      entered[i] = now();
      MPI_Win_start(partner, 0, window);
      left[i] = now();
      MPI_Put(&i, sizeof i, MPI_CHAR, with, 0, sizeof i, MPI_CHAR, window);
      if (i % 2 == 1) usleep(15000);
      complete_entered[i] = other[i] = now();
      MPI_Win_complete(window);
      complete_left[i] = now();
    } else {
      if (i % 2 == 0) usleep(15000);
      posts[i] = now();
      MPI_Win_post(partner, 0, window);
      entered[i] = now();
      MPI_Win_wait(window);
      left[i] = now();
    }
  }
  MPI_Group_free(&partner);
  MPI_Group_free(&world);
  tell("late_complete", even_partner);
  // Late posts: in Start, or in Complete.
  for (int i = 0; rank % 2 == 1 && i < rounds; i++) other[i] = posts[i];
  double* all = all_lists();
  double sum = 0;
  if (rank % 2 == 0)
    for (int i = 0; i < rounds; i++) {
      const double post = all[(3 * (rank + 1) + 2) * rounds + i];
      if (post <= left[i]) sum += clipped(post, entered[i], left[i]);
      else if (post <= complete_left[i]) sum += clipped(post, complete_entered[i], complete_left[i]);
    }
  free(all);
  double total = 0;
  MPI_Allreduce(&sum, &total, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0) printf("late_post %.9f\n", total);
  MPI_Win_free(&window);
}

static void locks(void) {
  MPI_Win window;
  MPI_Win_create(buffer, large, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
  double put_left[most_rounds];
  for (int i = 0; i < rounds; i++) {
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank > 1) {  // all of these want the lock of rank 0 at once
      entered[i] = now();
      MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, window);
      MPI_Put(&i, sizeof i, MPI_CHAR, 0, 0, sizeof i, MPI_CHAR, window);
      MPI_Win_flush(0, window);
      put_left[i] = now();
      work();
      other[i] = now();
      MPI_Win_unlock(0, window);
    }
    MPI_Barrier(MPI_COMM_WORLD);
  }
  for (int i = 0; i < rounds; i++) left[i] = rank > 1 ? put_left[i] : 0;
  // Of those who had to wait: until the last unlock before they had it.
  double* all = all_lists();
  double sum = 0;
  for (int i = 0; rank > 1 && i < rounds; i++) {
    double last = 0;
    for (int b = 2; b < size; b++) {
      const double unlocked = all[(3 * b + 2) * rounds + i];
      if (b != rank && unlocked > entered[i] && unlocked <= left[i] && unlocked > last) last = unlocked;
    }
    if (last > 0) sum += last - entered[i];
  }
  free(all);
  double total = 0;
  MPI_Allreduce(&sum, &total, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0) printf("lock %.9f\n", total);
  MPI_Win_free(&window);
}

static void files(const char* path) {
  MPI_File file;
  REQUIRE(MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_CREATE | MPI_MODE_WRONLY | MPI_MODE_DELETE_ON_CLOSE,
                        MPI_INFO_NULL, &file) == MPI_SUCCESS);
  for (int i = 0; i < rounds; i++) {
    work();
    other[i] = entered[i] = now();
    MPI_File_set_size(file, 4096);
    left[i] = now();
  }
  tell("file", everybody);
  MPI_File_close(&file);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  rounds = (int)argument(argc, argv, 1, 15);
  REQUIRE(size % 2 == 0 && rounds <= most_rounds);
  state = (uint64_t)argument(argc, argv, 2, 1) * 1000003u + (uint64_t)rank;
  buffer = calloc(large, 1);
  REQUIRE(buffer != NULL);
  late_receivers();
  for (int how = 0; how < 5; how++) late_senders(how);
  for (int how = 0; how < 4; how++) collectives(how);
  fences();
  post_and_wait();
  locks();
  if (argc > 3) files(argv[3]);
  free(buffer);
  MPI_Finalize();
  return 0;
}
