// A ring in one direction with a slow rank: each rank computes (sleeps), sends to the next one and receives from the
// one before. Without the slow rank a step takes as long as the others compute: what a what-if must foresee.
// Arguments: way (0), bytes (512), steps (60), microseconds of rank 1 (40000), of the others (10000).
// Ways: 0 Irecv, Isend, Waitall; 1 the same, persistent; 2 Irecv, Send, Waitall; 3 half of the computation between
// Isend and Waitall; 4 Sendrecv; 5 Send, Probe, Recv; 6 Irecv, Isend, a Wait for each. Prints the seconds of the loop,
// and those lost: of each step, the most that a rank took for it beyond what was asked and its wait for others. No
// chain of ranks that waited for each other is later than the sum of these. Others are awaited by their own stamps:
// the sender until it sent a short message, or is inside MPI with a longer one; and the receiver until it is inside
// MPI, as an MPI implementation may complete a send, even of a short message, only then.
#include "answer.h"
#include "sleeping.h"

enum { sent_at_once = 4000 };  // bytes: when shorter, no MPI implementation waits for the receiver before it sends

struct step {
  double ready, waits, goes_on;  // sends; waits for others; has what it needs
};

// Of all ranks' steps, rank by rank.
static double lost_s(const struct step* all, int size, long steps, int bytes, double begin, const double* asked_s) {
  double sum = 0;
  for (long i = 0; i < steps; i++) {
    double most = 0;
    for (int r = 0; r < size; r++) {
      const struct step mine = all[r * steps + i];
      const struct step from = all[(r + size - 1) % size * steps + i], to = all[(r + 1) % size * steps + i];
      double there = bytes < sent_at_once ? from.ready : from.waits;
      if (to.waits > there) there = to.waits;
      if (there > mine.goes_on) there = mine.goes_on;
      const double waited = there > mine.waits ? there - mine.waits : 0;
      const double lost = mine.goes_on - (i > 0 ? all[r * steps + i - 1].goes_on : begin) - asked_s[r] - waited;
      if (lost > most) most = lost;
    }
    sum += most;
  }
  return sum;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const long way = argument(argc, argv, 1, 0);
  const int bytes = (int)argument(argc, argv, 2, 512);
  const long steps = argument(argc, argv, 3, 60);
  int rank, size;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const long us = rank == 1 ? argument(argc, argv, 4, 40000) : argument(argc, argv, 5, 10000);
  const int to = (rank + 1) % size, from = (rank + size - 1) % size;
  char* out = calloc((size_t)bytes, 1);
  char* in = calloc((size_t)bytes, 1);
  struct step* mine = calloc((size_t)steps, sizeof *mine);
  MPI_Request requests[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
  if (way == 1) {
    MPI_Recv_init(in, bytes, MPI_BYTE, from, 1, MPI_COMM_WORLD, &requests[0]);
    MPI_Send_init(out, bytes, MPI_BYTE, to, 1, MPI_COMM_WORLD, &requests[1]);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  const double begin = now_s();
  for (long i = 0; i < steps; i++) {
    compute(way == 3 ? us / 2 : us);
    mine[i].ready = mine[i].waits = now_s();
    if (way == 0 || way == 3 || way == 6) {
      MPI_Irecv(in, bytes, MPI_BYTE, from, 1, MPI_COMM_WORLD, &requests[0]);
      MPI_Isend(out, bytes, MPI_BYTE, to, 1, MPI_COMM_WORLD, &requests[1]);
      if (way == 3) {
        compute(us / 2);
        mine[i].waits = now_s();
      }
    } else if (way == 1) {
      MPI_Startall(2, requests);
    } else if (way == 2) {
      MPI_Irecv(in, bytes, MPI_BYTE, from, 1, MPI_COMM_WORLD, &requests[0]);
      MPI_Send(out, bytes, MPI_BYTE, to, 1, MPI_COMM_WORLD);
    } else if (way == 4) {
      MPI_Sendrecv(out, bytes, MPI_BYTE, to, 1, in, bytes, MPI_BYTE, from, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else {
      MPI_Send(out, bytes, MPI_BYTE, to, 1, MPI_COMM_WORLD);
      MPI_Probe(from, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      MPI_Recv(in, bytes, MPI_BYTE, from, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    if (way == 6) {
      MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
      MPI_Wait(&requests[1], MPI_STATUS_IGNORE);
    } else if (way < 4) {
      MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    }
    mine[i].goes_on = now_s();
  }
  if (way == 1) {
    MPI_Request_free(&requests[0]);
    MPI_Request_free(&requests[1]);
  }
  const double took = now_s() - begin, asked_s = 1e-6 * (double)us;
  double longest;
  MPI_Reduce(&took, &longest, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
  struct step* all = calloc((size_t)(steps * size), sizeof *all);
  double* asked = calloc((size_t)size, sizeof *asked);
  MPI_Gather(mine, (int)(3 * steps), MPI_DOUBLE, all, (int)(3 * steps), MPI_DOUBLE, 0, MPI_COMM_WORLD);
  MPI_Gather(&asked_s, 1, MPI_DOUBLE, asked, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  if (rank == 0) printf("rings: loop %.6f lost %.6f\n", longest, lost_s(all, size, steps, bytes, begin, asked));
  free(asked);
  free(all);
  free(mine);
  free(out);
  free(in);
  MPI_Finalize();
  return 0;
}
