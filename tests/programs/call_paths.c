// Two layers of wrappers: every call of MPI stands in layer_send, layer_receive or layer_sum; they are called by
// transfer and total, and those by the steps. Arguments: rounds (10), sleep in microseconds (20000); and for an
// outlier: a round, from 0, and the microseconds that rank 0 sleeps more there. On paper, per round and pair of ranks:
// step_a one transfer, step_b two, recurse three (each one deeper), and one total from step_c and from step_d each; the
// sender sleeps before the first transfer of step_b.
#include <unistd.h>

#include "answer.h"

#define LAYER __attribute__((noinline, noclone))
static int rank;
static char data[64];
static volatile int done;  // after a call: none of them is the last thing a function does

LAYER static void layer_send(int to) {
  MPI_Send(data, sizeof data, MPI_BYTE, to, 1, MPI_COMM_WORLD);  // site: send
  done++;
}
LAYER static void layer_receive(int from) {
  MPI_Recv(data, sizeof data, MPI_BYTE, from, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);  // site: receive
  done++;
}
LAYER static void layer_sum(const double* in, double* out) {
  MPI_Allreduce(in, out, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);  // site: sum
  done++;
}
LAYER static void transfer(void) {
  if (rank % 2 == 0) layer_send(rank + 1);
  else layer_receive(rank - 1);
  done++;
}
LAYER static double total(double value) {
  double sum;
  layer_sum(&value, &sum);
  done++;
  return sum;
}
LAYER static void step_a(void) {
  transfer();  // site: step_a
  done++;
}
LAYER static void step_b(useconds_t sleep_us) {
  if (rank % 2 == 0) usleep(sleep_us);
  transfer();  // site: step_b late
  transfer();  // site: step_b
  done++;
}
LAYER static double step_c(void) {
  const double sum = total(1);  // site: step_c
  done++;
  return sum;
}
LAYER static double step_d(void) {
  char local[200];
  memset(local, rank, sizeof local);
  const double sum = total(2) + 0 * local[done & 127];  // site: step_d
  done++;
  return sum;
}
LAYER static double step_e(void) {
  const double sum = total(3);  // site: step_e
  done++;
  return sum;
}
LAYER static void recurse(int depth) {
  transfer();                         // site: recurse
  if (depth > 1) recurse(depth - 1);  // site: deeper
  done++;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const long rounds = argument(argc, argv, 1, 10);
  const useconds_t usual_us = (useconds_t)argument(argc, argv, 2, 20000);
  int size;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  REQUIRE(size % 2 == 0);
  const long outlier = argument(argc, argv, 3, -1);
  const useconds_t longer_us = (useconds_t)argument(argc, argv, 4, 0);
  for (long i = 0; i < rounds; i++) {
    const useconds_t sleep_us = i == outlier && rank == 0 ? usual_us + longer_us : usual_us;
    step_a();
    step_b(sleep_us);
    recurse(3);
    REQUIRE(step_c() == size && step_d() == 2 * size && step_e() == 3 * size);
  }
  if (rank == 0) printf("call_paths: pairs %d rounds %ld\n", size / 2, rounds);
  MPI_Finalize();
  return 0;
}
