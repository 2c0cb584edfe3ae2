// Which clock stamps a node's events: the TSC where it is one clock for the whole node, else CLOCK_MONOTONIC. The
// library chooses before the first segment exists; the aggregator of the same node makes the same choice by the same
// function.
#pragma once

#include <cpuid.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "interpose/record/segment.hpp"

namespace pclscope::record {

inline constexpr char clock_variable[] = "PCLSCOPE_CLOCK";  // tsc or monotonic; anything else: automatic

enum class ClockChoice { automatic, tsc, monotonic };

inline ClockChoice clock_choice(const char* word) {
  if (word == nullptr) return ClockChoice::automatic;
  if (strcmp(word, "tsc") == 0) return ClockChoice::tsc;
  return strcmp(word, "monotonic") == 0 ? ClockChoice::monotonic : ClockChoice::automatic;
}

inline bool invariant_tsc() {
  unsigned a = 0, b = 0, c = 0, d = 0;
  return __get_cpuid(0x80000007, &a, &b, &c, &d) != 0 && (d & (1u << 8)) != 0;
}

inline bool kernel_uses_tsc() {
  const int file = ::open("/sys/devices/system/clocksource/clocksource0/current_clocksource", O_RDONLY | O_CLOEXEC);
  if (file < 0) return false;
  char name[32] = "";
  const ssize_t length = ::read(file, name, sizeof name - 1);
  ::close(file);
  return length >= 3 && strncmp(name, "tsc", 3) == 0 && (name[3] == '\n' || name[3] == 0);
}

// By what the processor promises (invariant TSC) and what the kernel trusts (its current clocksource).
inline ClockSource choose_clock(ClockChoice choice) {
  if (choice == ClockChoice::monotonic || !invariant_tsc()) return ClockSource::monotonic;
  if (choice == ClockChoice::automatic && !kernel_uses_tsc()) return ClockSource::monotonic;
  return ClockSource::tsc;
}

}  // namespace pclscope::record
