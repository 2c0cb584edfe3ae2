// Communicators made and freed by the thousand, three alive at a time, of three makes in turn: dup, split in halves,
// and split by parity of the communicator before. On each of them every rank sends one message to the next member.
// Argument: communicators (2000). On paper: n messages of 8 bytes per communicator, with tag 3.
#include "answer.h"

enum { alive = 3 };

static MPI_Comm make(long i, MPI_Comm before, int rank, int size) {
  MPI_Comm comm;
  if (i % 3 == 0) MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  if (i % 3 == 1) MPI_Comm_split(MPI_COMM_WORLD, rank < size / 2, -rank, &comm);
  if (i % 3 == 2) MPI_Comm_split(before, rank % 2, rank, &comm);
  return comm;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank, size;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const long communicators = argument(argc, argv, 1, 2000);
  MPI_Comm comms[alive] = {MPI_COMM_NULL, MPI_COMM_NULL, MPI_COMM_NULL};
  uint64_t checksum = 0;
  for (long i = 0; i < communicators; i++) {
    MPI_Comm* at = &comms[i % alive];
    if (*at != MPI_COMM_NULL) MPI_Comm_free(at);
    *at = make(i, comms[(i + alive - 1) % alive], rank, size);
    int me, members;
    MPI_Comm_rank(*at, &me);
    MPI_Comm_size(*at, &members);
    uint64_t out = mix((uint64_t)(i * size + rank)), in = 0;
    MPI_Sendrecv(&out, 8, MPI_BYTE, (me + 1) % members, 3, &in, 8, MPI_BYTE, (me + members - 1) % members, 3, *at,
                 MPI_STATUS_IGNORE);
    checksum += in;
  }
  for (int i = 0; i < alive; i++)
    if (comms[i] != MPI_COMM_NULL) MPI_Comm_free(&comms[i]);
  checksum = sum_over_ranks(checksum);
  if (rank == 0)
    printf("many_comms: ranks %d communicators %ld checksum %016llx\n", size, communicators,
           (unsigned long long)checksum);
  MPI_Finalize();
  return 0;
}
