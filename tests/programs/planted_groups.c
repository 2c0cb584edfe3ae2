// Groups of ranks that talk among themselves, and to the next group now and then without waiting for it: what goes
// wrong in one group stays there. Each iteration every rank exchanges with both neighbours of its group's ring; every
// 16th iteration the first rank of each group sends to the first of the next, whose receives were all posted at the
// begin. Arguments: iterations (200), ranks per group (4; one group when it does not divide the size), pause per
// iteration in microseconds (1000); and for a delay: the rank that computes longer, first and last iteration,
// microseconds. On paper: 2 * size messages of 1024 bytes per iteration (tag 1 upwards, 2 downwards), and iterations /
// 16 * groups of 64 bytes (tag 3). The regions are the groups. In these iterations the slow rank's neighbours wait for
// its sends.
#include <unistd.h>

#include "answer.h"

enum { bytes = 1024, every = 16 };

static void compute(long microseconds) {
  if (microseconds > 0) usleep((useconds_t)microseconds);
}

static void exchange_ring(const char* out, char* in, int up, int down) {
  MPI_Request requests[4];
  MPI_Irecv(in, bytes, MPI_BYTE, down, 1, MPI_COMM_WORLD, &requests[0]);
  MPI_Irecv(in + bytes, bytes, MPI_BYTE, up, 2, MPI_COMM_WORLD, &requests[1]);
  MPI_Isend(out, bytes, MPI_BYTE, up, 1, MPI_COMM_WORLD, &requests[2]);
  MPI_Isend(out, bytes, MPI_BYTE, down, 2, MPI_COMM_WORLD, &requests[3]);
  MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const long iterations = argument(argc, argv, 1, 200);
  int group_size = (int)argument(argc, argv, 2, 4);
  const long pause_us = argument(argc, argv, 3, 1000);
  const long slow_rank = argument(argc, argv, 4, -1), first = argument(argc, argv, 5, 0),
             last = argument(argc, argv, 6, -1);
  const long slow_us = argument(argc, argv, 7, 0);
  int size, me;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm_rank(MPI_COMM_WORLD, &me);
  if (group_size < 1 || size % group_size != 0) group_size = size;
  const int groups = size / group_size, group = me / group_size, place = me % group_size, base = group * group_size;
  const int up = base + (place + 1) % group_size, down = base + (place + group_size - 1) % group_size;
  const int next = (group + 1) % groups * group_size, before = (group + groups - 1) % groups * group_size;

  char* out = calloc(1, bytes);
  char* in = calloc(2, bytes);
  const int notes = place == 0 && groups > 1 ? (int)(iterations / every) : 0;
  char note[64] = {0};
  char* news = malloc((size_t)notes * sizeof note + 1);
  MPI_Request* requests = malloc((size_t)(2 * notes + 1) * sizeof *requests);
  for (int k = 0; k < notes; k++)
    MPI_Irecv(news + (size_t)k * sizeof note, sizeof note, MPI_BYTE, before, 3, MPI_COMM_WORLD, &requests[notes + k]);
  uint64_t messages = 0, sum = 0;
  for (long i = 0; i < iterations; i++) {
    compute(pause_us);
    if (me == slow_rank && i >= first && i <= last) compute(slow_us);
    out[0] = (char)(i & 63);
    exchange_ring(out, in, up, down);
    REQUIRE(in[0] == out[0] && in[bytes] == out[0]);
    messages += 2;
    sum += (uint64_t)in[0];
    if (notes == 0 || i % every != every - 1) continue;
    MPI_Isend(note, sizeof note, MPI_BYTE, next, 3, MPI_COMM_WORLD, &requests[i / every]);
    messages++;
  }
  MPI_Waitall(2 * notes, requests, MPI_STATUSES_IGNORE);
  uint64_t all[2], mine[2] = {messages, sum};
  MPI_Reduce(mine, all, 2, MPI_UINT64_T, MPI_SUM, 0, MPI_COMM_WORLD);
  if (me == 0)
    printf("planted_groups: groups %d messages %llu checksum %llx\n", groups, (unsigned long long)all[0],
           (unsigned long long)all[1]);
  free(out);
  free(in);
  free(news);
  free(requests);
  MPI_Finalize();
  return 0;
}
