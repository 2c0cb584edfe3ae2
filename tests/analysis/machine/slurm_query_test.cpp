// A program that is asked: it answers, fails, says too much, or never ends.
#include "analysis/machine/slurm_query.hpp"

#include <unistd.h>

#include <catch2/catch.hpp>
#include <chrono>
#include <thread>

using namespace pclscope::machine;
using std::chrono::milliseconds;
using std::chrono::seconds;

namespace {

std::string asked(const std::string& script, milliseconds limit = seconds(60), std::size_t most = 1000) {
  Child child;
  return printed_by(child, {"sh", "-c", script}, limit, most);
}

}  // namespace

TEST_CASE("what a program prints, if it ends well") {
  CHECK(asked("echo one; echo two") == "one\ntwo\n");
  CHECK(asked("echo one; exit 3").empty());
  CHECK(asked("echo to standard error >&2").empty());
  CHECK(asked("kill -9 $$").empty());
  CHECK(asked("cat").empty());  // nothing on standard input
  Child child;
  CHECK(printed_by(child, {"no-such-program-anywhere"}, seconds(60), 1000).empty());
  CHECK(printed_by(child, {}, seconds(60), 1000).empty());
}

TEST_CASE("what says too much or never ends is ended, with its children") {
  CHECK(asked("while :; do echo again and again; done").empty());
  const auto begin = std::chrono::steady_clock::now();
  CHECK(asked("echo one; sleep 1000", milliseconds(50)).empty());
  CHECK(asked("echo one; sleep 1000 & wait", milliseconds(50)).empty());
  CHECK(asked("exec >&-; sleep 1000", milliseconds(50)).empty());
  CHECK(std::chrono::steady_clock::now() - begin < seconds(900));
}

TEST_CASE("another thread ends it") {
  Child child;
  std::thread other([&] {
    ::usleep(20'000);
    child.kill();
  });
  CHECK(printed_by(child, {"sh", "-c", "echo one; sleep 1000"}, seconds(900), 1000).empty());
  other.join();
  CHECK(printed_by(child, {"sh", "-c", "sleep 1000"}, seconds(900), 1000).empty());  // it is over
}
