// Times MPI calls whose own cost is small or known. One case per run; each checks its result.
//   calls CASE [COUNT]
// Prints the wall time, the processor time of rank 0, which other load on the machine disturbs less, its resident
// memory in KiB, and how many calls were timed (ends: only times). What is timed is inside measured(): see run.py.
//     stamps     1 rank   two time stamps, without MPI                       ns per pair
//     null       1 rank   COUNT Send and COUNT Recv with MPI_PROC_NULL       ns per call
//     barrier    1 rank   COUNT Barrier on MPI_COMM_SELF                     ns per call
//     control_off  1 rank  the same after MPI_Pcontrol(0)                    ns per call
//     self_off   1 rank   `self` after MPI_Pcontrol(0)                       ns per call
//     self       1 rank   COUNT messages to itself: Isend, Recv, Wait        ns per call (3 per message)
//     pingpong   2 ranks  COUNT round trips of 8 bytes                       ns per half round trip
//     halo       2 ranks  COUNT exchanges: 6 Irecv, 6 Isend of 1 KiB, Waitall   ns per exchange
//     posted8    1 rank   8 receives posted, then sent to and completed, COUNT times      ns per call
//     posted     1 rank   the same with 1e5 receives
//     exchange8  1 rank   8 Irecv and 8 Isend to itself, Waitall, COUNT times    ns per call (17 each)
//     persistent 1 rank   Startall and Waitall of a send to itself and its receive   ns per call
//     persistent8  1 rank  the same with 8 of each                           ns per call
//     test_vain  1 rank   Test of a receive whose message does not come      ns per call
//     test_done  1 rank   Irecv, Send to itself, Test: complete at once      ns per call
//     iprobe_vain   1 rank   Iprobe, nothing there                           ns per call
//     iprobe_found  1 rank   Iprobe of a message that lies there             ns per call
//     ends       any      MPI_Init and MPI_Finalize                          ns, of all ranks the longest
#define _GNU_SOURCE
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static int rank, size;
static long made;  // calls that were timed

static void require(int truth, const char* what) {
  if (truth) return;
  fprintf(stderr, "calls: wrong result: %s\n", what);
  MPI_Abort(MPI_COMM_WORLD, 1);
}

static double per_call(double start, long calls) {
  const double took = MPI_Wtime() - start;
  made = calls;
  return took / (double)calls;
}

static double stamps_case(long count) {
  unsigned long long inside = 0;
  const double start = MPI_Wtime();
  for (long i = 0; i < count; i++) {
    const unsigned long long begin = __builtin_ia32_rdtsc();
    inside += __builtin_ia32_rdtsc() - begin;
  }
  require(inside > 0, "clock");
  return per_call(start, count);
}

static double null_case(long count) {
  char byte = 0;
  MPI_Status status;
  const double start = MPI_Wtime();
  for (long i = 0; i < count; i++) {
    MPI_Send(&byte, 1, MPI_BYTE, MPI_PROC_NULL, 0, MPI_COMM_WORLD);
    MPI_Recv(&byte, 1, MPI_BYTE, MPI_PROC_NULL, 0, MPI_COMM_WORLD, &status);
  }
  require(status.MPI_SOURCE == MPI_PROC_NULL, "source of nobody");
  return per_call(start, 2 * count);
}

static double barrier_case(long count) {
  const double start = MPI_Wtime();
  for (long i = 0; i < count; i++) MPI_Barrier(MPI_COMM_SELF);
  return per_call(start, count);
}

static double self_case(long count) {
  long out = 0, in = -1;
  MPI_Request request;
  const double start = MPI_Wtime();
  for (long i = 0; i < count; i++) {
    out = i;
    MPI_Isend(&out, sizeof out, MPI_BYTE, 0, 1, MPI_COMM_WORLD, &request);
    MPI_Recv(&in, sizeof in, MPI_BYTE, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
  require(in == count - 1, "last message to itself");
  return per_call(start, 3 * count);
}

static double control_off_case(long count) {
  MPI_Pcontrol(0);
  return null_case(count);
}
static double self_off_case(long count) {
  MPI_Pcontrol(0);
  return self_case(count);
}

static double pingpong_case(long count) {
  long value = 0;
  const double start = MPI_Wtime();
  for (long i = 0; i < count; i++) {
    if (rank == 0) {
      MPI_Send(&value, sizeof value, MPI_BYTE, 1, 2, MPI_COMM_WORLD);
      MPI_Recv(&value, sizeof value, MPI_BYTE, 1, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else {
      MPI_Recv(&value, sizeof value, MPI_BYTE, 0, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      value++;
      MPI_Send(&value, sizeof value, MPI_BYTE, 0, 2, MPI_COMM_WORLD);
    }
  }
  require(value == count, "round trips");
  return per_call(start, 2 * count);
}

static double halo_case(long count) {
  static long out[6][128], in[6][128];
  MPI_Request requests[12];
  const int other = 1 - rank;
  MPI_Barrier(MPI_COMM_WORLD);
  const double start = MPI_Wtime();
  for (long i = 0; i < count; i++) {
    for (int side = 0; side < 6; side++) {
      out[side][0] = i + side;
      MPI_Irecv(in[side], sizeof in[side], MPI_BYTE, other, side, MPI_COMM_WORLD, &requests[side]);
    }
    for (int side = 0; side < 6; side++)
      MPI_Isend(out[side], sizeof out[side], MPI_BYTE, other, side, MPI_COMM_WORLD, &requests[6 + side]);
    MPI_Waitall(12, requests, MPI_STATUSES_IGNORE);
  }
  for (int side = 0; side < 6; side++) require(in[side][0] == count - 1 + side, "halo");
  return per_call(start, count);
}

static double posted(long count, int outstanding) {
  static MPI_Request requests[100000];
  static int in[100000];
  double total = 0;
  for (long i = 0; i < count; i++) {
    const double start = MPI_Wtime();
    for (int k = 0; k < outstanding; k++) MPI_Irecv(&in[k], 1, MPI_INT, 0, 3, MPI_COMM_WORLD, &requests[k]);
    for (int k = 0; k < outstanding; k++) MPI_Send(&k, 1, MPI_INT, 0, 3, MPI_COMM_WORLD);
    for (int k = 0; k < outstanding; k++) MPI_Wait(&requests[k], MPI_STATUS_IGNORE);
    total += MPI_Wtime() - start;
    for (int k = 0; k < outstanding; k++) require(in[k] == k, "order of posted receives");
  }
  made = 3 * outstanding * count;
  return total / (double)made;
}
static double posted8_case(long count) { return posted(count, 8); }
static double posted_case(long count) { return posted(count, 100000); }

static double exchange8_case(long count) {
  long in[8] = {0}, out[8];
  MPI_Request requests[16];
  const double start = MPI_Wtime();
  for (long i = 0; i < count; i++) {
    for (int k = 0; k < 8; k++) {
      out[k] = i + k;
      MPI_Irecv(&in[k], sizeof in[k], MPI_BYTE, 0, k, MPI_COMM_WORLD, &requests[k]);
    }
    for (int k = 0; k < 8; k++) MPI_Isend(&out[k], sizeof out[k], MPI_BYTE, 0, k, MPI_COMM_WORLD, &requests[8 + k]);
    MPI_Waitall(16, requests, MPI_STATUSES_IGNORE);
  }
  for (int k = 0; k < 8; k++) require(in[k] == count - 1 + k, "exchange");
  return per_call(start, 17 * count);
}

static double persistent(long count, int pairs) {
  long in[8] = {0}, out[8];
  MPI_Request requests[16];
  for (int k = 0; k < pairs; k++) {
    MPI_Recv_init(&in[k], sizeof in[k], MPI_BYTE, 0, k, MPI_COMM_WORLD, &requests[k]);
    MPI_Send_init(&out[k], sizeof out[k], MPI_BYTE, 0, k, MPI_COMM_WORLD, &requests[pairs + k]);
  }
  const double start = MPI_Wtime();
  for (long i = 0; i < count; i++) {
    for (int k = 0; k < pairs; k++) out[k] = i + k;
    MPI_Startall(2 * pairs, requests);
    MPI_Waitall(2 * pairs, requests, MPI_STATUSES_IGNORE);
  }
  const double each = per_call(start, 2 * count);
  for (int k = 0; k < pairs; k++) require(in[k] == count - 1 + k, "persistent requests");
  for (int k = 0; k < 2 * pairs; k++) MPI_Request_free(&requests[k]);
  return each;
}
static double persistent_case(long count) { return persistent(count, 1); }
static double persistent8_case(long count) { return persistent(count, 8); }

static double test_vain_case(long count) {
  int in = 0, out = 7, done = 0, found = 0;
  MPI_Request request;
  MPI_Irecv(&in, 1, MPI_INT, 0, 4, MPI_COMM_WORLD, &request);
  const double start = MPI_Wtime();
  for (long i = 0; i < count; i++) {
    MPI_Test(&request, &done, MPI_STATUS_IGNORE);
    found += done;
  }
  const double each = per_call(start, count);
  MPI_Send(&out, 1, MPI_INT, 0, 4, MPI_COMM_WORLD);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  require(found == 0 && in == 7, "tests in vain");
  return each;
}

static double test_done_case(long count) {
  long in = -1, found = 0;
  MPI_Request request;
  const double start = MPI_Wtime();
  for (long i = 0; i < count; i++) {
    int done = 0;
    MPI_Irecv(&in, sizeof in, MPI_BYTE, 0, 5, MPI_COMM_WORLD, &request);
    MPI_Send(&i, sizeof i, MPI_BYTE, 0, 5, MPI_COMM_WORLD);
    MPI_Test(&request, &done, MPI_STATUS_IGNORE);
    found += done;
  }
  require(found == count && in == count - 1, "tests");
  return per_call(start, 3 * count);
}

static double iprobe_vain_case(long count) {
  int found = 0, all = 0;
  const double start = MPI_Wtime();
  for (long i = 0; i < count; i++) {
    MPI_Iprobe(0, 6, MPI_COMM_WORLD, &found, MPI_STATUS_IGNORE);
    all += found;
  }
  require(all == 0, "probes in vain");
  return per_call(start, count);
}

static double iprobe_found_case(long count) {
  int in = 0, out = 9, found = 0;
  long all = 0;
  MPI_Request request;  // MPICH's MPI_Send would wait for the receive
  MPI_Isend(&out, 1, MPI_INT, 0, 6, MPI_COMM_WORLD, &request);
  const double start = MPI_Wtime();
  for (long i = 0; i < count; i++) {
    MPI_Iprobe(0, 6, MPI_COMM_WORLD, &found, MPI_STATUS_IGNORE);
    all += found;
  }
  const double each = per_call(start, count);
  MPI_Recv(&in, 1, MPI_INT, 0, 6, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  require(all == count && in == 9, "probes");
  return each;
}

static double seconds_of(clockid_t clock) {
  struct timespec t;
  clock_gettime(clock, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static long resident_kib(void) {
  char line[256];
  long kib = 0;
  FILE* status = fopen("/proc/self/status", "r");
  require(status != NULL, "/proc/self/status");
  while (fgets(line, sizeof line, status)) sscanf(line, "VmRSS: %ld", &kib);
  fclose(status);
  return kib;
}

// Init and Finalize by themselves: from the first rank in to the last rank out.
static int ends(int argc, char** argv) {
  const double start = seconds_of(CLOCK_MONOTONIC);
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const double began = seconds_of(CLOCK_MONOTONIC);
  double took = began - start, longest = 0;
  MPI_Reduce(&took, &longest, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
  MPI_Barrier(MPI_COMM_WORLD);
  const double finish = seconds_of(CLOCK_MONOTONIC);
  MPI_Finalize();
  if (rank == 0) printf("%.0f %.0f\n", 1e9 * longest, 1e9 * (seconds_of(CLOCK_MONOTONIC) - finish));
  return 0;
}

// For tools that count instructions of one function and what it calls.
__attribute__((noinline)) double measured(double (*run)(long), long count) {
  const double result = run(count);
  __asm__ volatile("");  // no jump in place of the call
  return result;
}

int main(int argc, char** argv) {
  if (argc > 1 && strcmp(argv[1], "ends") == 0) return ends(argc, argv);
  const struct {
    const char* name;
    int ranks;
    long count;
    double (*run)(long);
  } cases[] = {{"null", 1, 5000000, null_case},
               {"control_off", 1, 5000000, control_off_case},
               {"self_off", 1, 2000000, self_off_case},
               {"self", 1, 2000000, self_case},
               {"pingpong", 2, 300000, pingpong_case},
               {"halo", 2, 60000, halo_case},
               {"posted8", 1, 200000, posted8_case},
               {"posted", 1, 10, posted_case},
               {"stamps", 1, 10000000, stamps_case},
               {"barrier", 1, 5000000, barrier_case},
               {"exchange8", 1, 200000, exchange8_case},
               {"persistent", 1, 1000000, persistent_case},
               {"persistent8", 1, 200000, persistent8_case},
               {"test_vain", 1, 2000000, test_vain_case},
               {"test_done", 1, 1000000, test_done_case},
               {"iprobe_vain", 1, 2000000, iprobe_vain_case},
               {"iprobe_found", 1, 2000000, iprobe_found_case}};
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  for (unsigned i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    if (argc < 2 || strcmp(argv[1], cases[i].name) != 0) continue;
    require(size == cases[i].ranks, "number of ranks");
    const long count = argc > 2 ? atol(argv[2]) : cases[i].count;
    cases[i].run(count / 20 + 1);  // warm
    const double wall = seconds_of(CLOCK_MONOTONIC), processor = seconds_of(CLOCK_PROCESS_CPUTIME_ID);
    const double seconds = measured(cases[i].run, count);
    const double share = (seconds_of(CLOCK_PROCESS_CPUTIME_ID) - processor) / (seconds_of(CLOCK_MONOTONIC) - wall);
    if (rank == 0) printf("%.3f %.3f %ld %ld\n", 1e9 * seconds, 1e9 * seconds * share, resident_kib(), made);
    MPI_Finalize();
    return 0;
  }
  require(0, "unknown case");
}
