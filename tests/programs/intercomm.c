// Even and odd ranks talk through an intercommunicator, both ways; then a broadcast across it, then it is merged.
// Arguments: rounds (20), bytes per message (128).
// On paper: E = (n + 1) / 2 even and O = n / 2 odd ranks. In each round every even rank sends to every odd one (tag 11)
// and back (tag 12): messages = 2 * E * O * rounds on one communicator with n members. On the merged communicator
// (even ranks first) everybody sends once to the next rank in it: n messages with tag 13, 8 bytes.
#include "answer.h"

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const long rounds = argument(argc, argv, 1, 20);
  const int bytes = (int)argument(argc, argv, 2, 128);
  int rank, size, remote;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  REQUIRE(size >= 2 && bytes >= 8);
  const int odd = rank % 2;
  MPI_Comm half, across, merged;
  MPI_Comm_split(MPI_COMM_WORLD, odd, rank, &half);
  MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, odd ? 0 : 1, 5, &across);
  MPI_Comm_remote_size(across, &remote);
  REQUIRE(remote == (odd ? (size + 1) / 2 : size / 2));

  const size_t words = (size_t)bytes / 8 + 1;
  uint64_t* out = calloc(words, 8);
  uint64_t* in = calloc(words * (size_t)remote, 8);
  MPI_Request* request = malloc(2 * (size_t)remote * sizeof(MPI_Request));
  uint64_t checksum = 0;
  for (long round = 0; round < rounds; round++) {
    out[0] = (uint64_t)rank * 1000 + (uint64_t)round;
    for (int i = 0; i < remote; i++)
      MPI_Irecv(in + words * (size_t)i, bytes, MPI_BYTE, i, odd ? 11 : 12, across, &request[i]);
    for (int i = 0; i < remote; i++) MPI_Isend(out, bytes, MPI_BYTE, i, odd ? 12 : 11, across, &request[remote + i]);
    MPI_Waitall(2 * remote, request, MPI_STATUSES_IGNORE);
    for (int i = 0; i < remote; i++) {  // remote rank i is world rank 2 i (even) or 2 i + 1 (odd)
      REQUIRE(in[words * (size_t)i] == (uint64_t)(2 * i + !odd) * 1000 + (uint64_t)round);
      checksum += mix(in[words * (size_t)i]);
    }
  }
  int word = rank == 0 ? 42 : 0;  // the root's group sends, the other receives
  MPI_Bcast(&word, 1, MPI_INT, odd ? 0 : (rank == 0 ? MPI_ROOT : MPI_PROC_NULL), across);
  REQUIRE(!odd || word == 42);

  int me, all;
  MPI_Intercomm_merge(across, odd, &merged);
  MPI_Comm_rank(merged, &me);
  MPI_Comm_size(merged, &all);
  REQUIRE(all == size && me == (odd ? (size + 1) / 2 + rank / 2 : rank / 2));
  uint64_t mine = (uint64_t)me, before = 0;
  MPI_Sendrecv(&mine, 1, MPI_UINT64_T, (me + 1) % size, 13, &before, 1, MPI_UINT64_T, (me + size - 1) % size, 13,
               merged, MPI_STATUS_IGNORE);
  REQUIRE(before == (uint64_t)((me + size - 1) % size));
  checksum = sum_over_ranks(checksum);
  if (rank == 0)
    printf("intercomm: even %d odd %d rounds %ld checksum %016llx\n", (size + 1) / 2, size / 2, rounds,
           (unsigned long long)checksum);
  MPI_Comm_free(&merged);
  MPI_Comm_free(&across);
  MPI_Comm_free(&half);
  free(request);
  free(in);
  free(out);
  MPI_Finalize();
  return 0;
}
