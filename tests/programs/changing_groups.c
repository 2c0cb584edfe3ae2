// The pattern of communication changes twice: every rank exchanges with all of its group of four, then with all ranks
// of its parity, then with one partner (rank ^ 1). Ranks: a multiple of 4. Arguments: iterations of the first phase
// (400), of which the second has three times and the third twice as many; pause per iteration in microseconds (2000);
// perhaps until=FILE: the third goes on until it is there, with pauses that are 25 times as long.
// On paper: 64 bytes per message, tag 1 + phase; each rank sends its partners one message per iteration.
#include "answer.h"

enum { bytes = 64 };

static uint64_t exchange(int me, int size, int phase, char* in, const char* out, MPI_Request* requests) {
  int count = 0;
  uint64_t sent = 0;
  for (int other = 0; other < size; other++) {
    const int partner = phase == 0 ? other / 4 == me / 4 : phase == 1 ? other % 2 == me % 2 : other == (me ^ 1);
    if (other == me || !partner) continue;
    MPI_Irecv(in + (size_t)other * bytes, bytes, MPI_BYTE, other, 1 + phase, MPI_COMM_WORLD, &requests[count++]);
    MPI_Isend(out, bytes, MPI_BYTE, other, 1 + phase, MPI_COMM_WORLD, &requests[count++]);
    sent++;
  }
  MPI_Waitall(count, requests, MPI_STATUSES_IGNORE);
  return sent;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const char* until = take_until(&argc, argv);
  const long unit = argument(argc, argv, 1, 400), pause_us = argument(argc, argv, 2, 2000);
  const long iterations[3] = {unit, 3 * unit, 2 * unit};
  int size, me;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm_rank(MPI_COMM_WORLD, &me);
  REQUIRE(size % 4 == 0);
  char* in = calloc((size_t)size, bytes);
  char out[bytes] = {0};
  MPI_Request* requests = malloc(2 * (size_t)size * sizeof *requests);
  uint64_t messages = 0, all = 0;
  for (int phase = 0; phase < 3; phase++)
    for (long i = 0; i < iterations[phase] || (phase == 2 && until != NULL && !is_told_to_end(until)); i++) {
      messages += exchange(me, size, phase, in, out, requests);
      if (pause_us > 0) usleep((useconds_t)(i < iterations[phase] ? pause_us : 25 * pause_us));
    }
  MPI_Reduce(&messages, &all, 1, MPI_UINT64_T, MPI_SUM, 0, MPI_COMM_WORLD);
  if (me == 0) printf("changing_groups: messages %llu\n", (unsigned long long)all);
  free(in);
  free(requests);
  MPI_Finalize();
  return 0;
}
