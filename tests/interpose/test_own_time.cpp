// How long a process was at work: of made-up files of /proc, and of this process.
#include <errno.h>
#include <time.h>

#include <catch2/catch.hpp>
#include <string>

#include "interpose/process/own_time.hpp"

using namespace pclscope;

namespace {

constexpr std::uint64_t s = 1'000'000'000;

std::string stat_of(const std::string& name, const std::string& start) {
  return "77 (" + name + ") S 1 77 77 0 -1 4194560 1150 0 2 0 12 3 0 0 20 0 1 0 " + start + " 2973696 892\n";
}

std::uint64_t clock_of(clockid_t clock) {
  timespec t{};
  ::clock_gettime(clock, &t);
  return static_cast<std::uint64_t>(t.tv_sec) * s + static_cast<std::uint64_t>(t.tv_nsec);
}

}  // namespace

TEST_CASE("The time at work is the process' age less what it waited for a core") {
  for (const char* name : {"sim", "a b", "x) S 1 2 3 (y", ")", "12 34"}) {
    CAPTURE(name);
    const std::string stat = stat_of(name, "1234567");  // 12,345.67 s after the machine
    const std::uint64_t now = 12'350 * s;
    CHECK(own_time_of(stat.c_str(), "2000000000 1330000000 17\n", now, 100) == 3 * s);
    CHECK(own_time_of(stat.c_str(), "", now, 100) == 4'330'000'000);
    CHECK(own_time_of(stat.c_str(), "0 9000000000 17\n", now, 100) == 1);       // not less than nothing
    CHECK(own_time_of(stat.c_str(), "0 0 0\n", 12'345'670'000'000, 100) == 1);  // in this tick
    CHECK(own_time_of(stat.c_str(), "0 0 0\n", 12'340 * s, 100) == 0);          // clocks of two machines
  }
}

TEST_CASE("What cannot be read is not known") {
  for (const std::string& stat : {std::string(), std::string("77 (sim"), std::string("77 (sim) S 1 77"),
                                  stat_of("sim", "0"), stat_of("sim", "x"), stat_of("sim", "-5")})
    CHECK(own_time_of(stat.c_str(), "1 2 3\n", 99 * s, 100) == 0);
  CHECK(own_time_of(stat_of("sim", "100").c_str(), "1 2 3\n", 99 * s, 0) == 0);
}

TEST_CASE("This process is at work while it computes and sleeps, and no longer than time goes by") {
  errno = 7;
  const std::uint64_t wall = clock_of(CLOCK_BOOTTIME), before = own_time_ns(), cpu = clock_of(CLOCK_THREAD_CPUTIME_ID);
  CHECK(errno == 7);
  REQUIRE(before > 0);
  volatile double x = 1;
  while (clock_of(CLOCK_THREAD_CPUTIME_ID) - cpu < s / 20) x = x * 1.0001;
  const timespec pause{0, 50'000'000};
  ::nanosleep(&pause, nullptr);
  const std::uint64_t used = clock_of(CLOCK_THREAD_CPUTIME_ID) - cpu, after = own_time_ns();
  const std::uint64_t passed = clock_of(CLOCK_BOOTTIME) - wall;
  CHECK(after - before + s / 1000 >= used + s / 20);
  CHECK(after - before <= passed);
}
