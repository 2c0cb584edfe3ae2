// What the kinds of the program `faults` share: what is asked for, work that is sleep, and the clock's truth. One
// thread.
//
// A step of a kind says when this rank begins to wait for others (waits_from), from when on what others wait for is
// there (ready), and when it goes on (goes_on). From these stamps of all ranks follows what each rank really waited:
// for a step, the latest `ready` of the ranks that it waits for less its own `waits_from`, within the call.
// CLOCK_MONOTONIC, ns; all ranks share one machine, also on the nodes of the testbed.
#pragma once
#include <mpi.h>
#include <stddef.h>

enum { most_ranks = 256, most_edges = 64, most_steps_kept = 1 << 16 };

struct plan {
  const char* kind;
  const char* op;                               // of collectives and one-sided kinds
  long steps, bytes, work_us, jitter_us, spin;  // every rank
  long slow_us, from, to, every, late;          // slow ranks, in which steps; late: another one each step, by this seed
  long root, reply, serve_us, allreduce_every, probe;
  long complete, pause_us, burst, pieces;  // how requests are completed; how work is cut
  long mode, poll, after, split, planes;
  long init_us, end_us;                     // slow ranks: before MPI_Init, before MPI_Finalize
  long setup_us, setup_bytes, setup_times;  // before the first step
  long io, io_us;                           // after the last: 1 a plain file, 2 MPI_File
};
extern struct plan plan;

struct kind {
  const char* name;
  void (*step)(long step);
  int (*awaits)(int waiter, int other, long step);  // NULL: the time between the stamps is the cost
  void (*begin)(void);                              // may be NULL; collective
  void (*end)(void);                                // the same
};
extern const struct kind halo_kinds[], pair_kinds[], pipeline_kinds[], collective_kinds[], one_sided_kinds[],
    file_kinds[];

extern int rank, size, slow;        // slow: this rank is one of the slow ones
extern long blocks[most_ranks];     // of each rank: times the work, and the messages
extern double weights[most_ranks];  // of each rank: times the work, and the bytes of its messages
extern int slow_ranks[most_ranks];  // in the order of the argument
extern int edge_with[most_edges], edges;
extern char *out, *in;  // plan.bytes * the largest weight; the same for 64 messages of each edge

long now_ns(void);
void work(double us);
double work_us_of(long step);  // what this rank computes in a step, once for each of its blocks
void work_of_step(long step);
int acts(long step);  // whether slow ranks are slow in it
int bytes_of(int of_rank);
void forget_overslept(void);  // where a rank that is slower is given less to do

void waits_from(long step);
void ready(long step);
void arrives(long step);  // both
void goes_on(long step);

int awaits_all(int waiter, int other, long step);
int awaits_edges(int waiter, int other, long step);
int awaits_partner(int waiter, int other, long step);  // 2k and 2k + 1
int awaits_left(int waiter, int other, long step);     // in a ring
