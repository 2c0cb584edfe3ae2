// Parts of a program that it names: in "left" (each round) the odd ranks work twice as long, in "right" all alike,
// "round" is both; a level of MPI_Pcontrol for the first half of the rounds. Each part ends with a barrier, but
// "right". Each rank notes for itself how long it was in a part, and in MPI there, and writes NAME NANOSECONDS
// NANOSECONDS_IN_MPI into the file rank-R of a directory. Arguments: directory, rounds (40), microseconds of work
// (2000), perhaps until=FILE.
#include <time.h>

#include "../../interpose/marker/pclscope.h"
#include "answer.h"

enum { left, right, round_, level, parts };
static const char* const names[parts] = {"left", "right, with a name of more than forty bytes", "round", "level 2"};
static int64_t since[parts], sum[parts], in_mpi[parts];
static int inside[parts];

static int64_t now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec * 1000000000LL + t.tv_nsec;
}

static void come(int part) {
  inside[part] = 1;
  since[part] = now();
}
static void go(int part) {
  inside[part] = 0;
  sum[part] += now() - since[part];
}

static void work(long microseconds) {
  for (const int64_t end = now() + microseconds * 1000; now() < end;) {}
}

static void meet(void) {
  const int64_t begin = now();
  MPI_Barrier(MPI_COMM_WORLD);
  const int64_t took = now() - begin;
  for (int part = 0; part < parts; part++) in_mpi[part] += inside[part] ? took : 0;
}

int main(int argc, char** argv) {
  const char* until = take_until(&argc, argv);
  int me, size;
  pclscope_begin("before MPI_Init");
  MPI_Init(&argc, &argv);
  pclscope_end("before MPI_Init");
  MPI_Comm_rank(MPI_COMM_WORLD, &me);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const long rounds = argument(argc, argv, 2, 40), work_us = argument(argc, argv, 3, 2000);
  REQUIRE(argc > 1 && rounds % 2 == 0);
  meet();
  for (long i = 0; i < rounds && !is_told_to_end(until); i++) {
    if (i == 0) MPI_Pcontrol(2), come(level);
    if (i == rounds / 2) go(level), MPI_Pcontrol(-2);
    come(round_), pclscope_iteration(names[round_], 1000 + i);
    come(left), pclscope_begin(names[left]);
    work(me % 2 == 1 ? 2 * work_us : work_us);
    meet();
    pclscope_end(names[left]), go(left);
    come(right), pclscope_begin(names[right]);
    work(work_us);
    pclscope_end(names[right]), go(right);
    meet();
    if (i + 1 == rounds) pclscope_end(names[round_]);
    go(round_);
  }
  char path[4096];
  snprintf(path, sizeof path, "%s/rank-%d", argv[1], me);
  FILE* notes = fopen(path, "w");
  REQUIRE(notes != NULL);
  for (int part = 0; part < parts; part++)
    fprintf(notes, "%s\t%lld\t%lld\n", names[part], (long long)sum[part], (long long)in_mpi[part]);
  fclose(notes);
  if (me == 0) printf("markers: %ld rounds on %d ranks\n", rounds, size);
  MPI_Finalize();
  pclscope_begin("after MPI_Finalize");
  return 0;
}
