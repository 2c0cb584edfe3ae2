// Ranks 2k and 2k + 1, and rings. Kinds:
//   pairs      2k works and sends to 2k + 1, which works and only then receives; mode= 0 Send, 1 Isend and Wait, 2 two
//              Isends and Waitall, 3 Ssend, 4 Issend and Wait
//   swap       2k works and gives with Sendrecv a large message for a small one, which 2k + 1 sent before it worked; 2k
//   + 1
//              receives afterwards
//   sendrecv   work, then Sendrecv to the right and from the left in a ring
//   two        ranks below `split` exchange both ways in a ring, the others are pairs whose receivers come late
#include <mpi.h>

#include "faults.h"

static void send_by_mode(int to) {
  MPI_Request request[2];
  const int n = (int)plan.bytes;
  switch (plan.mode) {
    case 1: MPI_Isend(out, n, MPI_BYTE, to, 2, MPI_COMM_WORLD, request); break;
    case 2:
      MPI_Isend(out, n, MPI_BYTE, to, 2, MPI_COMM_WORLD, &request[0]);
      MPI_Isend(out, n, MPI_BYTE, to, 2, MPI_COMM_WORLD, &request[1]);
      MPI_Waitall(2, request, MPI_STATUSES_IGNORE);
      return;
    case 3: MPI_Ssend(out, n, MPI_BYTE, to, 2, MPI_COMM_WORLD); return;
    case 4: MPI_Issend(out, n, MPI_BYTE, to, 2, MPI_COMM_WORLD, request); break;
    default: MPI_Send(out, n, MPI_BYTE, to, 2, MPI_COMM_WORLD); return;
  }
  MPI_Wait(request, MPI_STATUS_IGNORE);
}

static void pairs(long step) {
  work_of_step(step);
  arrives(step);
  if (rank % 2 == 0 && rank + 1 < size) send_by_mode(rank + 1);
  for (int i = 0; rank % 2 == 1 && i < (plan.mode == 2 ? 2 : 1); i++)
    MPI_Recv(in, (int)plan.bytes, MPI_BYTE, rank - 1, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  goes_on(step);
}

static void swap(long step) {
  MPI_Request small;
  const int other = rank ^ 1, large = (int)plan.bytes;
  if (rank % 2 == 1) MPI_Isend(out, 8, MPI_BYTE, other, 3, MPI_COMM_WORLD, &small);
  work_of_step(step);
  arrives(step);
  if (rank % 2 == 1) {
    MPI_Recv(in, large, MPI_BYTE, other, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Wait(&small, MPI_STATUS_IGNORE);
  } else if (other < size) {
    MPI_Sendrecv(out, large, MPI_BYTE, other, 2, in, 8, MPI_BYTE, other, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  goes_on(step);
}

static void sendrecv(long step) {
  const int right = (rank + 1) % size, left = (rank + size - 1) % size, n = (int)plan.bytes;
  work_of_step(step);
  arrives(step);
  MPI_Sendrecv(out, n, MPI_BYTE, right, 4, in, n, MPI_BYTE, left, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  goes_on(step);
}

static int in_ring(void) { return rank < (int)plan.split; }

static void two(long step) {
  if (!in_ring()) {
    pairs(step);
    return;
  }
  MPI_Request request[4];
  const int ring = (int)plan.split, right = (rank + 1) % ring, left = (rank + ring - 1) % ring;
  MPI_Irecv(in, 1024, MPI_BYTE, left, 5, MPI_COMM_WORLD, &request[0]);
  MPI_Irecv(in + 1024, 1024, MPI_BYTE, right, 5, MPI_COMM_WORLD, &request[1]);
  work_of_step(step);
  arrives(step);
  MPI_Isend(out, 1024, MPI_BYTE, left, 5, MPI_COMM_WORLD, &request[2]);
  MPI_Isend(out, 1024, MPI_BYTE, right, 5, MPI_COMM_WORLD, &request[3]);
  MPI_Waitall(4, request, MPI_STATUSES_IGNORE);
  goes_on(step);
}

static int awaits_two(int waiter, int other, long step) {
  const int ring = (int)plan.split;
  if (waiter >= ring) return awaits_partner(waiter, other, step);
  return other < ring && (other == (waiter + 1) % ring || other == (waiter + ring - 1) % ring);
}

const struct kind pair_kinds[] = {{"pairs", pairs, awaits_partner, NULL, NULL},
                                  {"swap", swap, awaits_partner, NULL, NULL},
                                  {"sendrecv", sendrecv, awaits_left, NULL, NULL},
                                  {"two", two, awaits_two, NULL, NULL},
                                  {NULL, NULL, NULL, NULL, NULL}};
