// MPI 4. "only": a program without MPI_Init: a ring and a sum on a communicator from mpi://WORLD, a pair on one of even
// and odd ranks, mpi://SELF. "both": a session before MPI_Init, used until after MPI_Finalize.
#include <string.h>

#include "check.h"

#if MPI_VERSION < 4
int main(void) { return 77; }  // this MPI has none
#else

static MPI_Session session;

static MPI_Comm from_set(const char* name, const char* tag, int part) {
  MPI_Group all, group;
  MPI_Comm comm;
  CHECK(MPI_Group_from_session_pset(session, name, &all) == MPI_SUCCESS);
  group = all;
  if (part >= 0) {
    int n, range[1][3];
    MPI_Group_size(all, &n);
    range[0][0] = part, range[0][1] = n - 1, range[0][2] = 2;
    MPI_Group_range_incl(all, 1, range, &group);
    MPI_Group_free(&all);
  }
  CHECK(MPI_Comm_create_from_group(group, tag, MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm) == MPI_SUCCESS);
  MPI_Group_free(&group);
  return comm;
}

static void describe(void) {
  int sets = 0;
  MPI_Session_get_num_psets(session, MPI_INFO_NULL, &sets);
  for (int i = 0; i < sets; i++) {
    char name[256], value[64];
    int length = sizeof name, found;
    MPI_Info info;
    MPI_Session_get_nth_pset(session, MPI_INFO_NULL, i, &length, name);
    MPI_Session_get_pset_info(session, name, &info);
    MPI_Info_get(info, "mpi_size", sizeof value - 1, value, &found);
    if (rank == 0) printf("set %s of %s\n", name, found ? value : "?");
    MPI_Info_free(&info);
  }
}

static int ring(MPI_Comm comm) {
  int r, n, token = 0;
  MPI_Comm_rank(comm, &r);
  MPI_Comm_size(comm, &n);
  if (r == 0) MPI_Send(&token, 1, MPI_INT, 1 % n, 5, comm);
  MPI_Recv(&token, 1, MPI_INT, (r + n - 1) % n, 5, comm, MPI_STATUS_IGNORE);
  token++;
  if (r != 0) MPI_Send(&token, 1, MPI_INT, (r + 1) % n, 5, comm);
  return token;
}

static void communicate(const char* tag) {
  MPI_Comm all = from_set("mpi://WORLD", tag, -1);
  MPI_Comm_rank(all, &rank);
  MPI_Comm_size(all, &size);
  describe();
  const int token = ring(all);
  int sum = 0;
  MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, all);
  CHECK(sum == size * (size - 1) / 2 && (rank != 0 || token == size));
  MPI_Comm half = from_set("mpi://WORLD", "half", rank % 2);
  ring(half);
  MPI_Comm_free(&half);
  MPI_Comm_free(&all);
  if (rank == 0) printf("%s: size %d token %d\n", tag, size, token);
}

int main(int argc, char** argv) {
  CHECK(argc == 2);
  CHECK(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session) == MPI_SUCCESS);
  if (strcmp(argv[1], "only") == 0) {
    communicate("only");
  } else {
    communicate("before");
    MPI_Session second;
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &second);
    start_mpi(&argc, &argv);
    ring(MPI_COMM_WORLD);
    if (rank == 0) printf("world of %d\n", size);
    MPI_Session_finalize(&second);
    MPI_Finalize();
    communicate("after");
  }
  MPI_Session_finalize(&session);
  return 0;
}

#endif
