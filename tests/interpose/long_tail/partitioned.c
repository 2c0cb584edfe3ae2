// MPI 4, 2 ranks: two partitioned channels of the same communicator, ranks and tag (matched in the order they are
// made), started 3 times each in opposite orders; one with another tag; then the way back.
#include "check.h"

#if MPI_VERSION < 4
int main(void) { return 77; }  // this MPI has none
#else

enum { parts = 4, each = 2, total = parts * each };

static void fill(int* data, int base) {
  for (int i = 0; i < total; i++) data[i] = base + i;
}
static int is_filled(const int* data, int base) {
  for (int i = 0; i < total; i++)
    if (data[i] != base + i) return 0;
  return 1;
}

static void one_way(int sender) {
  int data[2][total];
  MPI_Request request[2];
  for (int k = 0; k < 2; k++) {
    if (rank == sender) {
      MPI_Psend_init(data[k], parts, each, MPI_INT, 1 - sender, 7, MPI_COMM_WORLD, MPI_INFO_NULL, &request[k]);
    } else {
      MPI_Precv_init(data[k], 2, total / 2, MPI_INT, sender, 7, MPI_COMM_WORLD, MPI_INFO_NULL, &request[k]);
    }
  }
  for (int round = 0; round < 3; round++) {
    for (int i = 0; i < 2; i++) {
      const int k = rank == sender ? i : 1 - i;
      if (rank == sender) fill(data[k], 1000 * sender + 100 * round + 10 * k);
      MPI_Start(&request[k]);
      if (rank != sender) continue;
      int list[1] = {3};
      MPI_Pready(0, request[k]);
      MPI_Pready_range(1, 2, request[k]);
      MPI_Pready_list(1, list, request[k]);
    }
    int arrived = 0;
    while (rank != sender && !arrived) MPI_Parrived(request[0], 0, &arrived);
    MPI_Waitall(2, request, MPI_STATUSES_IGNORE);
    for (int k = 0; k < 2; k++) CHECK(is_filled(data[k], 1000 * sender + 100 * round + 10 * k));
  }
  for (int k = 0; k < 2; k++) MPI_Request_free(&request[k]);
}

int main(int argc, char** argv) {
  start_mpi(&argc, &argv);
  one_way(0);
  one_way(1);
  if (rank == 0) printf("partitioned: right\n");
  MPI_Finalize();
  return 0;
}

#endif
