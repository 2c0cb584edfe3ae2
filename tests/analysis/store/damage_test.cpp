// What a program says of a crash while a dump is open, and of HDF5 turning in circles.
#include "analysis/store/damage.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <csignal>
#include <functional>
#include <string>

using namespace pclscope::store;
using namespace std::chrono_literals;

namespace {

struct Ended {
  int status;
  std::string told;  // on stderr
};

Ended run_apart(const std::function<void()>& what) {
  int ends[2];
  REQUIRE(::pipe(ends) == 0);
  const pid_t child = ::fork();
  if (child == 0) {
    ::dup2(ends[1], STDERR_FILENO);
    ::alarm(120);
    what();
    ::_exit(0);
  }
  ::close(ends[1]);
  Ended ended = {};
  char part[512];
  for (ssize_t length; (length = ::read(ends[0], part, sizeof part)) > 0;)
    ended.told.append(part, static_cast<std::size_t>(length));
  ::close(ends[0]);
  ::waitpid(child, &ended.status, 0);
  return ended;
}

void use_the_core() {
  for (volatile unsigned i = 0;;) i = i + 1;
}

}  // namespace

TEST_CASE("a crash while a dump is open is one line that names it, and status 1") {
  for (const int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT}) {
    const Ended ended = run_apart([signal] {
      tell_of_crashes();
      dump_is_open("first.h5");
      dump_is_open("some/run.h5");
      ::raise(signal);
    });
    INFO(signal << ": " << ended.told);
    REQUIRE(WIFEXITED(ended.status));
    CHECK(WEXITSTATUS(ended.status) == 1);
    CHECK(ended.told.starts_with("pclscope: some/run.h5 cannot be read: "));
    CHECK(ended.told.find('\n') == ended.told.size() - 1);
  }
}

TEST_CASE("a crash without a dump, or in a program that did not ask for it, is what it was") {
  for (const bool asked : {true, false}) {
    const Ended ended = run_apart([asked] {
      std::signal(SIGABRT, SIG_DFL);  // Catch2 has its own
      if (asked) tell_of_crashes();
      dump_is_open("run.h5");
      if (asked) dump_is_closed("run.h5");
      ::raise(SIGABRT);
    });
    INFO(ended.told);
    REQUIRE(WIFSIGNALED(ended.status));
    CHECK(WTERMSIG(ended.status) == SIGABRT);
    CHECK(ended.told.empty());
  }
}

TEST_CASE("a signal that somebody else sends does what it did") {
  const Ended ended = run_apart([] {
    tell_of_crashes();
    dump_is_open("run.h5");
    const pid_t receiver = ::getpid();
    if (::fork() == 0) {
      ::kill(receiver, SIGABRT);
      ::_exit(0);
    }
    for (;;) ::pause();
  });
  REQUIRE(WIFSIGNALED(ended.status));
  CHECK(WTERMSIG(ended.status) == SIGABRT);
  CHECK(ended.told.empty());
}

TEST_CASE("what does not come to an end is ended after its time on a core, and no other") {
  const Ended circle = run_apart([] {
    tell_of_crashes();
    dump_is_open("run.h5");
    const CpuLimit limit(100ms);
    use_the_core();
  });
  INFO(circle.told);
  REQUIRE(WIFEXITED(circle.status));
  CHECK(WEXITSTATUS(circle.status) == 1);
  CHECK(circle.told == "pclscope: run.h5 is damaged: the HDF5 library does not come to an end with it\n");

  const Ended in_time = run_apart([] {
    tell_of_crashes();
    dump_is_open("run.h5");
    { const CpuLimit limit(100ms); }
    timespec used = {};
    do { ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used); } while (used.tv_sec == 0 && used.tv_nsec < 300'000'000);
  });
  CHECK(in_time.status == 0);
  CHECK(in_time.told.empty());
}
