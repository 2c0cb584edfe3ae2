// The communication of NPB's conjugate gradient on a two-level grid, without its arithmetic: per inner iteration a
// vector and two scalars are summed over the row by recursive halving of distances, and one vector goes to the
// transpose partner.
// Arguments: iterations (100), bytes per vector (1024, a multiple of 8), pause per iteration in microseconds (0); and
// for a delayed link: row, first and last iteration, sleep in microseconds. In these iterations the row's first rank
// sleeps before it sends its first vector to its first partner, a growing part of that sleep up to the whole.
// until=FILE. Ranks: a power of two, n = nprows * npcols with npcols = nprows or 2 * nprows; row = me / npcols. On
// paper: with l = log2(npcols) every rank sends 3 * l + 1 messages per iteration (the transpose partner of a diagonal
// rank is itself): l of `bytes` (tag 1), 1 of `bytes` (tag 2), 2 * l of 8 bytes (tag 3). messages = n * (3 * l + 1) *
// iterations. The regions are the nprows rows.
#include "answer.h"

// Sends to the partner and receives from it, as CG does: receive posted, blocking send, wait.
static void exchange(const void* out, void* in, int bytes, int partner, int tag) {
  MPI_Request request;
  MPI_Status status;
  MPI_Irecv(in, bytes, MPI_BYTE, partner, tag, MPI_COMM_WORLD, &request);
  MPI_Send(out, bytes, MPI_BYTE, partner, tag, MPI_COMM_WORLD);
  MPI_Wait(&request, &status);
  REQUIRE(status.MPI_SOURCE == partner && status.MPI_TAG == tag);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const char* until = take_until(&argc, argv);
  const long most = argument(argc, argv, 1, 100);
  const int bytes = (int)argument(argc, argv, 2, 1024);
  const long pause_us = argument(argc, argv, 3, 0);
  const long slow_row = argument(argc, argv, 4, -1), slow_first = argument(argc, argv, 5, 0);
  const long slow_last = argument(argc, argv, 6, 0), slow_us = argument(argc, argv, 7, 0);
  int size, me;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm_rank(MPI_COMM_WORLD, &me);
  REQUIRE((size & (size - 1)) == 0 && bytes % 8 == 0 && bytes > 0);
  int nprows = 1;
  while (nprows * nprows * 4 <= size) nprows *= 2;
  const int npcols = size / nprows, row = me / npcols, col = me % npcols;
  const int transpose = npcols == nprows ? (me % nprows) * nprows + me / nprows
                                         : 2 * ((me / 2 % nprows) * nprows + me / 2 / nprows) + me % 2;

  const int words = bytes / 8;
  int64_t* mine = malloc((size_t)bytes);
  int64_t* other = malloc((size_t)bytes);
  uint64_t messages = 0, checksum = 0;
  long iterations = 0;
  for (; iterations < most && !is_told_to_end(until); iterations++) {
    const long iteration = iterations;
    int64_t scalar[2] = {me, me + iteration};
    for (int i = 0; i < words; i++) mine[i] = me + i + iteration;
    if (row == slow_row && col == 0 && iteration >= slow_first && iteration <= slow_last)
      usleep((useconds_t)(slow_us * (iteration - slow_first + 1) / (slow_last - slow_first + 1)));
    for (int d = npcols; d >= 2; d /= 2, messages++) {
      exchange(mine, other, bytes, row * npcols + (col + d / 2) % d + col / d * d, 1);
      for (int i = 0; i < words; i++) mine[i] += other[i];
    }
    exchange(mine, other, bytes, transpose, 2);
    messages++;
    for (int s = 0; s < 2; s++)
      for (int d = npcols; d >= 2; d /= 2, messages++) {
        int64_t theirs;
        exchange(&scalar[s], &theirs, 8, row * npcols + (col + d / 2) % d + col / d * d, 3);
        scalar[s] += theirs;
      }
    // The sum of row r over its columns: npcols * r * npcols + 0 + 1 + .. + (npcols - 1).
    const int64_t sum = (int64_t)npcols * row * npcols + (int64_t)npcols * (npcols - 1) / 2;
    const int their_row = transpose / npcols;
    const int64_t theirs = (int64_t)npcols * their_row * npcols + (int64_t)npcols * (npcols - 1) / 2;
    for (int i = 0; i < words; i++) {
      REQUIRE(mine[i] == sum + npcols * (i + iteration));
      REQUIRE(other[i] == theirs + npcols * (i + iteration));
    }
    REQUIRE(scalar[0] == sum && scalar[1] == sum + npcols * iteration);
    checksum += mix((uint64_t)(mine[words - 1] + other[0]));
    if (pause_us > 0) usleep((useconds_t)pause_us);
  }
  messages = sum_over_ranks(messages);
  checksum = sum_over_ranks(checksum);
  if (me == 0)
    printf("cg_pattern: rows %d columns %d iterations %ld messages %llu checksum %016llx\n", nprows, npcols, iterations,
           (unsigned long long)messages, (unsigned long long)checksum);
  free(other);
  free(mine);
  MPI_Finalize();
  return 0;
}
