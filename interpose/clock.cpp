#include "interpose/clock.hpp"

#include <cpuid.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

namespace pclscope {

record::ClockSource clock_source = record::ClockSource::monotonic;

namespace {

bool invariant_tsc() {
  unsigned a = 0, b = 0, c = 0, d = 0;
  return __get_cpuid(0x80000007, &a, &b, &c, &d) != 0 && (d & (1u << 8)) != 0;
}

bool kernel_uses_tsc() {
  const int file = open("/sys/devices/system/clocksource/clocksource0/current_clocksource", O_RDONLY | O_CLOEXEC);
  if (file < 0) return false;
  char name[32] = "";
  const ssize_t length = read(file, name, sizeof name - 1);
  close(file);
  return length >= 3 && strncmp(name, "tsc", 3) == 0 && (name[3] == '\n' || name[3] == 0);
}

}  // namespace

record::ClockSource choose_clock(ClockChoice choice) {
  if (choice == ClockChoice::monotonic || !invariant_tsc()) return record::ClockSource::monotonic;
  if (choice == ClockChoice::automatic && !kernel_uses_tsc()) return record::ClockSource::monotonic;
  return record::ClockSource::tsc;
}

}  // namespace pclscope
