// An MPI program with one injected fault, for tests/truth/run: the runner decides who talks with whom and what goes
// wrong. Arguments: kind=WORD and key=value (below). Work is sleep, not computation: there may be more ranks than
// cores, and what is injected must be what happens. On stdout, times by CLOCK_REALTIME in ns:
//   truth start T    truth begin T    truth end T    truth stop T      (begin, end: of the fault, when the program has
//   it) truth overslept NS: the most by which a rank's work was longer than asked (a machine without time for its
//   ranks) truth unequal NS: by how much one rank's work in all was longer than another's, beyond what was asked
//   truth longer NS: by how much a rank's work in all was longer than asked, the most
// kinds: exchange   every step: work, then one message of `bytes` each way along every edge, `blocks` of them per rank
//        pairs      2k works and sends blocking to 2k + 1, which works and only then receives
//        gather     everybody works and sends to rank `root`, which serves one after the other (reply=1: answers each)
//        chain      rank r waits for r - 1, works, sends to r + 1; the last lets rank 0 go on: one rank works at a time
//        reduce     work, then a collective operation
//        farm       rank `root` gives a task to each rank, and the next one to whoever is ready; `steps` tasks in all
// A step of a rank works work_us * factor, and in steps [from, to) of slow ranks slow_us more; late=SEED: another rank
// each step (by the seed) works slow_us more.
#define _GNU_SOURCE
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { most_ranks = 256, most_edges = 64 };

static struct {
  const char* kind;
  long steps, bytes, work_us, jitter_us, spin, slow_us, from, to, root, reply, serve_us, allreduce_every, late;
} plan = {.kind = "exchange", .steps = 100, .bytes = 1024, .work_us = 1000, .to = -1};

static int rank, size;
static double factor = 1;    // of this rank's work
static int slow;             // this rank is one of the slow ones
static int first_slow = -1;  // this one says when the fault began
static long blocks[most_ranks];
static int edge_with[most_edges], edges;
static char *out, *in;
static long overslept_ns;  // the most by which the system woke this rank too late: more than what is injected happened
static long overslept_sum_ns;

static long now_ns(clockid_t clock) {
  struct timespec now;
  clock_gettime(clock, &now);
  return now.tv_sec * 1000000000L + now.tv_nsec;
}

static void tell(const char* what) {
  printf("truth %s %ld\n", what, now_ns(CLOCK_REALTIME));
  fflush(stdout);
}

static void work(double us) {
  if (us <= 0) return;
  const long ns = (long)(us * 1000);
  const long begin = now_ns(CLOCK_MONOTONIC);
  if (plan.spin) {
    while (now_ns(CLOCK_MONOTONIC) < begin + ns) {}
  } else {
    const struct timespec pause = {ns / 1000000000L, ns % 1000000000L};
    nanosleep(&pause, NULL);
  }
  const long over = now_ns(CLOCK_MONOTONIC) - begin - ns;
  if (over > overslept_ns) overslept_ns = over;
  overslept_sum_ns += over;
}

static unsigned long mix(unsigned long x) {
  x += 0x9e3779b97f4a7c15u;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

static int acts(long step) { return plan.slow_us > 0 && step >= plan.from && (plan.to < 0 || step < plan.to); }

// What this rank computes in a step, once for each of its blocks.
static void work_of_step(long step) {
  double us = plan.work_us * factor * (double)blocks[rank];
  if (plan.jitter_us > 0) us += (double)(mix((unsigned long)(step * 4096 + rank)) % (unsigned long)plan.jitter_us);
  if (acts(step) && (plan.late ? (int)(mix((unsigned long)(plan.late + step)) % (unsigned long)size) == rank : slow))
    us += plan.slow_us;
  work(us);
}

static void exchange(long step) {
  static MPI_Request request[2 * most_edges * 64];
  int n = 0;
  for (int e = 0; e < edges; e++)
    for (long b = 0; b < blocks[edge_with[e]]; b++)
      MPI_Irecv(in + (e * 64 + b) * plan.bytes, (int)plan.bytes, MPI_BYTE, edge_with[e], 1, MPI_COMM_WORLD,
                &request[n++]);
  work_of_step(step);
  for (int e = 0; e < edges; e++)
    for (long b = 0; b < blocks[rank]; b++)
      MPI_Isend(out, (int)plan.bytes, MPI_BYTE, edge_with[e], 1, MPI_COMM_WORLD, &request[n++]);
  MPI_Waitall(n, request, MPI_STATUSES_IGNORE);
}

static void pairs(long step) {
  work_of_step(step);
  if (rank % 2 == 0 && rank + 1 < size) MPI_Send(out, (int)plan.bytes, MPI_BYTE, rank + 1, 2, MPI_COMM_WORLD);
  if (rank % 2 == 1) MPI_Recv(in, (int)plan.bytes, MPI_BYTE, rank - 1, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void gather(long step) {
  if (rank != (int)plan.root) {
    work_of_step(step);
    MPI_Send(out, (int)plan.bytes, MPI_BYTE, (int)plan.root, 3, MPI_COMM_WORLD);
    if (plan.reply) MPI_Recv(in, 64, MPI_BYTE, (int)plan.root, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return;
  }
  for (int i = 0; i < size - 1; i++) {
    MPI_Status status;
    MPI_Recv(in, (int)plan.bytes, MPI_BYTE, MPI_ANY_SOURCE, 3, MPI_COMM_WORLD, &status);
    work((double)plan.serve_us);
    if (plan.reply) MPI_Send(out, 64, MPI_BYTE, status.MPI_SOURCE, 4, MPI_COMM_WORLD);
  }
}

static void chain(long step) {
  const int bytes = (int)plan.bytes;
  if (rank > 0) MPI_Recv(in, bytes, MPI_BYTE, rank - 1, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  work_of_step(step);
  if (size > 1) MPI_Send(out, bytes, MPI_BYTE, (rank + 1) % size, 5, MPI_COMM_WORLD);
  if (rank == 0 && size > 1) MPI_Recv(in, bytes, MPI_BYTE, size - 1, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void reduce(long step) {
  double mine = rank, sum = 0;
  work_of_step(step);
  if (step % 4 == 3) {
    MPI_Barrier(MPI_COMM_WORLD);
  } else {
    MPI_Allreduce(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  }
}

// All tasks in the first step; work goes by the number of the task.
static void farm(long step) {
  if (step > 0) return;
  long task = 0, none = -1;
  if (rank != (int)plan.root) {
    for (;;) {
      MPI_Recv(&task, 1, MPI_LONG, (int)plan.root, 6, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      if (task < 0) break;
      work_of_step(task);
      MPI_Send(out, (int)plan.bytes, MPI_BYTE, (int)plan.root, 7, MPI_COMM_WORLD);
    }
    overslept_sum_ns = 0;  // who is slower is given fewer tasks
    return;
  }
  for (int r = 0; r < size; r++)
    if (r != rank) MPI_Send(&task, 1, MPI_LONG, r, 6, MPI_COMM_WORLD), task++;
  for (int working = size - 1; working > 0;) {
    MPI_Status status;
    MPI_Recv(in, (int)plan.bytes, MPI_BYTE, MPI_ANY_SOURCE, 7, MPI_COMM_WORLD, &status);
    const int more = task < plan.steps;
    MPI_Send(more ? &task : &none, 1, MPI_LONG, status.MPI_SOURCE, 6, MPI_COMM_WORLD);
    task += more;
    working -= !more;
  }
}

// "3-0,1-2:...": the partners of this rank.
static void read_edges(const char* text) {
  for (const char* at = text; at != NULL && *at != 0; at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL) {
    int a = 0, b = 0;
    if (sscanf(at, "%d-%d", &a, &b) != 2) continue;
    if (a == rank && edges < most_edges) edge_with[edges++] = b;
    if (b == rank && edges < most_edges) edge_with[edges++] = a;
  }
}

// "1,2,1.5": one number for each rank; of rank `which`.
static double of_rank(const char* text, int which) {
  const char* at = text;
  for (int i = 0; i < which && at != NULL; i++) at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL;
  return at == NULL ? 1 : atof(at);
}

static void read_slow(const char* text) {
  for (const char* at = text; at != NULL && *at != 0; at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL) {
    if (first_slow < 0) first_slow = atoi(at);
    if (atoi(at) == rank) slow = 1;
  }
}

static void read_argument(const char* word) {
  static const struct {
    const char* name;
    long* value;
  } numbers[] = {{"steps", &plan.steps},       {"bytes", &plan.bytes},
                 {"work_us", &plan.work_us},   {"jitter_us", &plan.jitter_us},
                 {"spin", &plan.spin},         {"slow_us", &plan.slow_us},
                 {"from", &plan.from},         {"to", &plan.to},
                 {"root", &plan.root},         {"reply", &plan.reply},
                 {"serve_us", &plan.serve_us}, {"allreduce_every", &plan.allreduce_every},
                 {"late", &plan.late}};
  const char* value = strchr(word, '=');
  if (value == NULL) return;
  const size_t length = (size_t)(value++ - word);
  if (strncmp(word, "kind", length) == 0) plan.kind = value;
  if (strncmp(word, "edges", length) == 0) read_edges(value);
  if (strncmp(word, "slow", length) == 0 && length == 4) read_slow(value);
  if (strncmp(word, "factor", length) == 0) factor = of_rank(value, rank);
  if (strncmp(word, "blocks", length) == 0)
    for (int r = 0; r < size; r++) blocks[r] = (long)of_rank(value, r);
  for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
    if (strlen(numbers[i].name) == length && strncmp(word, numbers[i].name, length) == 0)
      *numbers[i].value = atol(value);
}

static void say_overslept(void) {
  long mine[3] = {overslept_ns, overslept_sum_ns, -overslept_sum_ns}, most[3];
  MPI_Reduce(mine, most, 3, MPI_LONG, MPI_MAX, 0, MPI_COMM_WORLD);
  if (rank == 0)
    printf("truth overslept %ld\ntruth unequal %ld\ntruth longer %ld\n", most[0], most[1] + most[2], most[1]);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (size > most_ranks) MPI_Abort(MPI_COMM_WORLD, 2);
  for (int r = 0; r < size; r++) blocks[r] = 1;
  for (int i = 1; i < argc; i++) read_argument(argv[i]);
  for (int r = 0; r < size; r++)
    if (blocks[r] < 0 || blocks[r] > 64) MPI_Abort(MPI_COMM_WORLD, 2);
  out = calloc(1, (size_t)plan.bytes);
  in = malloc((size_t)plan.bytes * 64 * (size_t)(edges + 1));
  static const struct {
    const char* name;
    void (*step)(long);
  } kinds[] = {{"exchange", exchange}, {"pairs", pairs},   {"gather", gather},
               {"chain", chain},       {"reduce", reduce}, {"farm", farm}};
  void (*one_step)(long) = NULL;
  for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
    if (strcmp(plan.kind, kinds[i].name) == 0) one_step = kinds[i].step;
  if (one_step == NULL || out == NULL || in == NULL) MPI_Abort(MPI_COMM_WORLD, 2);
  MPI_Barrier(MPI_COMM_WORLD);
  const int speaker = first_slow < 0 ? 0 : first_slow;
  if (rank == 0) tell("start");
  for (long step = 0; step < plan.steps; step++) {
    if (rank == speaker && acts(step) && (step == 0 || !acts(step - 1))) tell("begin");
    if (rank == speaker && !acts(step) && step > 0 && acts(step - 1)) tell("end");
    one_step(step);
    if (plan.allreduce_every > 0 && step % plan.allreduce_every == plan.allreduce_every - 1) {
      double mine = rank, sum;
      MPI_Allreduce(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    }
  }
  if (rank == 0) tell("stop");
  say_overslept();
  free(in);
  free(out);
  MPI_Finalize();
  return 0;
}
