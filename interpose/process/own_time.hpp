// How long this process has been at work: since it began, less what its first thread was runnable without a core. What
// its launcher took to begin it is not in it, nor what a program took that began it as another process.
#pragma once

#include <cstdint>

namespace pclscope {

// ns, of /proc/self (to 10 ms, the kernel's ticks); 0: not known. Changes no errno. Any thread.
std::uint64_t own_time_ns();

// The same of the text of /proc/PID/stat and /proc/PID/schedstat (empty: it waited for no core), at `now_ns` of
// CLOCK_BOOTTIME with so many ticks a second.
std::uint64_t own_time_of(const char* stat, const char* schedstat, std::uint64_t now_ns, long ticks_per_s);

}  // namespace pclscope
