#include "interpose/process/options.hpp"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "interpose/record/board.hpp"
#include "interpose/record/segment.hpp"

namespace pclscope {

namespace {

// The number in an environment variable, or `otherwise` when it is missing, broken or out of range.
std::int64_t number(const char* variable, std::int64_t low, std::int64_t high, std::int64_t otherwise) {
  const char* text = getenv(variable);
  if (text == nullptr) return otherwise;
  char* end = nullptr;
  errno = 0;
  const long long value = strtoll(text, &end, 10);
  if (errno != 0 || end == text || *end != 0 || value < low || value > high) return otherwise;
  return value;
}

// The next one that is not smaller; a ring has at least 64 events.
std::uint64_t power_of_two(std::int64_t events) {
  std::uint64_t power = 64;
  while (power < static_cast<std::uint64_t>(events)) power *= 2;
  return power;
}

bool equals(const char* variable, const char* word) {
  const char* text = getenv(variable);
  return text != nullptr && strcmp(text, word) == 0;
}

// The token becomes part of a path.
bool good_token(const char* token) {
  const std::size_t length = strlen(token);
  return length >= 8 && length < sizeof Options::token && strspn(token, "0123456789abcdefABCDEF") == length;
}

Options read() {
  Options o;
  const char* token = getenv(record::job_variable);
  o.off = token != nullptr || equals("PCLSCOPE", "off");
  o.ranks = static_cast<std::int32_t>(number("PCLSCOPE_RANKS", 1, 1 << 30, 0));
  o.tool_ranks = static_cast<std::int32_t>(number("PCLSCOPE_TOOL_RANKS", 0, 1 << 20, 0));
  o.aggregators = static_cast<std::uint32_t>(number(record::aggregators_variable, 1, record::most_parts, 1));
  o.part = static_cast<std::uint32_t>(number(record::part_variable, 0, o.aggregators - 1, 0));
  if (token != nullptr && good_token(token) && o.ranks > 0) {
    o.job = true;
    strcpy(o.token, token);
  }
  constexpr std::int64_t most_events = 1 << 26, grown_events = 1 << 20;
  const std::int64_t events = number("PCLSCOPE_RING_EVENTS", 1, most_events, 0);
  o.ring_events = power_of_two(events == 0 ? 65536 : events);
  // Who says how large rings are does not want them to grow, unless he says how far.
  o.ring_limit = power_of_two(number("PCLSCOPE_RING_LIMIT", 1, most_events, events == 0 ? grown_events : events));
  const char* directory = getenv("PCLSCOPE_RING_DIR");
  if (directory != nullptr && strlen(directory) < sizeof o.ring_directory) strcpy(o.ring_directory, directory);
  o.wait_when_full = !equals("PCLSCOPE_OVERFLOW", "drop");
  o.wait_ms = static_cast<std::int32_t>(number("PCLSCOPE_OVERFLOW_WAIT_MS", 0, 3'600'000, 100));
  o.stacks = static_cast<std::uint32_t>(number("PCLSCOPE_STACKS", 0, 16, 8));
  o.clock = record::clock_choice(getenv(record::clock_variable));
  return o;
}

Options& own_options() {
  static bool done = false;  // first called under the lock of the first MPI call
  static Options o;
  if (!done) {
    o = read();
    done = true;
  }
  return o;
}

}  // namespace

const Options& options() { return own_options(); }

void adopt_token(const char* token) { strcpy(own_options().token, token); }

}  // namespace pclscope
