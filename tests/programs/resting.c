// Preloaded into all that tests start: a rank that waits for a message rests and asks again, for 30 us at first, then
// for a sixteenth of what it has waited: it hears of a message that much later at most, and leaves the cores to others.
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
// ns. Who sleeps for less than it takes to change processes keeps the core for its whole time slice.
static const long long shortest = 30000, longest = 500000;
static const long long one_look = 20000;  // who does more between two rests has heard of something

static long long now_ns(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec * 1000000000LL + t.tv_nsec;
}

static void rest(void) {
  static __thread int sharp;
  static __thread long long began, rested;  // this wait, and the last rest in it
  const int saved = errno;
  if (!sharp) {
    prctl(PR_SET_TIMERSLACK, 1UL);  // ns; else 50 us more
    sharp = 1;
  }
  const long long now = now_ns();
  if (now - rested > one_look) began = now;
  long long ns = (now - began) / 16;
  if (ns < shortest) ns = shortest;
  if (ns > longest) ns = longest;
  const struct timespec pause = {0, ns};
  nanosleep(&pause, NULL);
  rested = now_ns();
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
