// Calls whose events are known exactly; test_record.py holds the expected record, section by section. Needs 3 ranks:
// 0 sends, 1 receives, 2 takes part in collectives. `go` makes sure that only one thing can happen.
#define _GNU_SOURCE
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int rank, size, data[8], none;
static MPI_Comm world;
#define IGNORE MPI_STATUS_IGNORE
#define CHECK(what)                                                  \
  if (!(what)) {                                                     \
    fprintf(stderr, "rank %d line %d: %s\n", rank, __LINE__, #what); \
    MPI_Abort(MPI_COMM_WORLD, 1);                                    \
  }

// Rank 1 lets rank 0 go on: one empty message, tag 1.
static void go(void) {
  if (rank == 1) MPI_Send(&none, 0, MPI_INT, 0, 1, world);
  if (rank == 0) MPI_Recv(&none, 0, MPI_INT, 1, 1, world, IGNORE);
}
static void send(int tag, int count) { MPI_Send(data, count, MPI_INT, 1, tag, world); }

static void blocking(void) {
  static char buffer[4096];
  void* detached;
  int bytes;
  if (rank == 0) {
    MPI_Buffer_attach(buffer, sizeof buffer);
    MPI_Send(data, 3, MPI_INT, 1, 5, world);
    MPI_Ssend(data, 2, MPI_INT, 1, 6, world);
    MPI_Bsend(data, 1, MPI_INT, 1, 7, world);
    MPI_Buffer_detach(&detached, &bytes);
  } else if (rank == 1) {
    MPI_Status status;
    MPI_Recv(data, 8, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, world, IGNORE);
    MPI_Recv(data, 8, MPI_INT, 0, MPI_ANY_TAG, world, &status);
    CHECK(status.MPI_SOURCE == 0 && status.MPI_TAG == 6);
    MPI_Recv(data, 8, MPI_INT, MPI_ANY_SOURCE, 7, world, IGNORE);
  }
}

static void proc_null(void) {
  if (rank != 0) return;
  MPI_Request requests[2];
  MPI_Status status;
  MPI_Message message;
  int flag;
  MPI_Send(data, 2, MPI_INT, MPI_PROC_NULL, 3, world);
  MPI_Recv(data, 2, MPI_INT, MPI_PROC_NULL, 3, world, &status);
  CHECK(status.MPI_SOURCE == MPI_PROC_NULL);
  MPI_Irecv(data, 2, MPI_INT, MPI_PROC_NULL, 3, world, &requests[0]);
  MPI_Isend(data, 2, MPI_INT, MPI_PROC_NULL, 3, world, &requests[1]);
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  MPI_Sendrecv(data, 1, MPI_INT, MPI_PROC_NULL, 4, data, 1, MPI_INT, MPI_PROC_NULL, 4, world, IGNORE);
  MPI_Probe(MPI_PROC_NULL, 3, world, IGNORE);
  MPI_Mprobe(MPI_PROC_NULL, 3, world, &message, IGNORE);
  MPI_Mrecv(data, 2, MPI_INT, &message, IGNORE);
  MPI_Improbe(MPI_PROC_NULL, 3, world, &flag, &message, IGNORE);
  CHECK(flag);
  MPI_Imrecv(data, 2, MPI_INT, &message, &requests[0]);
  MPI_Wait(&requests[0], IGNORE);
}

static void nonblocking(void) {
  MPI_Request requests[3];
  if (rank == 1) {
    MPI_Irecv(data, 8, MPI_INT, 0, 20, world, &requests[0]);
    MPI_Irecv(data, 8, MPI_INT, MPI_ANY_SOURCE, 21, world, &requests[1]);
    MPI_Irecv(data, 8, MPI_INT, 0, MPI_ANY_TAG, world, &requests[2]);
  }
  go();
  if (rank == 0) {
    MPI_Isend(data, 4, MPI_INT, 1, 20, world, &requests[0]);
    MPI_Issend(data, 5, MPI_INT, 1, 21, world, &requests[1]);
    MPI_Irsend(data, 6, MPI_INT, 1, 22, world, &requests[2]);
  }
  if (rank < 2) MPI_Waitall(3, requests, MPI_STATUSES_IGNORE);
}

static void any_and_some(void) {
  MPI_Request requests[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
  MPI_Status status;
  int index, done, indices[2], flag = 0;
  for (int form = 0; form < 4; form++) {  // Waitany Waitsome Testany Testsome
    const int tag = 30 + 2 * form;
    if (rank == 1) {
      MPI_Irecv(data, 8, MPI_INT, 0, tag, world, &requests[0]);
      MPI_Irecv(data, 8, MPI_INT, MPI_ANY_SOURCE, tag + 1, world, &requests[1]);
    }
    for (int turn = 0; turn < 2; turn++) {  // the second first
      go();
      if (rank == 0) send(tag + 1 - turn, 1 + turn);
      if (rank != 1) continue;
      if (form == 0) MPI_Waitany(2, requests, &index, IGNORE);
      if (form == 1) {
        MPI_Waitsome(2, requests, &done, indices, MPI_STATUSES_IGNORE);
        CHECK(done == 1);
        index = indices[0];
      }
      if (form == 2) do
          MPI_Testany(2, requests, &index, &flag, &status);
        while (!flag);
      if (form == 3) {
        do MPI_Testsome(2, requests, &done, indices, MPI_STATUSES_IGNORE);
        while (!done);
        index = indices[0];
      }
      CHECK(index == 1 - turn && requests[index] == MPI_REQUEST_NULL);
    }
  }
  if (rank != 1) return;  // nothing left to complete
  MPI_Waitany(2, requests, &index, &status);
  CHECK(index == MPI_UNDEFINED);
  MPI_Waitsome(2, requests, &done, indices, MPI_STATUSES_IGNORE);
  CHECK(done == MPI_UNDEFINED);
  MPI_Wait(&requests[0], IGNORE);
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  MPI_Waitall(0, NULL, MPI_STATUSES_IGNORE);
  MPI_Test(&requests[0], &flag, IGNORE);
  MPI_Testany(2, requests, &index, &flag, IGNORE);
  CHECK(flag && index == MPI_UNDEFINED);
}

static void tests(void) {
  MPI_Request requests[3];
  int flag = 0;
  if (rank == 1) {
    MPI_Irecv(data, 8, MPI_INT, 0, 40, world, &requests[0]);
    MPI_Test(&requests[0], &flag, IGNORE);
    CHECK(!flag);
  }
  go();
  if (rank == 0) send(40, 1);
  if (rank == 1) {
    while (!flag) MPI_Test(&requests[0], &flag, IGNORE);
    MPI_Irecv(data, 8, MPI_INT, 0, 41, world, &requests[0]);
    MPI_Irecv(data + 4, 4, MPI_INT, 0, 42, world, &requests[2]);
    requests[1] = MPI_REQUEST_NULL;
  }
  go();
  if (rank == 0) {
    send(42, 2);
    send(41, 1);
  }
  if (rank == 1) {
    do MPI_Testall(3, requests, &flag, MPI_STATUSES_IGNORE);
    while (!flag);
  }
  static MPI_Request many[100];  // more than fits on the stack
  if (rank == 1) {
    for (int i = 0; i < 100; i++) MPI_Irecv(&data[0], 1, MPI_INT, MPI_ANY_SOURCE, 1000 + i, world, &many[i]);
  }
  go();
  if (rank == 0) {
    for (int i = 99; i >= 0; i--) MPI_Send(&data[0], 1, MPI_INT, 1, 1000 + i, world);
  }
  if (rank == 1) MPI_Waitall(100, many, MPI_STATUSES_IGNORE);
}

static void persistent(void) {
  MPI_Request requests[2];
  if (rank == 0) {
    MPI_Send_init(data, 3, MPI_INT, 1, 50, world, &requests[0]);
    MPI_Ssend_init(data, 2, MPI_INT, 1, 51, world, &requests[1]);
  } else if (rank == 1) {
    MPI_Recv_init(data, 4, MPI_INT, 0, MPI_ANY_TAG, world, &requests[0]);
    MPI_Recv_init(data + 4, 4, MPI_INT, MPI_ANY_SOURCE, 51, world, &requests[1]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);  // inactive: nothing completes
  }
  for (int turn = 0; turn < 2; turn++) {
    if (rank == 1) {
      if (turn == 0) {
        MPI_Startall(2, requests);
      } else {
        MPI_Start(&requests[0]);
        MPI_Start(&requests[1]);
      }
    }
    go();
    if (rank == 0) MPI_Startall(2, requests);
    if (rank < 2) MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  }
  for (int i = 0; i < 2 && rank < 2; i++) MPI_Request_free(&requests[i]);
}

static void probes(void) {
  MPI_Message message;
  MPI_Request request;
  int flag = 0, count;
  MPI_Status status;
  if (rank == 0) {
    send(60, 1);
    send(61, 2);
    send(62, 3);
    send(63, 4);
  } else if (rank == 1) {
    MPI_Probe(MPI_ANY_SOURCE, 60, world, IGNORE);
    MPI_Recv(data, 8, MPI_INT, 0, 60, world, IGNORE);
    while (!flag) MPI_Iprobe(0, 61, world, &flag, &status);
    MPI_Get_count(&status, MPI_INT, &count);
    CHECK(count == 2);
    MPI_Recv(data, 8, MPI_INT, 0, 61, world, IGNORE);
    MPI_Mprobe(MPI_ANY_SOURCE, 62, world, &message, IGNORE);
    MPI_Mrecv(data, 8, MPI_INT, &message, IGNORE);
    do MPI_Improbe(MPI_ANY_SOURCE, MPI_ANY_TAG, world, &flag, &message, IGNORE);
    while (!flag);
    MPI_Imrecv(data, 8, MPI_INT, &message, &request);
    MPI_Wait(&request, IGNORE);
  }
}

static void cancelled(void) {
  MPI_Request request;
  MPI_Status status;
  int flag;
  if (rank == 1) {
    MPI_Irecv(data, 8, MPI_INT, MPI_ANY_SOURCE, 99, world, &request);
    MPI_Cancel(&request);
    MPI_Wait(&request, &status);
    MPI_Test_cancelled(&status, &flag);
    CHECK(flag);
    MPI_Recv_init(data, 8, MPI_INT, 0, 98, world, &request);
    MPI_Start(&request);
    MPI_Cancel(&request);
    MPI_Wait(&request, IGNORE);
    MPI_Request_free(&request);
    MPI_Irecv(data, 8, MPI_INT, 0, 70, world, &request);
    MPI_Request_free(&request);
  }
  go();
  if (rank == 0) send(70, 1);
  // A cancelled send: whether it becomes a message is up to MPI. Rank 0 says which.
  if (rank == 1) MPI_Irecv(data, 8, MPI_INT, 0, 71, world, &request);
  if (rank == 0) {
    MPI_Issend(data, 2, MPI_INT, 1, 71, world, &request);
    MPI_Cancel(&request);
  }
  if (rank == 0) {
    MPI_Wait(&request, &status);
    MPI_Test_cancelled(&status, &data[0]);
    send(72, 1);
  }
  if (rank == 1) {
    int was_cancelled[8];
    MPI_Recv(was_cancelled, 8, MPI_INT, 0, 72, world, IGNORE);
    if (was_cancelled[0]) MPI_Cancel(&request);
    MPI_Wait(&request, IGNORE);
  }
}

static void both_ways(void) {
  const int other = 1 - rank;
  if (rank > 1) return;
  MPI_Sendrecv(data, 1 + rank, MPI_INT, other, 80 + rank, data + 4, 4, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, world,
               IGNORE);
  MPI_Sendrecv_replace(data, 2, MPI_INT, other, 82, other, 82, world, IGNORE);
  MPI_Request request;
  MPI_Isend(data, 1, MPI_INT, 0, 83, MPI_COMM_SELF, &request);
  MPI_Recv(data + 4, 1, MPI_INT, 0, 83, MPI_COMM_SELF, IGNORE);
  MPI_Wait(&request, IGNORE);
}

static void truncated(void) {
  MPI_Request requests[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
  MPI_Status statuses[2];
  int class;
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  if (rank == 1) { MPI_Irecv(data, 1, MPI_INT, 0, 91, world, &requests[1]); }
  go();
  if (rank == 0) {
    send(90, 3);
    send(91, 3);
    CHECK(MPI_Send(data, 1, MPI_INT, 77, 0, world) != MPI_SUCCESS);
  } else if (rank == 1) {
    MPI_Error_class(MPI_Recv(data, 1, MPI_INT, 0, 90, world, IGNORE), &class);
    CHECK(class == MPI_ERR_TRUNCATE);
    CHECK(MPI_Waitall(2, requests, statuses) == MPI_ERR_IN_STATUS);
    CHECK(MPI_Recv(data, 1, MPI_INT, 77, 0, world, IGNORE) != MPI_SUCCESS);
    CHECK(MPI_Irecv(data, 1, MPI_INT, 77, 0, world, &requests[0]) != MPI_SUCCESS);
  }
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
}

static void collectives(void) {
  int all[24], counts[3] = {1, 2, 3}, places[3] = {0, 1, 3};
  MPI_Request request;
  double pair[2] = {0, 0}, sums[2];
  memset(all, 0, sizeof all);
  MPI_Barrier(world);
  MPI_Bcast(data, 4, MPI_INT, 1, world);
  MPI_Reduce(pair, sums, 2, MPI_DOUBLE, MPI_SUM, 2, world);
  MPI_Allreduce(MPI_IN_PLACE, pair, 2, MPI_DOUBLE, MPI_SUM, world);
  if (rank == 0) {
    MPI_Gather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, all, 2, MPI_INT, 0, world);
    MPI_Scatterv(all, counts, places, MPI_INT, data, 1, MPI_INT, 0, world);
  } else {
    MPI_Gather(data, 2, MPI_INT, NULL, 0, MPI_DATATYPE_NULL, 0, world);
    MPI_Scatterv(NULL, NULL, NULL, MPI_DATATYPE_NULL, data, 1 + rank, MPI_INT, 0, world);
  }
  MPI_Allgatherv(data, counts[rank], MPI_INT, all, counts, places, MPI_INT, world);
  MPI_Allgatherv(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, all, counts, places, MPI_INT, world);
  MPI_Alltoall(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, all, 2, MPI_INT, world);
  MPI_Reduce_scatter(all, data, counts, MPI_INT, MPI_SUM, world);
  MPI_Exscan(data, all, 1, MPI_INT, MPI_SUM, world);
  MPI_Iallreduce(pair, sums, 2, MPI_DOUBLE, MPI_SUM, world, &request);
  MPI_Wait(&request, IGNORE);
  MPI_Ibcast(data, 1, MPI_INT, 2, world, &request);
  MPI_Wait(&request, IGNORE);
  MPI_Ibarrier(MPI_COMM_SELF, &request);
  MPI_Wait(&request, IGNORE);
}

static void communicators(void) {
  MPI_Comm split, dup, inter, merged, idup, created;
  MPI_Group group, pair;
  MPI_Request request;
  const int first_two[2] = {0, 1};
  int n = 0;
  MPI_Comm_split(MPI_COMM_WORLD, rank == 1, -rank, &split);  // {2, 0} and {1}
  MPI_Comm_dup(split, &dup);
  if (rank == 2) MPI_Send(data, 1, MPI_INT, 1, 100, dup);
  if (rank == 0) MPI_Recv(data, 1, MPI_INT, MPI_ANY_SOURCE, 100, dup, IGNORE);
  MPI_Intercomm_create(split, 0, MPI_COMM_WORLD, rank == 1 ? 2 : 1, 9, &inter);
  if (rank == 1) MPI_Send(data, 1, MPI_INT, 1, 101, inter);  // remote rank 1 is world rank 0
  if (rank == 0) {
    MPI_Irecv(data, 1, MPI_INT, 0, MPI_ANY_TAG, inter, &request);
    MPI_Wait(&request, IGNORE);
  }
  MPI_Bcast(data, 1, MPI_INT, rank == 1 ? MPI_ROOT : 0, inter);
  MPI_Intercomm_merge(inter, rank != 1, &merged);  // 1 first
  MPI_Comm_size(merged, &n);
  CHECK(n == 3);
  MPI_Allreduce(MPI_IN_PLACE, data, 1, MPI_INT, MPI_SUM, merged);
  MPI_Comm_idup(world, &idup, &request);
  MPI_Wait(&request, IGNORE);
  MPI_Comm_group(world, &group);
  MPI_Group_incl(group, 2, first_two, &pair);
  MPI_Comm_create(world, pair, &created);
  CHECK((created == MPI_COMM_NULL) == (rank == 2));
  if (rank < 2) {
    if (rank == 1) MPI_Irecv(data, 1, MPI_INT, 0, 102, created, &request);
    go();
    MPI_Comm again = created;  // freed while a receive is pending
    MPI_Comm_free(&again);
    if (rank == 0) send(102, 0);
    if (rank == 1) {
      MPI_Recv(data, 1, MPI_INT, 0, 102, world, IGNORE);
      MPI_Cancel(&request);
      MPI_Wait(&request, IGNORE);
    }
  }
  MPI_Group_free(&pair);
  MPI_Group_free(&group);
  MPI_Comm_free(&idup);
  MPI_Comm_free(&merged);
  MPI_Comm_free(&inter);
  MPI_Comm_free(&dup);
  MPI_Comm_free(&split);
}

static void types(void) {
  if (rank != 0) return;
  MPI_Datatype type;
  for (int n = 1; n <= 3; n++) {  // MPI may give each the same handle
    MPI_Type_contiguous(n, MPI_DOUBLE, &type);
    MPI_Type_commit(&type);
    MPI_Send(data, 1, type, MPI_PROC_NULL, n, world);
    MPI_Type_free(&type);
  }
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  world = MPI_COMM_WORLD;
  MPI_Comm_rank(world, &rank);
  MPI_Comm_size(world, &size);
  CHECK(size == 3 && argc == 2);
  const struct {
    const char* name;
    void (*run)(void);
  } sections[] = {{"blocking", blocking},
                  {"proc_null", proc_null},
                  {"nonblocking", nonblocking},
                  {"any_and_some", any_and_some},
                  {"tests", tests},
                  {"persistent", persistent},
                  {"probes", probes},
                  {"cancelled", cancelled},
                  {"both_ways", both_ways},
                  {"truncated", truncated},
                  {"collectives", collectives},
                  {"communicators", communicators},
                  {"types", types}};
  for (unsigned i = 0; i < sizeof sections / sizeof sections[0]; i++) {
    if (strcmp(argv[1], sections[i].name) == 0) sections[i].run();
  }
  MPI_Finalize();
  return 0;
}
