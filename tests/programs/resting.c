// Preloaded into all that tests start: a rank that waits for a message rests for 30 us and asks again.
// sched_yield(), which Open MPI calls there, can starve a whole machine on some kernels (Linux 6.18: with several who
// yield and some who sleep, nobody else runs for up to two minutes); and MPICH spins for whole time slices while the
// rank it waits for has no core. PCL_TEST_SPIN set: MPICH spins as with users.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <time.h>

static const unsigned patience = 10;  // looks in vain before it rests
// Who sleeps for less than it takes to change processes keeps the core for its whole time slice.

static void rest(void) {
  static __thread int sharp;
  const int saved = errno;
  if (!sharp) {
    prctl(PR_SET_TIMERSLACK, 1UL);  // ns; else 50 us more
    sharp = 1;
  }
  const struct timespec pause = {0, 30000};
  nanosleep(&pause, NULL);
  errno = saved;
}

int sched_yield(void) {
  rest();
  return 0;
}

unsigned ucp_worker_progress(void* worker) {
  static unsigned (*next)(void*);
  static int spin = -1;
  static __thread unsigned in_vain;
  if (!next) next = (unsigned (*)(void*))dlsym(RTLD_NEXT, "ucp_worker_progress");
  if (!next) {  // the program loaded its MPI for itself alone
    void* library = dlopen("libucp.so.0", RTLD_LAZY | RTLD_NOLOAD);
    if (library) next = (unsigned (*)(void*))dlsym(library, "ucp_worker_progress");
  }
  if (spin < 0) spin = getenv("PCL_TEST_SPIN") != NULL;
  const unsigned done = next(worker);
  if (done || spin) in_vain = 0;
  else if (++in_vain > patience) rest();
  return done;
}
