// How long a thread did not run outside MPI, from made-up programs of which that is known.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdint>
#include <random>

#include "interpose/recorder/processor.hpp"
#include "tests/seed.hpp"

using namespace pclscope;

namespace {

constexpr std::uint64_t long_ns = Processor::long_stretch;  // here a tick is a ns

// A thread as the recorder sees it: it measures where a stretch ends that was long.
struct Thread {
  struct Truth {
    std::uint64_t idle = 0, outside = 0, off_inside = 0, off_outside = 0;
  };
  Processor processor;
  ProcessorUse now{1'000'000, 1'000'000, 0, 0};
  Truth truth, measured;
  std::uint64_t in_short = 0;  // in short stretches

  Thread() { processor.add(now); }
  void spend(bool inside, std::uint64_t ran, std::uint64_t off, std::uint64_t asleep = 0) {
    const std::uint64_t length = ran + off + asleep;
    now.ticks += length;
    now.wall_ns += length;
    now.ran_ns += ran;
    now.sleeps += asleep > 0 ? 1 : 0;
    truth.idle += off + asleep;
    if (inside) processor.inside += length;
    else truth.outside += off + asleep;
    (inside ? truth.off_inside : truth.off_outside) += off;
    if (length <= long_ns) in_short += length;
    else measure();
  }
  void measure() {
    processor.add(now);
    measured = truth;
  }
};

}  // namespace

TEST_CASE("8 ranks on 2 cores: 2 ms of work and 20 ms without a core, then 30 ms in an Allreduce, of which it ran 1") {
  Thread thread;
  for (int round = 0; round < 300; ++round) {
    thread.spend(false, 2'000'000, 20'000'000);
    thread.spend(true, 1'000'000, 29'000'000);
  }
  CHECK(thread.processor.least_ns == 300 * 20'000'000ull);
  CHECK(thread.processor.most_ns == 300 * 20'000'000ull);
  CHECK(thread.processor.off_outside_ns == 300 * 20'000'000ull);
  CHECK(thread.processor.off_inside_ns == 300 * 29'000'000ull);
}

TEST_CASE("what short calls and pieces between two measurements lost is known between two numbers") {
  Thread thread;
  for (int i = 0; i < 10; ++i) thread.spend(true, 10'000, 10'000);  // 100 us inside MPI without a core
  thread.spend(false, 1'000'000, 0);
  CHECK(thread.processor.least_ns == 0);
  CHECK(thread.processor.most_ns == 100'000);
  CHECK(thread.processor.off_inside_ns == 0);
  CHECK(thread.processor.off_outside_ns == 0);
}

TEST_CASE("random programs: the truth lies between the bounds, which are as close as the short stretches are few") {
  std::mt19937_64 random(test::random_seed());
  constexpr std::uint64_t rounding = 400;  // a ns for each measurement
  for (int program = 0; program < 200; ++program) {
    const bool lost_in_short = program % 2 == 1;  // the core, in short stretches, too
    Thread thread;
    for (int i = 0; i < 400; ++i) {
      const bool inside = i % 2 == 1, is_long = random() % 3 == 0;
      const std::uint64_t length = is_long ? long_ns + 1 + random() % 10'000'000 : random() % long_ns;
      const std::uint64_t idle = is_long || lost_in_short ? random() % (length + 1) : 0;
      const std::uint64_t asleep = random() % 2 == 0 ? random() % (idle + 1) : 0;
      thread.spend(inside, length - idle, idle - asleep, asleep);
      const Processor& p = thread.processor;
      REQUIRE(p.idle_ns == thread.measured.idle);
      REQUIRE(p.least_ns <= thread.measured.outside + rounding);
      REQUIRE(p.most_ns + rounding >= thread.measured.outside);
      REQUIRE(p.off_inside_ns <= thread.measured.off_inside + rounding);
      REQUIRE(p.off_outside_ns <= thread.measured.off_outside + rounding);
    }
    thread.measure();
    REQUIRE(thread.processor.most_ns - thread.processor.least_ns <= thread.in_short + rounding);
  }
}

TEST_CASE("clocks that go back, or that say more than was possible, give no time") {
  Processor processor;
  processor.add({1000, 1000, 500, 0});
  processor.add({2000, 2000, 5000, 0});  // ran more than there was
  processor.add({3000, 3000, 400, 0});   // of another thread
  processor.add({2500, 2500, 400, 0});
  processor.add({2500, 3500, 400, 0});
  CHECK(processor.idle_ns == 0);
  CHECK(processor.most_ns == 0);
}
