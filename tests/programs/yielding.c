// Preloaded into tests' jobs, with more ranks than cores: who waits for a message gives up the core to who may be about
// to send it, and after a while of that sleeps for moments. A message then takes microseconds, not a time slice, and
// jobs that wait leave the cores to others. Open MPI has an option for the first half of it, MPICH has none.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <sched.h>
#include <time.h>

static _Thread_local unsigned in_vain;

static void polled(int done) {
  if (done) {
    in_vain = 0;
  } else if (++in_vain < 200) {
    sched_yield();
  } else {
    const struct timespec moment = {0, 50000};
    nanosleep(&moment, 0);
  }
}

// The program may have loaded its MPI for itself alone.
static void* find(const char* name, const char* library) {
  void* found = dlsym(RTLD_NEXT, name);
  void* loaded = found ? 0 : dlopen(library, RTLD_LAZY | RTLD_NOLOAD);
  return loaded ? dlsym(loaded, name) : found;
}

unsigned ucp_worker_progress(void* worker) {
  static unsigned (*next)(void*);
  if (!next) next = (unsigned (*)(void*))find("ucp_worker_progress", "libucp.so.0");
  const unsigned done = next(worker);
  polled(done != 0);
  return done;
}

int opal_progress(void) {
  static int (*next)(void);
  if (!next) next = (int (*)(void))find("opal_progress", "libopen-pal.so.40");
  const int done = next();
  polled(done != 0);
  return done;
}
