// Exchanges with the ranks that edges=A-B,... name. Kinds:
//   exchange   work, then `blocks` messages of `bytes` each way along every edge; burst=N: N times after one work;
//              complete= 0 Waitall, 1 Waitany, 2 Waitsome, 3 a loop of Testall, 4 a loop of Test (pause_us between
//              tries)
//   probes     work, send to all, then for each edge mode= 0 a loop of Iprobe, 1 Probe, 2 Mprobe, 3 a loop of Improbe,
//   and
//              receive
//   overlap    send first what the last step made, then work in `pieces` with a Testall between them, then Waitall
//   mixed      as exchange, then Iallreduce and Wait
#include <mpi.h>
#include <sched.h>
#include <time.h>

#include "faults.h"

enum { most_requests = 2 * most_edges * 64 };
static MPI_Request request[most_requests];

static void pause_between(void) {
  if (plan.pause_us <= 0) {
    sched_yield();
    return;
  }
  const struct timespec pause = {0, plan.pause_us * 1000};
  nanosleep(&pause, NULL);
}

static void complete(int n) {
  int done = 0, index;
  static int indices[most_requests];
  switch (plan.complete) {
    case 1:
      for (int i = 0; i < n; i++) MPI_Waitany(n, request, &index, MPI_STATUS_IGNORE);
      break;
    case 2:
      while (done != MPI_UNDEFINED) MPI_Waitsome(n, request, &done, indices, MPI_STATUSES_IGNORE);
      break;
    case 3:
      for (MPI_Testall(n, request, &done, MPI_STATUSES_IGNORE); !done;
           MPI_Testall(n, request, &done, MPI_STATUSES_IGNORE))
        pause_between();
      break;
    case 4:
      for (int i = 0; i < n; i++)
        for (MPI_Test(&request[i], &done, MPI_STATUS_IGNORE); !done; MPI_Test(&request[i], &done, MPI_STATUS_IGNORE))
          pause_between();
      break;
    default: MPI_Waitall(n, request, MPI_STATUSES_IGNORE);
  }
}

static char* room(int e, long b) { return in + (size_t)(e * 64 + b) * (size_t)bytes_of(edge_with[e]); }

static int post_receives(int n) {
  for (int e = 0; e < edges; e++)
    for (long b = 0; b < blocks[edge_with[e]]; b++)
      MPI_Irecv(room(e, b), bytes_of(edge_with[e]), MPI_BYTE, edge_with[e], 1, MPI_COMM_WORLD, &request[n++]);
  return n;
}

static int post_sends(int n) {
  for (int e = 0; e < edges; e++)
    for (long b = 0; b < blocks[rank]; b++)
      MPI_Isend(out, bytes_of(rank), MPI_BYTE, edge_with[e], 1, MPI_COMM_WORLD, &request[n++]);
  return n;
}

static void exchange(long step) {
  for (long round = 0; round < plan.burst; round++) {
    int n = post_receives(0);
    if (round == 0) {
      work_of_step(step);
      arrives(step);
    }
    n = post_sends(n);
    complete(n);
  }
  goes_on(step);
}

static void mixed(long step) {
  double mine = rank, sum = 0;
  exchange(step);
  MPI_Request all;
  MPI_Iallreduce(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, &all);
  MPI_Wait(&all, MPI_STATUS_IGNORE);
}

static void probe_and_receive(int from, char* to) {
  int there = 0;
  MPI_Message message;
  MPI_Status status;
  switch (plan.mode) {
    case 0:
      for (;;) {
        MPI_Iprobe(from, 1, MPI_COMM_WORLD, &there, &status);
        if (there) break;
        pause_between();
      }
      break;
    case 1: MPI_Probe(from, 1, MPI_COMM_WORLD, &status); break;
    case 2: MPI_Mprobe(from, 1, MPI_COMM_WORLD, &message, &status); break;
    default:
      for (;;) {
        MPI_Improbe(from, 1, MPI_COMM_WORLD, &there, &message, &status);
        if (there) break;
        pause_between();
      }
  }
  if (plan.mode < 2) {
    MPI_Recv(to, bytes_of(from), MPI_BYTE, from, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  } else {
    MPI_Mrecv(to, bytes_of(from), MPI_BYTE, &message, MPI_STATUS_IGNORE);
  }
}

static void probes(long step) {
  work_of_step(step);
  arrives(step);
  const int n = post_sends(0);
  for (int e = 0; e < edges; e++) probe_and_receive(edge_with[e], room(e, 0));
  MPI_Waitall(n, request, MPI_STATUSES_IGNORE);
  goes_on(step);
}

static void overlap(long step) {
  int done = 0;
  ready(step);
  const int n = post_sends(post_receives(0));
  const double us = work_us_of(step);
  for (long piece = 0; piece < plan.pieces; piece++) {
    work(us / (double)plan.pieces);
    if (plan.pieces > 1 && !done) MPI_Testall(n, request, &done, MPI_STATUSES_IGNORE);
  }
  waits_from(step);
  if (!done) MPI_Waitall(n, request, MPI_STATUSES_IGNORE);
  goes_on(step);
}

const struct kind halo_kinds[] = {{"exchange", exchange, awaits_edges, NULL, NULL},
                                  {"mixed", mixed, awaits_edges, NULL, NULL},
                                  {"probes", probes, awaits_edges, NULL, NULL},
                                  {"overlap", overlap, awaits_edges, NULL, NULL},
                                  {NULL, NULL, NULL, NULL, NULL}};
