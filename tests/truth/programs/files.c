// MPI-IO. Kinds:
//   ordered     work, then MPI_File_write_ordered of `bytes`, which go one after the other, `burst` times
//   shared      work, then MPI_File_write_shared of `bytes`, `burst` times
//   writes      work, then for io_us each rank writes `bytes` at its own place and makes them safe with MPI_File_sync,
//   again
//               and again
#include <mpi.h>
#include <string.h>

#include "faults.h"

static MPI_File file = MPI_FILE_NULL;

static void begin(void) {
  char name[] = "output-00";
  const int own = strcmp(plan.kind, "writes") == 0;
  if (own) {
    name[7] = (char)('0' + rank / 10);
    name[8] = (char)('0' + rank % 10);
  }
  MPI_File_open(own ? MPI_COMM_SELF : MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_WRONLY, MPI_INFO_NULL, &file);
}

static void end(void) { MPI_File_close(&file); }

static void together(long step, int ordered) {
  static long first_ns;
  if (step == 0) first_ns = now_ns();
  work_of_step(step);
  arrives(step);
  for (long i = 0; i < plan.burst; i++) {
    if (ordered) {
      MPI_File_write_ordered(file, out, (int)plan.bytes, MPI_BYTE, MPI_STATUS_IGNORE);
    } else {
      MPI_File_write_shared(file, out, (int)plan.bytes, MPI_BYTE, MPI_STATUS_IGNORE);
    }
  }
  goes_on(step);
  // Nobody knows how slow the file is: io_us for all steps, then it is enough.
  const int enough = now_ns() - first_ns > plan.io_us * 1000;
  int for_all = 0;
  MPI_Allreduce(&enough, &for_all, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  if (for_all) plan.steps = step + 1;
}

static void ordered(long step) { together(step, 1); }
static void shared(long step) { together(step, 0); }

static void writes(long step) {
  work_of_step(step);
  arrives(step);
  for (const long until = now_ns() + plan.io_us * 1000; now_ns() < until;) {
    MPI_File_write_at(file, (MPI_Offset)(step % 64 * plan.bytes), out, (int)plan.bytes, MPI_BYTE, MPI_STATUS_IGNORE);
    MPI_File_sync(file);
  }
  goes_on(step);
  MPI_Barrier(MPI_COMM_WORLD);
}

const struct kind file_kinds[] = {{"ordered", ordered, NULL, begin, end},
                                  {"shared", shared, NULL, begin, end},
                                  {"writes", writes, NULL, begin, end},
                                  {NULL, NULL, NULL, NULL, NULL}};
