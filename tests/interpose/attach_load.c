// Runs for SECONDS on any number of ranks (at least 2) and does a bit of everything, again and again: neighbours in a
// ring, persistent and wildcard receives, matched probes, Sendrecv, cancelled receives, collectives, communicators that
// come and go. The k-th message of a channel has 1 + k % 2000 bytes, so that a wrong pair shows (attach_cycles.cpp).
//   attach_load SECONDS [until=FILE] [control] [log=DIRECTORY] [prelude=ROUNDS] [pause=MICROSECONDS]
// until: ends earlier, when rank 0 sees this file.
// control: switches recording off and on in between. log: writes what each rank sent, and when (struct Sent), into
// DIRECTORY/sent.RANK. prelude: so many rounds of the neighbours' exchange alone, before the time begins; nothing is
// logged. pause: after each round.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define LARGEST 2000
#define DEPTH 4

static int rank, ranks, right, left;
static long counts[16];
static char out[DEPTH][LARGEST], in[DEPTH][LARGEST];

struct Sent {
  long long before_ns;  // CLOCK_REALTIME, just before the call
  int tag, destination;
  long long number;  // of the messages of this tag from this rank, from 0 on; its size is 1 + number % LARGEST
};
static FILE* ledger;

// Every tag has one destination per rank.
static int next_size(int tag) {
  const long number = counts[tag]++;
  if (ledger) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    const struct Sent sent = {now.tv_sec * 1000000000LL + now.tv_nsec, tag, tag == 4 ? 0 : right, number};
    fwrite(&sent, sizeof sent, 1, ledger);
  }
  return 1 + (int)(number % LARGEST);
}

static void halo(MPI_Comm comm) {
  MPI_Request requests[2 * DEPTH];
  for (int i = 0; i < DEPTH; i++) MPI_Irecv(in[i], LARGEST, MPI_BYTE, left, 1, comm, &requests[i]);
  for (int i = 0; i < DEPTH; i++) MPI_Isend(out[i], next_size(1), MPI_BYTE, right, 1, comm, &requests[DEPTH + i]);
  MPI_Waitall(2 * DEPTH, requests, MPI_STATUSES_IGNORE);
}

// Receives that stay outstanding over many other calls.
static MPI_Request early[DEPTH], kept;
static void post_early(MPI_Comm comm) {
  for (int i = 0; i < DEPTH; i++)
    MPI_Irecv(in[i], LARGEST, MPI_BYTE, i % 2 ? MPI_ANY_SOURCE : left, 2, comm, &early[i]);
}
static void finish_early(MPI_Comm comm) {
  MPI_Request sends[DEPTH];
  for (int i = 0; i < DEPTH; i++) MPI_Isend(out[i], next_size(2), MPI_BYTE, right, 2, comm, &sends[i]);
  MPI_Waitall(DEPTH, early, MPI_STATUSES_IGNORE);
  MPI_Waitall(DEPTH, sends, MPI_STATUSES_IGNORE);
}

static void persistent(void) {
  static char data[LARGEST];
  MPI_Request send;
  MPI_Start(&kept);
  MPI_Isend(out[0], next_size(3), MPI_BYTE, right, 3, MPI_COMM_WORLD, &send);
  MPI_Wait(&kept, MPI_STATUS_IGNORE);
  MPI_Wait(&send, MPI_STATUS_IGNORE);
  (void)data;
}

static void wildcards(void) {
  char data[LARGEST];
  if (rank != 0) {
    MPI_Send(out[0], next_size(4), MPI_BYTE, 0, 4, MPI_COMM_WORLD);
  } else {
    for (int i = 1; i < ranks; i++)
      MPI_Recv(data, LARGEST, MPI_BYTE, MPI_ANY_SOURCE, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
}

static void probes(MPI_Comm comm) {
  char data[LARGEST];
  MPI_Message message;
  MPI_Request send;
  MPI_Isend(out[0], next_size(5), MPI_BYTE, right, 5, comm, &send);
  MPI_Mprobe(left, 5, comm, &message, MPI_STATUS_IGNORE);
  if (counts[5] % 2 == 0) {
    MPI_Mrecv(data, LARGEST, MPI_BYTE, &message, MPI_STATUS_IGNORE);
  } else {
    MPI_Request request;
    MPI_Imrecv(data, LARGEST, MPI_BYTE, &message, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
  MPI_Wait(&send, MPI_STATUS_IGNORE);
}

static void exchange(void) {
  char data[LARGEST];
  MPI_Sendrecv(out[0], next_size(6), MPI_BYTE, right, 6, data, LARGEST, MPI_BYTE, left, 6, MPI_COMM_WORLD,
               MPI_STATUS_IGNORE);
}

static void cancelled(void) {
  char data[8];
  MPI_Request request;
  MPI_Irecv(data, sizeof data, MPI_BYTE, left, 77, MPI_COMM_WORLD, &request);
  MPI_Cancel(&request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void churn(long round) {
  MPI_Comm part;
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &part);
  MPI_Barrier(part);
  if (round % 2 == 0) MPI_Bcast(out[0], 8, MPI_BYTE, 0, part);
  MPI_Comm_free(&part);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (argc < 2 || ranks < 2) MPI_Abort(MPI_COMM_WORLD, 2);
  int control = 0, pause = 0;
  long prelude = 0;
  const char *directory = NULL, *stop = NULL;
  for (int i = 2; i < argc; i++) {
    if (strcmp(argv[i], "control") == 0) control = 1;
    else if (strncmp(argv[i], "log=", 4) == 0) directory = argv[i] + 4;
    else if (strncmp(argv[i], "until=", 6) == 0) stop = argv[i] + 6;
    else if (strncmp(argv[i], "prelude=", 8) == 0) prelude = atol(argv[i] + 8);
    else if (strncmp(argv[i], "pause=", 6) == 0) pause = atoi(argv[i] + 6);
    else MPI_Abort(MPI_COMM_WORLD, 2);
  }
  right = (rank + 1) % ranks;
  left = (rank + ranks - 1) % ranks;
  while (prelude-- > 0) halo(MPI_COMM_WORLD);
  if (directory) {
    char path[4096];
    snprintf(path, sizeof path, "%s/sent.%d", directory, rank);
    ledger = fopen(path, "wb");
    if (!ledger) MPI_Abort(MPI_COMM_WORLD, 3);
  }
  const double end = MPI_Wtime() + atof(argv[1]);
  MPI_Comm twin;
  MPI_Comm_dup(MPI_COMM_WORLD, &twin);
  static char data[LARGEST];
  MPI_Recv_init(data, LARGEST, MPI_BYTE, left, 3, MPI_COMM_WORLD, &kept);
  int on = 1;
  for (long round = 0; on; round++) {
    if (control && round % 50 == 25 + rank) MPI_Pcontrol(0);
    if (control && round % 50 == 35 + rank) MPI_Pcontrol(1);
    post_early(twin);
    halo(MPI_COMM_WORLD);
    persistent();
    wildcards();
    finish_early(twin);
    probes(twin);
    exchange();
    if (round % 7 == 0) cancelled();
    if (round % 20 == 0) churn(round);
    if (pause) usleep((useconds_t)pause);
    on = MPI_Wtime() < end && (rank != 0 || !stop || access(stop, F_OK) != 0);
    MPI_Allreduce(MPI_IN_PLACE, &on, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
  }
  MPI_Request_free(&kept);
  MPI_Comm_free(&twin);
  if (ledger) fclose(ledger);
  MPI_Finalize();
  if (rank == 0) printf("right\n");
  return 0;
}
