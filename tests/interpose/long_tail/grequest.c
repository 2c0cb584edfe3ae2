// Generalized requests among ordinary ones, completed by Wait, Waitall, Test, and one cancelled; 2 ranks.
#include "check.h"

static int asked, freed, cancelled;

static int query(void* state, MPI_Status* status) {
  asked++;
  MPI_Status_set_elements(status, MPI_INT, *(int*)state);
  MPI_Status_set_cancelled(status, *(int*)state == 99);
  status->MPI_SOURCE = 17;
  status->MPI_TAG = 23;
  return MPI_SUCCESS;
}
static int release(void* state) {
  (void)state;
  freed++;
  return MPI_SUCCESS;
}
static int cancel(void* state, int complete) {
  (void)complete;
  *(int*)state = 99;
  cancelled++;
  return MPI_SUCCESS;
}

int main(int argc, char** argv) {
  start_mpi(&argc, &argv);
  int state[4] = {1, 2, 3, 4}, count = -1, flag = 0, out = rank, in = -1;
  MPI_Request own[4], mixed[3];
  MPI_Status status, statuses[3];
  for (int i = 0; i < 4; i++) MPI_Grequest_start(query, release, cancel, &state[i], &own[i]);
  MPI_Grequest_complete(own[0]);
  MPI_Wait(&own[0], &status);
  MPI_Get_count(&status, MPI_INT, &count);
  CHECK(count == 1 && status.MPI_SOURCE == 17 && status.MPI_TAG == 23 && own[0] == MPI_REQUEST_NULL);
  MPI_Isend(&out, 1, MPI_INT, 1 - rank, 4, MPI_COMM_WORLD, &mixed[0]);
  mixed[1] = own[1];
  MPI_Irecv(&in, 1, MPI_INT, 1 - rank, 4, MPI_COMM_WORLD, &mixed[2]);
  MPI_Grequest_complete(mixed[1]);
  MPI_Waitall(3, mixed, statuses);
  MPI_Get_count(&statuses[1], MPI_INT, &count);
  CHECK(count == 2 && in == 1 - rank && statuses[2].MPI_SOURCE == 1 - rank);
  MPI_Test(&own[2], &flag, MPI_STATUS_IGNORE);
  CHECK(!flag);
  MPI_Grequest_complete(own[2]);
  MPI_Test(&own[2], &flag, &status);
  CHECK(flag);
  MPI_Cancel(&own[3]);
  MPI_Grequest_complete(own[3]);
  MPI_Wait(&own[3], &status);
  MPI_Test_cancelled(&status, &flag);
  CHECK(flag && cancelled == 1 && asked == 4 && freed == 4);
  if (rank == 0) printf("generalized requests: right\n");
  MPI_Finalize();
  return 0;
}
