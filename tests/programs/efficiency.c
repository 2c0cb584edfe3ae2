// Six programs whose efficiencies are known on paper; work is sleep. Each rank notes how long it was outside MPI before
// each of its calls, so that the paper's numbers hold on a busy machine, where a sleep takes longer. Arguments: kind
// (0), work W in milliseconds (2), rounds N (3), megabytes M of a large message (1), directory of the notes (none).
//
// | kind | what | on paper, P ranks (transfer of small messages: none) |
// |---|---|---|
// | 0 balanced | W, Barrier | all 100 % |
// | 1 double | rank P-1 works 2 W, Barrier | balance (P + 1) / (2 P), rest 100 % |
// | 2 token | each works W in turn | balance 100 %, serialisation 1 / P |
// | 3 chain | receive from the left, W, send to the right | balance 100 %, serialisation N / (N + P - 1) |
// | 4 transfer | W, then even ranks send M to the next odd one | serialisation 100 %, transfer W / (W + time of M) |
// | 5 mixture | the chain with M and with 2 W on rank 1, Barrier every round | by the notes |
//
// Notes: a file per rank; "run BEGIN END" (CLOCK_MONOTONIC, ns: MPI_Init had returned, MPI_Finalize not begun), and a
// line for each call in order: how many ns the rank was outside MPI before it, what ("barrier", "send", "recv", "end"),
// the other rank (-1), and whether it is large.
#include <errno.h>
#include <time.h>

#include "answer.h"

enum { most_notes = 1 << 16 };

static struct {
  int64_t outside_ns;
  const char* what;
  int peer, large;
} notes[most_notes];
static int note_count;
static int64_t begin_ns, returned_ns;
static char* buffer;
static int large_bytes;

static int64_t now_ns(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static void work(long ms) {
  struct timespec left = {ms / 1000, ms % 1000 * 1000000};
  while (nanosleep(&left, &left) != 0 && errno == EINTR) continue;
}

static void note(const char* what, int peer, int large) {
  REQUIRE(note_count < most_notes);
  notes[note_count].outside_ns = now_ns() - returned_ns;
  notes[note_count].what = what;
  notes[note_count].peer = peer;
  notes[note_count++].large = large;
}

static void barrier(void) {
  note("barrier", -1, 0);
  MPI_Barrier(MPI_COMM_WORLD);
  returned_ns = now_ns();
}

static void send_to(int peer, int large) {
  note("send", peer, large);
  MPI_Send(buffer, large ? large_bytes : 8, MPI_BYTE, peer, large, MPI_COMM_WORLD);
  returned_ns = now_ns();
}

static void receive_from(int peer, int large) {
  note("recv", peer, large);
  MPI_Recv(buffer, large ? large_bytes : 8, MPI_BYTE, peer, large, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  returned_ns = now_ns();
}

static void one_round(int kind, int me, int size, long work_ms) {
  if (kind == 0 || kind == 1) {
    work(kind == 1 && me == size - 1 ? 2 * work_ms : work_ms);
    barrier();
  } else if (kind == 2) {
    if (me > 0) receive_from(me - 1, 0);
    work(work_ms);
    if (size > 1) send_to((me + 1) % size, 0);
    if (me == 0 && size > 1) receive_from(size - 1, 0);
  } else if (kind == 4) {
    work(work_ms);
    if (me % 2 == 0 && me + 1 < size) send_to(me + 1, 1);
    if (me % 2 == 1) receive_from(me - 1, 1);
  } else {
    if (me > 0) receive_from(me - 1, kind == 5);
    work(kind == 5 && me == 1 ? 2 * work_ms : work_ms);
    if (me + 1 < size) send_to(me + 1, kind == 5);
    if (kind == 5) barrier();
  }
}

static void write_notes(const char* directory, int me, int64_t end_ns) {
  char path[4096];
  snprintf(path, sizeof path, "%s/rank-%d", directory, me);
  FILE* file = fopen(path, "w");
  REQUIRE(file != NULL);
  fprintf(file, "run %lld %lld\n", (long long)begin_ns, (long long)end_ns);
  for (int i = 0; i < note_count; i++)
    fprintf(file, "%lld %s %d %d\n", (long long)notes[i].outside_ns, notes[i].what, notes[i].peer, notes[i].large);
  REQUIRE(fclose(file) == 0);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  begin_ns = returned_ns = now_ns();
  const int kind = (int)argument(argc, argv, 1, 0);
  const long work_ms = argument(argc, argv, 2, 2), rounds = argument(argc, argv, 3, 3);
  const char* directory = argc > 5 ? argv[5] : NULL;
  large_bytes = (int)(argument(argc, argv, 4, 1) << 20);
  REQUIRE(kind >= 0 && kind < 6 && large_bytes > 0);
  int size, me;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm_rank(MPI_COMM_WORLD, &me);
  buffer = malloc((size_t)large_bytes);
  REQUIRE(buffer != NULL);
  memset(buffer, 1, (size_t)large_bytes);  // its pages are there before it is measured
  barrier();
  for (long i = 0; i < rounds; i++) one_round(kind, me, size, work_ms);
  if (me == 0) printf("efficiency: kind %d of 6, %ld rounds\n", kind, rounds);
  fflush(stdout);
  free(buffer);
  note("end", -1, 0);
  const int64_t end_ns = now_ns();
  MPI_Finalize();
  if (directory != NULL) write_notes(directory, me, end_ns);
  return 0;
}
