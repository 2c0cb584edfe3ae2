// Computation that takes no core from anybody: ranks sleep. Header only.
#pragma once

#include <time.h>

static double longer_s;  // by how much slept longer than asked, in all

static double now_s(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void compute(long us) {
  const double begin = now_s();
  const struct timespec pause = {us / 1000000, us % 1000000 * 1000};
  nanosleep(&pause, NULL);
  longer_s += now_s() - begin - 1e-6 * (double)us;
}
