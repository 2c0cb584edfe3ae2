// Programs whose pace is known, for run.py. One case per run; each checks its result.
//   steps rate PER_SECOND SECONDS  messages of the whole job, in turns once per millisecond: exchanges of 8 bytes in
//                                  pairs of ranks (Irecv, Isend, Waitall); 0: none at all
//   steps halo COUNT BYTES         such exchanges as fast as they go
//   steps pingpong COUNT           round trips of 8 bytes, in pairs
//   steps amount MICROSECONDS      how much work (for bulk) a rank does in that time, when nobody disturbs it
//   steps bulk COUNT WORK          COUNT times that much work, then an Allreduce of 8 bytes
// Rank 0 prints the seconds that it took and the messages of the whole job. A rate that cannot be held takes longer.
#define _GNU_SOURCE
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static int rank, size, partner;

static void require(int truth, const char* what) {
  if (truth) return;
  fprintf(stderr, "steps: wrong result: %s\n", what);
  MPI_Abort(MPI_COMM_WORLD, 1);
}

static void exchange(char* out, char* in, long bytes, long number) {
  MPI_Request requests[2];
  memcpy(out, &number, sizeof number);
  MPI_Irecv(in, (int)bytes, MPI_BYTE, partner, 1, MPI_COMM_WORLD, &requests[0]);
  MPI_Isend(out, (int)bytes, MPI_BYTE, partner, 1, MPI_COMM_WORLD, &requests[1]);
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  long came = -1;
  memcpy(&came, in, sizeof came);
  require(came == number, "an exchange");
}

// Exchanges are owed by the time that has passed: a late millisecond is caught up with.
static long rate_case(long per_second, long seconds) {
  char out[sizeof(long)], in[sizeof(long)];
  const long turns = seconds * 1000, all = per_second / size * seconds;
  struct timespec at;
  clock_gettime(CLOCK_MONOTONIC, &at);
  long done = 0;
  for (long turn = 1; turn <= turns; turn++) {
    at.tv_nsec += 1000000;
    if (at.tv_nsec >= 1000000000) at.tv_sec++, at.tv_nsec -= 1000000000;
    clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, NULL);
    for (; done < all * turn / turns; done++) exchange(out, in, sizeof out, done);
  }
  return done * size;
}

static long halo_case(long count, long bytes) {
  char *out = calloc(1, (size_t)bytes + sizeof(long)), *in = calloc(1, (size_t)bytes + sizeof(long));
  for (long i = 0; i < count; i++) exchange(out, in, bytes < 8 ? 8 : bytes, i);
  free(in);
  free(out);
  return count * size;
}

static long pingpong_case(long count, long ignored) {
  (void)ignored;
  long value = 0;
  for (long i = 0; i < count; i++) {
    if (rank % 2 == 0) {
      MPI_Send(&value, sizeof value, MPI_BYTE, partner, 2, MPI_COMM_WORLD);
      MPI_Recv(&value, sizeof value, MPI_BYTE, partner, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else {
      MPI_Recv(&value, sizeof value, MPI_BYTE, partner, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      value++;
      MPI_Send(&value, sizeof value, MPI_BYTE, partner, 2, MPI_COMM_WORLD);
    }
  }
  require(value == count, "round trips");
  return count * size;
}

static void work(long amount) {
  static volatile double result;
  double sum = result;
  for (long i = 0; i < amount; i++) sum += 1.0 / (1.0 + sum * sum);
  result = sum > 1e9 ? 0 : sum;
}

static long amount_case(long microseconds, long ignored) {
  (void)ignored;
  const long sample = 20000;
  double shortest = 1;
  for (int i = 0; i < 2000; i++) {
    const double begin = MPI_Wtime();
    work(sample);
    const double took = MPI_Wtime() - begin;
    if (took < shortest) shortest = took;
  }
  return (long)((double)sample * (double)microseconds * 1e-6 / shortest);
}

static long bulk_case(long count, long amount) {
  long all = 0;
  for (long i = 0; i < count; i++) {
    work(amount);
    MPI_Allreduce(&i, &all, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    require(all == i * size, "a sum");
  }
  return 0;
}

int main(int argc, char** argv) {
  static const struct {
    const char* name;
    long (*run)(long, long);
  } cases[] = {{"rate", rate_case},
               {"halo", halo_case},
               {"pingpong", pingpong_case},
               {"amount", amount_case},
               {"bulk", bulk_case}};
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  partner = rank ^ 1;
  require(partner < size || (argc > 1 && !strcmp(argv[1], "amount")), "an even number of ranks");
  const long first = argc > 2 ? atol(argv[2]) : 0, second = argc > 3 ? atol(argv[3]) : 0;
  for (size_t i = 0; argc > 1 && i < sizeof cases / sizeof *cases; i++) {
    if (strcmp(argv[1], cases[i].name) != 0) continue;
    if (size > 1) MPI_Barrier(MPI_COMM_WORLD);
    const double begin = MPI_Wtime();
    const long result = cases[i].run(first, second);
    if (rank == 0) printf("%.6f %ld\n", MPI_Wtime() - begin, result);
    MPI_Finalize();
    return 0;
  }
  if (rank == 0) fprintf(stderr, "usage: steps rate|halo|pingpong|amount|bulk NUMBERS\n");
  MPI_Finalize();
  return 2;
}
