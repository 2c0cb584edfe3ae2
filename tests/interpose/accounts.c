// Two ranks, random calls, sizes that tell: the k-th message of a channel (communicator, tag) has 1 + k % 2000 bytes.
// Rank 0 sends COUNT messages on each of two communicators, rank 1 receives them: on the first with known tags, on the
// second with any. test_accounts.py knows from the sizes which place of its channel every recorded message has.
//   accounts SEED COUNT [control]      control: both ranks switch recording off and on in between
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TAGS 3
#define WINDOW 24
#define LARGEST 2000
#define CHECK(what)                                                  \
  if (!(what)) {                                                     \
    fprintf(stderr, "rank %d line %d: %s\n", rank, __LINE__, #what); \
    MPI_Abort(MPI_COMM_WORLD, 1);                                    \
  }

static int rank, control;
static MPI_Comm comms[2];
static unsigned long long state;
static unsigned next_random(unsigned limit) {
  state = state * 6364136223846793005ull + 1442695040888963407ull;
  return (unsigned)(state >> 33) % limit;
}
static int size_of(long k) { return 1 + (int)(k % LARGEST); }

static void perhaps_control(void) {
  static int on = 1;
  if (!control || next_random(200) != 0) return;
  on = !on;
  MPI_Pcontrol(on);
}

static void send_all(long count, const unsigned char* plan) {
  static char data[LARGEST];
  MPI_Request requests[WINDOW];
  long sent[2][TAGS] = {{0}};
  int open = 0;
  for (long i = 0; i < 2 * count; i++) {
    const int c = plan[i] / TAGS, tag = plan[i] % TAGS;
    const int bytes = size_of(sent[c][tag]++);
    perhaps_control();
    if (next_random(2) == 0) {
      MPI_Send(data, bytes, MPI_BYTE, 1, tag, comms[c]);
    } else if (next_random(4) == 0) {
      MPI_Send_init(data, bytes, MPI_BYTE, 1, tag, comms[c], &requests[open]);
      MPI_Start(&requests[open]);
      MPI_Wait(&requests[open], MPI_STATUS_IGNORE);
      MPI_Request_free(&requests[open]);
    } else {
      MPI_Isend(data, bytes, MPI_BYTE, 1, tag, comms[c], &requests[open++]);
    }
    if (open == WINDOW || next_random(30) == 0) {
      MPI_Waitall(open, requests, MPI_STATUSES_IGNORE);
      open = 0;
    }
  }
  MPI_Waitall(open, requests, MPI_STATUSES_IGNORE);
}

// What is outstanding at the receiver.
static MPI_Request requests[WINDOW];
static char buffers[WINDOW][LARGEST];

static void complete_some(int how) {
  int indices[WINDOW], n = 0, index = MPI_UNDEFINED, flag = 0;
  MPI_Status statuses[WINDOW];
  if (how == 0) MPI_Waitall(WINDOW, requests, MPI_STATUSES_IGNORE);
  if (how == 1) MPI_Waitany(WINDOW, requests, &index, MPI_STATUS_IGNORE);
  if (how == 2) MPI_Testsome(WINDOW, requests, &n, indices, statuses);
  if (how == 3) MPI_Waitsome(WINDOW, requests, &n, indices, MPI_STATUSES_IGNORE);
  if (how == 4) MPI_Testany(WINDOW, requests, &index, &flag, MPI_STATUS_IGNORE);
  if (how == 5) MPI_Wait(&requests[next_random(WINDOW)], MPI_STATUS_IGNORE);
  if (how == 6) MPI_Test(&requests[next_random(WINDOW)], &flag, MPI_STATUS_IGNORE);
}

static int free_place(void) {
  for (;;) {
    for (int i = 0; i < WINDOW; i++)
      if (requests[i] == MPI_REQUEST_NULL) return i;
    complete_some((int)next_random(7));
  }
}

static void receive(int c, int tag) {
  char data[LARGEST];
  MPI_Status status;
  const unsigned how = next_random(8);
  if (how == 0) {  // posted, never matched: nobody sends with this tag on the first communicator
    const int at = free_place();
    MPI_Irecv(buffers[at], LARGEST, MPI_BYTE, 0, 77, comms[0], &requests[at]);
    MPI_Cancel(&requests[at]);
    MPI_Wait(&requests[at], &status);
  }
  if (how == 1) {
    MPI_Message message;
    MPI_Mprobe(MPI_ANY_SOURCE, tag, comms[c], &message, MPI_STATUS_IGNORE);
    MPI_Mrecv(data, LARGEST, MPI_BYTE, &message, MPI_STATUS_IGNORE);
  } else if (how < 4) {
    MPI_Recv(data, LARGEST, MPI_BYTE, how == 2 ? 0 : MPI_ANY_SOURCE, tag, comms[c], MPI_STATUS_IGNORE);
  } else {
    const int at = free_place();
    MPI_Irecv(buffers[at], LARGEST, MPI_BYTE, next_random(2) ? 0 : MPI_ANY_SOURCE, tag, comms[c], &requests[at]);
  }
  if (next_random(20) == 0) complete_some((int)next_random(7));
}

static void receive_all(long count, const unsigned char* plan) {
  for (int i = 0; i < WINDOW; i++) requests[i] = MPI_REQUEST_NULL;
  for (long i = 0; i < 2 * count; i++) {
    const int c = plan[i] / TAGS;
    perhaps_control();
    receive(c, c == 0 ? plan[i] % TAGS : MPI_ANY_TAG);
  }
  MPI_Waitall(WINDOW, requests, MPI_STATUSES_IGNORE);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  CHECK(argc >= 3);
  const long count = atol(argv[2]);
  control = argc > 3;
  MPI_Comm_dup(MPI_COMM_WORLD, &comms[0]);
  MPI_Comm_dup(MPI_COMM_WORLD, &comms[1]);
  unsigned char* plan = malloc((size_t)(2 * count));
  state = strtoull(argv[1], NULL, 10);
  long left[2] = {count, count};
  for (long i = 0; i < 2 * count; i++) {
    const int c = left[0] == 0 ? 1 : left[1] == 0 ? 0 : (int)next_random(2);
    left[c]--;
    plan[i] = (unsigned char)(c * TAGS + (int)next_random(TAGS));
  }
  state += (unsigned long long)rank * 977;
  if (rank == 0) send_all(count, plan);
  if (rank == 1) receive_all(count, plan);
  free(plan);
  MPI_Finalize();
  return 0;
}
