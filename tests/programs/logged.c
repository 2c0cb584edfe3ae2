// Every rank keeps a log of its own of what it sent and received, in a file that it maps: whatever kills it, the file
// has all up to then. Each rank exchanges messages with both neighbours of a ring, blocking and not; the k-th message
// of a channel has 1 + k % 4000 bytes. Arguments: directory of the logs, iterations (1000), seed (1), longest pause in
// microseconds (300).
// A log: three counters of 8 bytes (sends begun, sends returned, receives), then records of 16 bytes: two arrays, sends
// and receives: i64 time (CLOCK_REALTIME, ns, after the call returned), i32 peer, i32 k.
#include <fcntl.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <time.h>

#include "answer.h"

enum { largest = 4000, tag = 5 };
struct Record {
  int64_t time;
  int32_t peer, number;
};
struct Log {
  _Atomic uint64_t begun, sent, received;
};

static struct Log* counters;
static struct Record *sends, *receives;
static int next_send[2], next_receive[2];  // by direction: to the right, to the left

static int64_t now(void) {
  struct timespec t;
  clock_gettime(CLOCK_REALTIME, &t);
  return t.tv_sec * (int64_t)1000000000 + t.tv_nsec;
}

static void open_log(const char* directory, int rank, long messages) {
  char path[4096];
  snprintf(path, sizeof path, "%s/%d.log", directory, rank);
  const int file = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
  const size_t bytes = sizeof(struct Log) + 2 * (size_t)messages * sizeof(struct Record);
  REQUIRE(file >= 0 && ftruncate(file, (off_t)bytes) == 0);
  counters = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  REQUIRE(counters != MAP_FAILED);
  sends = (struct Record*)(counters + 1);
  receives = sends + messages;
}

static void note(_Atomic uint64_t* counter, struct Record* records, int peer, int number) {
  const uint64_t at = atomic_load(counter);
  records[at] = (struct Record){now(), peer, number};
  atomic_store(counter, at + 1);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank, size;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  REQUIRE(argc > 1 && size > 2);
  const long iterations = argument(argc, argv, 2, 1000), seed = argument(argc, argv, 3, 1);
  const long longest = argument(argc, argv, 4, 300);
  open_log(argv[1], rank, 2 * iterations);
  static char out[2][largest], in[2][largest];
  const int to[2] = {(rank + 1) % size, (rank + size - 1) % size};
  for (long i = 0; i < iterations; i++) {
    const uint64_t chance = mix((uint64_t)seed * 1000003u + (uint64_t)i);  // the same on all ranks
    MPI_Request requests[4];
    const int n = 1 + (int)(i % largest);
    if (chance % 3 == 0) {
      for (int d = 0; d < 2; d++) {
        atomic_fetch_add(&counters->begun, 1);
        MPI_Sendrecv(out[d], n, MPI_BYTE, to[d], tag, in[d], largest, MPI_BYTE, to[1 - d], tag, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
        note(&counters->sent, sends, to[d], next_send[d]++);
        note(&counters->received, receives, to[1 - d], next_receive[1 - d]++);
      }
    } else {
      const int waits = chance % 3 == 1;
      for (int d = 0; d < 2; d++) MPI_Irecv(in[d], largest, MPI_BYTE, to[d], tag, MPI_COMM_WORLD, &requests[d]);
      for (int d = 0; d < 2; d++) {
        atomic_fetch_add(&counters->begun, 1);
        if (waits) MPI_Isend(out[d], n, MPI_BYTE, to[d], tag, MPI_COMM_WORLD, &requests[2 + d]);
        else MPI_Send(out[d], n, MPI_BYTE, to[d], tag, MPI_COMM_WORLD);
        note(&counters->sent, sends, to[d], next_send[d]++);
      }
      MPI_Waitall(waits ? 4 : 2, requests, MPI_STATUSES_IGNORE);
      for (int d = 0; d < 2; d++) note(&counters->received, receives, to[d], next_receive[d]++);
    }
    if (longest > 0 && chance >> 8 & 1) usleep((useconds_t)(mix(chance + (uint64_t)rank) % (uint64_t)longest));
  }
  MPI_Finalize();
  return 0;
}
