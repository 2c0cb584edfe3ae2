#include "interpose/process/own_time.hpp"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

namespace pclscope {

namespace {

constexpr std::uint64_t second = 1'000'000'000;
constexpr std::size_t most_text = 1024;

// Ends with a 0; empty when it cannot be read.
void read_text(const char* path, char (&text)[most_text]) {
  text[0] = 0;
  const int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return;
  const ssize_t size = read(file, text, most_text - 1);
  text[size > 0 ? size : 0] = 0;
  close(file);
}

// The number that is the word `index` (from 0) of the text; false: there is none.
bool word(const char* text, int index, unsigned long long& value) {
  for (; index > 0; --index) {
    text += strspn(text, " \n");
    text += strcspn(text, " \n");
  }
  text += strspn(text, " \n");
  char* end = nullptr;
  value = strtoull(text, &end, 10);
  return end != text;
}

}  // namespace

std::uint64_t own_time_of(const char* stat, const char* schedstat, std::uint64_t now_ns, long ticks_per_s) {
  const char* name_end = strrchr(stat, ')');  // the name may have blanks and brackets
  unsigned long long start = 0, waited = 0;
  constexpr int start_time = 19;  // field 22 of proc(5); the name is field 2
  if (name_end == nullptr || ticks_per_s <= 0 || !word(name_end + 1, start_time, start) || start == 0) return 0;
  const auto rate = static_cast<std::uint64_t>(ticks_per_s);
  if (start / rate > now_ns / second) return 0;
  const std::uint64_t begin_ns = start / rate * second + start % rate * second / rate;
  if (begin_ns >= now_ns) return 1;  // in this very tick
  const std::uint64_t age = now_ns - begin_ns;
  if (!word(schedstat, 1, waited)) waited = 0;
  return waited < age ? age - waited : 1;
}

std::uint64_t own_time_ns() {
  const int error = errno;
  char stat[most_text], schedstat[most_text];
  read_text("/proc/self/stat", stat);
  read_text("/proc/self/schedstat", schedstat);
  timespec now{};
  std::uint64_t own = 0;
  if (clock_gettime(CLOCK_BOOTTIME, &now) == 0)
    own = own_time_of(stat, schedstat,
                      static_cast<std::uint64_t>(now.tv_sec) * second + static_cast<std::uint64_t>(now.tv_nsec),
                      sysconf(_SC_CLK_TCK));
  errno = error;
  return own;
}

}  // namespace pclscope
