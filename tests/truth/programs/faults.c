// An MPI program with one injected fault, for tests/truth/run: the runner decides who talks with whom and what goes
// wrong. Arguments: kind=WORD and key=value (faults.h; kinds: see each file). Work is sleep, not computation: there may
// be more ranks than cores, and what is injected must be what happens. On stdout, ns, moments T by CLOCK_REALTIME:
//   truth start T, truth stop T     when all begin, when all have ended
//   truth begin T, truth end T      of the fault, where the program has it
//   truth overslept NS     the most by which a rank's work was longer than asked: a machine without time for its ranks
//   truth unequal NS       by how much one rank's work in all was longer than another's, beyond what was asked
//   truth lost NS          of each step, the most that a rank took for it beyond its work and its wait for others, by
//                          all ranks' stamps: no chain of ranks that waited for each other is later than their sum
//   cost waited RANK NS    what this rank waited for the ranks it needs, by all ranks' stamps (faults.h)
//   cost inside RANK NS    its time between the stamps
//   arrive init RANK T     arrive finalize RANK T    when it came to MPI_Init and MPI_Finalize
//   series NS NS ...       of 0.1 s each, from the start: all ranks' time between the stamps
// A step of a rank works work_us * factor, and in steps [from, to) of slow ranks slow_us more (every=K: in each K-th of
// them); late=SEED: another rank each step (by the seed) works slow_us more.
#define _GNU_SOURCE
#include "faults.h"

#include <mpi.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct plan plan = {.kind = "exchange",
                    .op = "barrier",
                    .steps = 100,
                    .bytes = 1024,
                    .work_us = 1000,
                    .to = -1,
                    .every = 1,
                    .burst = 1,
                    .pieces = 1,
                    .planes = 1};
int rank, size, slow;
long blocks[most_ranks];
double weights[most_ranks];
int slow_ranks[most_ranks];
int edge_with[most_edges], edges;
char *out, *in;

static int slow_count;
static double factor = 1;  // of this rank's work
static double most_weight = 1;
static long overslept_ns;  // the most by which the system woke this rank too late
static long overslept_sum_ns;
enum { per_step = 4 };
static long* stamps;   // of each step: waits_from, ready, goes_on, and the work asked since the step before, in ns
static long asked_ns;  // since then
static long started_ns;
enum { bins = 600 };
static long bin_ns[bins];

static long clock_ns(clockid_t clock) {
  struct timespec now;
  clock_gettime(clock, &now);
  return now.tv_sec * 1000000000L + now.tv_nsec;
}

long now_ns(void) { return clock_ns(CLOCK_MONOTONIC); }

static void tell(const char* what) {
  printf("truth %s %ld\n", what, clock_ns(CLOCK_REALTIME));
  fflush(stdout);
}

void work(double us) {
  if (us <= 0) return;
  const long ns = (long)(us * 1000);
  const long begin = now_ns();
  if (plan.spin) {
    while (now_ns() < begin + ns) {}
  } else {
    const struct timespec pause = {ns / 1000000000L, ns % 1000000000L};
    nanosleep(&pause, NULL);
  }
  const long over = now_ns() - begin - ns;
  asked_ns += ns;
  if (over > overslept_ns) overslept_ns = over;
  overslept_sum_ns += over;
}

void forget_overslept(void) { overslept_sum_ns = 0; }

static unsigned long mix(unsigned long x) {
  x += 0x9e3779b97f4a7c15u;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

int acts(long step) { return plan.slow_us > 0 && step >= plan.from && (plan.to < 0 || step < plan.to); }

static int late_in(long step) {
  if (!acts(step) || step % plan.every != plan.every - 1) return 0;
  return plan.late ? (int)(mix((unsigned long)(plan.late + step)) % (unsigned long)size) == rank : slow;
}

double work_us_of(long step) {
  double us = (double)plan.work_us * factor * (double)blocks[rank] * weights[rank];
  if (plan.jitter_us > 0) us += (double)(mix((unsigned long)(step * 4096 + rank)) % (unsigned long)plan.jitter_us);
  return late_in(step) ? us + (double)plan.slow_us : us;
}

void work_of_step(long step) { work(work_us_of(step)); }

int bytes_of(int of_rank) { return (int)((double)plan.bytes * weights[of_rank]); }

static void stamp(long step, int which) {
  if (stamps != NULL && step < most_steps_kept) stamps[per_step * step + which] = now_ns();
}

void waits_from(long step) { stamp(step, 0); }
void ready(long step) { stamp(step, 1); }
void arrives(long step) {
  stamp(step, 0);
  stamp(step, 1);
}

void goes_on(long step) {
  stamp(step, 2);
  if (stamps == NULL || step >= most_steps_kept) return;
  stamps[per_step * step + 3] += asked_ns;  // some kinds go on more than once in a step
  asked_ns = 0;
  const long width = 100000000, end = stamps[per_step * step + 2];
  for (long at = stamps[per_step * step]; at < end;) {
    const long bin = (at - started_ns) / width;
    if (bin < 0 || bin >= bins) break;
    const long until = started_ns + (bin + 1) * width < end ? started_ns + (bin + 1) * width : end;
    bin_ns[bin] += until - at;
    at = until;
  }
}

int awaits_all(int waiter, int other, long step) {
  (void)step;
  return waiter != other;
}

int awaits_partner(int waiter, int other, long step) {
  (void)step;
  return (waiter ^ 1) == other;
}

int awaits_left(int waiter, int other, long step) {
  (void)step;
  return (waiter + size - 1) % size == other;
}

// Of all ranks' graphs, which rank 0 needs: filled from the argument by everybody.
static unsigned char edge_between[most_ranks][most_ranks];

int awaits_edges(int waiter, int other, long step) {
  (void)step;
  return edge_between[waiter][other];
}

// The next word of a list behind its comma, or NULL.
static const char* after_comma(const char* at) { return strchr(at, ',') ? strchr(at, ',') + 1 : NULL; }

// "3-0,1-2:...": the partners of this rank.
static void read_edges(const char* text) {
  for (const char* at = text; at != NULL && *at != 0; at = after_comma(at)) {
    int a = 0, b = 0;
    if (sscanf(at, "%d-%d", &a, &b) != 2 || a < 0 || b < 0 || a >= most_ranks || b >= most_ranks) continue;
    edge_between[a][b] = edge_between[b][a] = 1;
    if (a == rank && edges < most_edges) edge_with[edges++] = b;
    if (b == rank && edges < most_edges) edge_with[edges++] = a;
  }
}

// "1,2,1.5": one number for each rank; of rank `which`.
static double of_rank(const char* text, int which) {
  const char* at = text;
  for (int i = 0; i < which && at != NULL; i++) at = after_comma(at);
  return at == NULL ? 1 : atof(at);
}

static void read_slow(const char* text) {
  for (const char* at = text; at != NULL && *at != 0 && slow_count < most_ranks; at = after_comma(at)) {
    slow_ranks[slow_count++] = atoi(at);
    if (atoi(at) == rank) slow = 1;
  }
}

static void read_argument(const char* word) {
  static const struct {
    const char* name;
    long* value;
  } numbers[] = {{"steps", &plan.steps},
                 {"bytes", &plan.bytes},
                 {"work_us", &plan.work_us},
                 {"jitter_us", &plan.jitter_us},
                 {"spin", &plan.spin},
                 {"slow_us", &plan.slow_us},
                 {"from", &plan.from},
                 {"to", &plan.to},
                 {"every", &plan.every},
                 {"root", &plan.root},
                 {"reply", &plan.reply},
                 {"serve_us", &plan.serve_us},
                 {"allreduce_every", &plan.allreduce_every},
                 {"late", &plan.late},
                 {"probe", &plan.probe},
                 {"complete", &plan.complete},
                 {"pause_us", &plan.pause_us},
                 {"burst", &plan.burst},
                 {"pieces", &plan.pieces},
                 {"mode", &plan.mode},
                 {"poll", &plan.poll},
                 {"after", &plan.after},
                 {"split", &plan.split},
                 {"planes", &plan.planes},
                 {"init_us", &plan.init_us},
                 {"end_us", &plan.end_us},
                 {"setup_us", &plan.setup_us},
                 {"setup_bytes", &plan.setup_bytes},
                 {"setup_times", &plan.setup_times},
                 {"io", &plan.io},
                 {"io_us", &plan.io_us}};
  const char* value = strchr(word, '=');
  if (value == NULL) return;
  const size_t length = (size_t)(value++ - word);
  const char* names[] = {"kind", "op", "edges", "slow", "factor", "blocks", "weights"};
  int which = -1;
  for (int i = 0; i < 7; i++)
    if (strlen(names[i]) == length && strncmp(word, names[i], length) == 0) which = i;
  if (which == 0) plan.kind = value;
  if (which == 1) plan.op = value;
  if (which == 2) read_edges(value);
  if (which == 3) read_slow(value);
  if (which == 4) factor = of_rank(value, rank);
  for (int r = 0; r < size && which == 5; r++) blocks[r] = (long)of_rank(value, r);
  for (int r = 0; r < size && which == 6; r++) {
    weights[r] = of_rank(value, r);
    if (weights[r] > most_weight) most_weight = weights[r];
  }
  for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
    if (strlen(numbers[i].name) == length && strncmp(word, numbers[i].name, length) == 0)
      *numbers[i].value = atol(value);
}

static const struct kind* kind_of(const char* name) {
  const struct kind* const all[] = {halo_kinds,       pair_kinds,      pipeline_kinds,
                                    collective_kinds, one_sided_kinds, file_kinds};
  for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
    for (const struct kind* kind = all[i]; kind->name != NULL; kind++)
      if (strcmp(kind->name, name) == 0) return kind;
  return NULL;
}

static void say_overslept(void) {
  long mine[3] = {overslept_ns, overslept_sum_ns, -overslept_sum_ns}, most[3];
  MPI_Reduce(mine, most, 3, MPI_LONG, MPI_MAX, 0, MPI_COMM_WORLD);
  if (rank == 0) printf("truth overslept %ld\ntruth unequal %ld\n", most[0], most[1] + most[2]);
}

// What rank `waiter` waited in a step, by all ranks' stamps.
static long waited_ns(const struct kind* kind, const long* all, long kept, int waiter, long step) {
  const long* mine = all + per_step * (kept * waiter + step);
  if (mine[0] == 0 || mine[2] == 0) return 0;
  if (kind->awaits == NULL) return mine[2] - mine[0];
  long latest = 0;
  for (int other = 0; other < size; other++) {
    const long there = all[per_step * (kept * other + step) + 1];
    if (kind->awaits(waiter, other, step) && there > latest) latest = there;
  }
  if (latest > mine[2]) latest = mine[2];
  return latest > mine[0] ? latest - mine[0] : 0;
}

static void say_lost(const struct kind* kind, const long* all, long kept) {
  long sum = 0;
  for (long step = 1; step < kept; step++) {
    long most = 0;
    for (int r = 0; r < size; r++) {
      const long *of = all + per_step * (kept * r + step), before = (of - per_step)[2];
      const long lost = of[2] - before - of[3] - waited_ns(kind, all, kept, r, step);
      if (before != 0 && lost > most) most = lost;
    }
    sum += most;
  }
  printf("truth lost %ld\n", sum);
}

static void say_costs(const struct kind* kind) {
  const long kept = plan.steps < most_steps_kept ? plan.steps : most_steps_kept;
  long* all = rank == 0 ? malloc(sizeof(long) * per_step * (size_t)(kept * size)) : NULL;
  long sums[bins] = {0};
  MPI_Reduce(bin_ns, sums, bins, MPI_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
  MPI_Gather(stamps, (int)(per_step * kept), MPI_LONG, all, (int)(per_step * kept), MPI_LONG, 0, MPI_COMM_WORLD);
  if (rank != 0) return;
  for (int r = 0; r < size; r++) {
    long waited = 0, inside = 0;
    for (long step = 0; step < kept; step++) {
      const long* of = all + per_step * (kept * r + step);
      waited += waited_ns(kind, all, kept, r, step);
      if (of[0] != 0 && of[2] > of[0]) inside += of[2] - of[0];
    }
    printf("cost waited %d %ld\ncost inside %d %ld\n", r, waited, r, inside);
  }
  say_lost(kind, all, kept);
  int used = bins;
  while (used > 0 && sums[used - 1] == 0) used--;
  printf("series");
  for (int i = 0; i < used; i++) printf(" %ld", sums[i]);
  printf("\n");
  fflush(stdout);
  free(all);
}

// Every rank has read its own part of the input; some ranks tell the others what they found.
static void setup(void) {
  if (plan.setup_times == 0) return;
  char* table = calloc(1, (size_t)plan.setup_bytes);
  for (long i = 0; i < plan.setup_times; i++) {
    work((double)plan.setup_us);
    MPI_Bcast(table, (int)plan.setup_bytes, MPI_BYTE, (int)(i % size), MPI_COMM_WORLD);
  }
  free(table);
}

// Results at the end of the run: a file of each rank's own.
static void write_results(void) {
  if (plan.io == 0) return;
  char name[64];
  snprintf(name, sizeof name, "results-%d", rank);
  MPI_File file = MPI_FILE_NULL;
  FILE* plain = NULL;
  if (plan.io == 2) {
    MPI_File_open(MPI_COMM_SELF, name, MPI_MODE_CREATE | MPI_MODE_WRONLY, MPI_INFO_NULL, &file);
  } else {
    plain = fopen(name, "w");
  }
  for (int i = 0; i < 10; i++) {
    work((double)plan.io_us / 10);
    if (file != MPI_FILE_NULL) MPI_File_write(file, out, (int)plan.bytes, MPI_BYTE, MPI_STATUS_IGNORE);
    if (plain != NULL) fwrite(out, 1, (size_t)plan.bytes, plain);
  }
  if (file != MPI_FILE_NULL) MPI_File_close(&file);
  if (plain != NULL) fclose(plain);
}

// Before MPI_Init only the launcher's environment tells who this is.
static void come_late(int argc, char** argv) {
  const char* named = getenv("OMPI_COMM_WORLD_RANK") ? getenv("OMPI_COMM_WORLD_RANK") : getenv("PMI_RANK");
  if (named == NULL) return;
  rank = atoi(named);
  for (int i = 1; i < argc; i++)
    if (strncmp(argv[i], "init_us=", 8) == 0 || strncmp(argv[i], "slow=", 5) == 0) read_argument(argv[i]);
  if (slow) work((double)plan.init_us);
  slow = slow_count = 0;
}

int main(int argc, char** argv) {
  come_late(argc, argv);
  const long came = clock_ns(CLOCK_REALTIME);
  MPI_Init(&argc, &argv);
  overslept_ns = overslept_sum_ns = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (size > most_ranks) MPI_Abort(MPI_COMM_WORLD, 2);
  for (int r = 0; r < size; r++) blocks[r] = 1;
  for (int r = 0; r < size; r++) weights[r] = 1;
  for (int i = 1; i < argc; i++) read_argument(argv[i]);
  for (int r = 0; r < size; r++)
    if (blocks[r] < 0 || blocks[r] > 64) MPI_Abort(MPI_COMM_WORLD, 2);
  const size_t largest = (size_t)((double)plan.bytes * most_weight) + 64;
  out = calloc(1, largest);
  in = malloc(largest * 64 * (size_t)(edges + 1));
  const struct kind* kind = kind_of(plan.kind);
  if (kind == NULL || out == NULL || in == NULL) MPI_Abort(MPI_COMM_WORLD, 2);
  stamps = calloc(plan.steps < most_steps_kept ? (size_t)plan.steps : most_steps_kept, per_step * sizeof(long));
  if (kind->begin != NULL) kind->begin();
  MPI_Barrier(MPI_COMM_WORLD);
  const int speaker = slow_count == 0 ? 0 : slow_ranks[0];
  if (rank == 0) tell("start");
  setup();
  started_ns = now_ns();
  for (long step = 0; step < plan.steps; step++) {
    if (rank == speaker && acts(step) && (step == 0 || !acts(step - 1))) tell("begin");
    if (rank == speaker && !acts(step) && step > 0 && acts(step - 1)) tell("end");
    kind->step(step);
    if (plan.allreduce_every > 0 && step % plan.allreduce_every == plan.allreduce_every - 1) {
      double mine = rank, sum;
      MPI_Allreduce(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    }
  }
  write_results();
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) tell("stop");
  if (kind->end != NULL) kind->end();
  say_overslept();
  say_costs(kind);
  free(stamps);
  free(in);
  free(out);
  if (slow) work((double)plan.end_us);
  printf("arrive init %d %ld\narrive finalize %d %ld\n", rank, came, rank, clock_ns(CLOCK_REALTIME));
  fflush(stdout);
  MPI_Finalize();
  return 0;
}
