// Messages with a direction. Kinds:
//   chain      rank r waits for r - 1, works, sends to r + 1; the last lets rank 0 go on: one rank works at a time
//   pipeline   the same, but rank 0 goes on at once: all work at the same time on different steps
//   sweep      ranks in a grid receive from west and north, work, send to east and south: a step is a plane; after
//   `planes`
//              of them from the opposite corner
//   gather     everybody works and sends to rank `root`, which serves one after the other (reply=1: answers each)
//   farm       rank `root` gives a task to each rank, and the next one to whoever is ready; `steps` tasks in all;
//   probe=1: it
//              looks with MPI_Probe who that is
#include <mpi.h>

#include "faults.h"

static void chain(long step) {
  const int bytes = (int)plan.bytes;
  waits_from(step);
  if (rank > 0) MPI_Recv(in, bytes, MPI_BYTE, rank - 1, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  goes_on(step);
  work_of_step(step);
  ready(step);
  if (size > 1) MPI_Send(out, bytes, MPI_BYTE, (rank + 1) % size, 5, MPI_COMM_WORLD);
  if (rank > 0 || size == 1) return;
  waits_from(step);
  MPI_Recv(in, bytes, MPI_BYTE, size - 1, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  goes_on(step);
}

static void pipeline(long step) {
  const int bytes = (int)plan.bytes;
  if (rank > 0) {
    waits_from(step);
    MPI_Recv(in, bytes, MPI_BYTE, rank - 1, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    goes_on(step);
  }
  work_of_step(step);
  ready(step);
  if (rank + 1 < size) MPI_Send(out, bytes, MPI_BYTE, rank + 1, 5, MPI_COMM_WORLD);
}

static int awaits_one_before(int waiter, int other, long step) {
  (void)step;
  return other == waiter - 1;
}

// The grid is as square as can be; of `toward` -1 the neighbour that a rank waits for, +1 the one it sends to.
static int columns_of(void) {
  int columns = 1;
  for (int c = 1; c * c <= size; c++)
    if (size % c == 0) columns = size / c;
  return columns;
}

static int neighbour(int of, int down, int toward, long step) {
  const int columns = columns_of(), row = of / columns, column = of % columns;
  const int sign = step / plan.planes % 2 == 0 ? toward : -toward;
  const int r = row + (down ? sign : 0), c = column + (down ? 0 : sign);
  return r < 0 || c < 0 || r >= size / columns || c >= columns ? MPI_PROC_NULL : r * columns + c;
}

static void sweep(long step) {
  const int bytes = (int)plan.bytes;
  waits_from(step);
  for (int down = 0; down < 2; down++)
    MPI_Recv(in, bytes, MPI_BYTE, neighbour(rank, down, -1, step), 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  goes_on(step);
  work_of_step(step);
  ready(step);
  for (int down = 0; down < 2; down++)
    MPI_Send(out, bytes, MPI_BYTE, neighbour(rank, down, 1, step), 5, MPI_COMM_WORLD);
}

static int awaits_grid(int waiter, int other, long step) {
  return other == neighbour(waiter, 0, -1, step) || other == neighbour(waiter, 1, -1, step);
}

static void gather(long step) {
  if (rank != (int)plan.root) {
    work_of_step(step);
    waits_from(step);
    MPI_Send(out, (int)plan.bytes, MPI_BYTE, (int)plan.root, 3, MPI_COMM_WORLD);
    if (plan.reply) MPI_Recv(in, 64, MPI_BYTE, (int)plan.root, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    goes_on(step);
    return;
  }
  for (int i = 0; i < size - 1; i++) {
    MPI_Status status;
    MPI_Recv(in, (int)plan.bytes, MPI_BYTE, MPI_ANY_SOURCE, 3, MPI_COMM_WORLD, &status);
    work((double)plan.serve_us);
    if (plan.reply) MPI_Send(out, 64, MPI_BYTE, status.MPI_SOURCE, 4, MPI_COMM_WORLD);
  }
}

static void do_tasks(void) {
  long task = 0;
  for (long done = 0; task >= 0 && done < plan.steps; done++) {
    waits_from(done);
    MPI_Recv(&task, 1, MPI_LONG, (int)plan.root, 6, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    goes_on(done);
    if (task < 0) return;
    work_of_step(task);
    MPI_Send(out, (int)plan.bytes, MPI_BYTE, (int)plan.root, 7, MPI_COMM_WORLD);
  }
}

// All tasks in the first step; work goes by the number of the task.
static void farm(long step) {
  if (step > 0) return;
  if (rank != (int)plan.root) {
    do_tasks();
    forget_overslept();
    return;
  }
  long task = 0, none = -1;
  for (int r = 0; r < size; r++)
    if (r != rank) MPI_Send(&task, 1, MPI_LONG, r, 6, MPI_COMM_WORLD), task++;
  for (int working = size - 1; working > 0;) {
    MPI_Status status = {.MPI_SOURCE = MPI_ANY_SOURCE};
    if (plan.probe) MPI_Probe(MPI_ANY_SOURCE, 7, MPI_COMM_WORLD, &status);
    MPI_Recv(in, (int)plan.bytes, MPI_BYTE, status.MPI_SOURCE, 7, MPI_COMM_WORLD, &status);
    const int more = task < plan.steps;
    MPI_Send(more ? &task : &none, 1, MPI_LONG, status.MPI_SOURCE, 6, MPI_COMM_WORLD);
    task += more;
    working -= !more;
  }
}

const struct kind pipeline_kinds[] = {
    {"chain", chain, awaits_left, NULL, NULL}, {"pipeline", pipeline, awaits_one_before, NULL, NULL},
    {"sweep", sweep, awaits_grid, NULL, NULL}, {"gather", gather, NULL, NULL, NULL},
    {"farm", farm, NULL, NULL, NULL},          {NULL, NULL, NULL, NULL, NULL}};
