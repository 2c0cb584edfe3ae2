// Two ranks with MPI_THREAD_MULTIPLE; THREADS threads of rank 0 send to THREADS threads of rank 1, each pair on a tag
// of its own, where the k-th message has 1 + k % 500 bytes, and all of them on one shared tag, as fast as they can.
//   threads THREADS COUNT [control]      control: thread 0 of each rank switches recording off and on in between
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#define LARGEST 500
#define SHARED 99
#define CHECK(what)                                                  \
  if (!(what)) {                                                     \
    fprintf(stderr, "rank %d line %d: %s\n", rank, __LINE__, #what); \
    MPI_Abort(MPI_COMM_WORLD, 1);                                    \
  }

static int rank, threads, control;
static long count;
static MPI_Comm other;

static void send_some(int me) {
  char data[LARGEST];
  MPI_Request request[2];
  for (long k = 0; k < count; k++) {
    const int bytes = 1 + (int)(k % LARGEST);
    if (control && me == 0 && k % 40 == 0) MPI_Pcontrol((int)(k / 40 % 2));
    MPI_Send(data, 1, MPI_BYTE, 1, SHARED, MPI_COMM_WORLD);
    if (k % 3 == 0) {
      MPI_Isend(data, bytes, MPI_BYTE, 1, me, other, &request[0]);
      MPI_Isend(data, 2, MPI_BYTE, 1, SHARED, MPI_COMM_WORLD, &request[1]);
      MPI_Waitall(2, request, MPI_STATUSES_IGNORE);
    } else {
      MPI_Send(data, bytes, MPI_BYTE, 1, me, other);
      MPI_Isend(data, 2, MPI_BYTE, 1, SHARED, MPI_COMM_WORLD, &request[0]);
      MPI_Wait(&request[0], MPI_STATUS_IGNORE);
    }
  }
}

static void receive_shared(long k) {
  char data[LARGEST];
  MPI_Message message;
  MPI_Request request;
  int flag = 0;
  if (k % 4 == 0) {
    MPI_Mprobe(0, SHARED, MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE);
    MPI_Mrecv(data, LARGEST, MPI_BYTE, &message, MPI_STATUS_IGNORE);
  } else if (k % 4 == 1) {
    do MPI_Improbe(0, SHARED, MPI_COMM_WORLD, &flag, &message, MPI_STATUS_IGNORE);
    while (!flag);
    MPI_Imrecv(data, LARGEST, MPI_BYTE, &message, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  } else {
    MPI_Recv(data, LARGEST, MPI_BYTE, MPI_ANY_SOURCE, SHARED, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
}

// Numbers are taken for these, too, and nothing is received.
static void receive_from_nobody(long k) {
  char data[1];
  MPI_Message message;
  int flag = 0;
  if (k % 2 == 0) {
    MPI_Mprobe(MPI_PROC_NULL, SHARED, MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE);
  } else {
    MPI_Improbe(MPI_PROC_NULL, SHARED, MPI_COMM_WORLD, &flag, &message, MPI_STATUS_IGNORE);
    CHECK(flag);
  }
  CHECK(message == MPI_MESSAGE_NO_PROC);
  MPI_Mrecv(data, 1, MPI_BYTE, &message, MPI_STATUS_IGNORE);
}

static void receive_some(int me) {
  char data[2][LARGEST];
  MPI_Status status;
  MPI_Request request;
  int bytes;
  for (long k = 0; k < count; k++) {
    if (control && me == 0 && k % 50 == 0) MPI_Pcontrol((int)(k / 50 % 2));
    if (k % 10 == 3) receive_from_nobody(k / 10);
    if (k % 2 == 0) {
      MPI_Irecv(data[0], LARGEST, MPI_BYTE, MPI_ANY_SOURCE, me, other, &request);
      receive_shared(k / 2);
      MPI_Wait(&request, &status);
    } else {
      receive_shared(k / 2);
      MPI_Recv(data[0], LARGEST, MPI_BYTE, 0, me, other, &status);
    }
    MPI_Get_count(&status, MPI_BYTE, &bytes);
    CHECK(bytes == 1 + (int)(k % LARGEST));
    MPI_Recv(data[1], LARGEST, MPI_BYTE, 0, SHARED, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
}

static void* work(void* number) {
  if (rank == 0) send_some((int)(long)number);
  if (rank == 1) receive_some((int)(long)number);
  return NULL;
}

int main(int argc, char** argv) {
  int provided = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (provided != MPI_THREAD_MULTIPLE) {
    if (rank == 0) printf("single\n");
    MPI_Finalize();
    return 0;
  }
  threads = atoi(argv[1]);
  count = atol(argv[2]);
  control = argc > 3;
  MPI_Comm_dup(MPI_COMM_WORLD, &other);
  pthread_t all[64];
  for (long i = 0; i < threads; i++) pthread_create(&all[i], NULL, work, (void*)i);
  for (long i = 0; i < threads; i++) pthread_join(all[i], NULL);
  MPI_Finalize();
  return 0;
}
