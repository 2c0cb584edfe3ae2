// What an ideal network saves, against a simulation of one.
#include "analysis/efficiency/ideal_network.hpp"

#include <catch2/catch.hpp>
#include <cmath>

#include "tests/analysis/delay/random_programs.hpp"
#include "tests/seed.hpp"

using namespace pclscope;
using namespace pclscope::test;
using efficiency::IdealNetwork;

namespace {

constexpr std::int64_t us = 1000, ms = 1'000'000;
const Speeds slow{700 * us, 40 * us, 0};
const Speeds ideal{0, 0, 0};

std::vector<std::int64_t> saved(const IdealNetwork& network, std::int32_t ranks) {
  std::vector<std::int64_t> list;
  for (std::int32_t r = 0; r < ranks; ++r) list.push_back(network.saved_ns(r));
  return list;
}

std::vector<std::int64_t> difference(const Outcome& a, const Outcome& b) {
  std::vector<std::int64_t> list;
  for (std::size_t r = 0; r < a.end_ns.size(); ++r) list.push_back(a.end_ns[r] - b.end_ns[r]);
  return list;
}

// As a running job gives it: windows, each with what completed in it, replayed up to the one before.
std::vector<std::int64_t> saved_by_windows(const Outcome& o, std::int32_t ranks, std::int64_t window_ns) {
  IdealNetwork network(ranks);
  std::size_t message = 0, call = 0;
  for (std::int64_t begin = 0; message < o.messages.size() || call < o.collectives.size(); begin += window_ns) {
    const std::size_t first_message = message, first_call = call;
    while (message < o.messages.size() && o.messages[message].recv_end < begin + window_ns) ++message;
    while (call < o.collectives.size() && o.collectives[call].end < begin + window_ns) ++call;
    network.add(std::span(o.messages).subspan(first_message, message - first_message),
                std::span(o.collectives).subspan(first_call, call - first_call));
    CHECK(network.advance(begin));
  }
  CHECK(network.advance(INT64_MAX));
  CHECK(network.waiting() == 0);
  return saved(network, ranks);
}

void check_program(std::uint32_t seed) {
  CAPTURE(seed);
  const Program p = random_program(seed);
  const Outcome o = simulate(p, slow);
  IdealNetwork network(p.ranks());
  network.add(o.messages, o.collectives);
  REQUIRE(network.advance(INT64_MAX));
  CHECK(saved(network, p.ranks()) == difference(o, simulate(p, ideal)));
}

}  // namespace

TEST_CASE("Random programs: what an ideal network saves each rank is what a simulation of one says") {
  for (std::uint32_t round = 0; round < 200; ++round) check_program(static_cast<std::uint32_t>(random_seed()) + round);
}

TEST_CASE("A Waitall is not held by a send whose receiver came by chance right before what it received") {
  for (const std::uint32_t seed : {84383u, 449464u, 519822u, 1093514u}) check_program(seed);
}

TEST_CASE("Window by window it is the same, and memory is given back") {
  for (int round = 0; round < 60; ++round) {
    const std::uint32_t seed = static_cast<std::uint32_t>(random_seed()) + static_cast<std::uint32_t>(round);
    CAPTURE(seed);
    const Program p = random_program(seed);
    const Outcome o = simulate(p, slow);
    const std::vector<std::int64_t> expected = difference(o, simulate(p, ideal));
    for (const std::int64_t window : {5 * ms, 20 * ms, 1000 * ms}) {
      CAPTURE(window);
      const std::vector<std::int64_t> found = saved_by_windows(o, p.ranks(), window);
      for (std::size_t r = 0; r < found.size(); ++r)
        CHECK(std::abs(found[r] - expected[r]) <= expected[r] / 50 + slow.latency_ns);
    }
  }
}

TEST_CASE("A period begins as it was, whatever an ideal network would have saved before") {
  Program p(2);
  for (int step = 0; step < 20; ++step)
    for (const std::int32_t r : {0, 1}) {
      p.compute(r, 5 * ms);
      p.call(r, K::allreduce, site::allreduce);
    }
  const Outcome o = simulate(p, slow);
  const std::int64_t step_ns = 5 * ms + slow.latency_ns;
  IdealNetwork network(2, 10 * step_ns);
  network.add(o.messages, o.collectives);
  REQUIRE(network.advance(14 * step_ns));
  CHECK(saved(network, 2) == std::vector<std::int64_t>(2, 4 * slow.latency_ns));
}

TEST_CASE("What is skipped saves nothing, and what was saved before stays") {
  const Program p = [] {
    Program q(3);
    for (int step = 0; step < 30; ++step)
      for (const std::int32_t r : {0, 1, 2}) {
        q.compute(r, 5 * ms);
        q.call(r, K::allreduce, site::allreduce);
      }
    return q;
  }();
  const Outcome o = simulate(p, slow);
  const std::int64_t step_ns = 5 * ms + slow.latency_ns;
  const auto calls_of = [&](int from, int to) {
    return std::span(o.collectives)
        .subspan(static_cast<std::size_t>(3 * from), static_cast<std::size_t>(3 * (to - from)));
  };
  IdealNetwork network(3);
  network.add({}, calls_of(0, 10));
  REQUIRE(network.advance(10 * step_ns));
  network.add({}, calls_of(10, 20));
  network.skip(20 * step_ns);
  network.add({}, calls_of(20, 30));
  REQUIRE(network.advance(INT64_MAX));
  CHECK(saved(network, 3) == std::vector<std::int64_t>(3, 20 * slow.latency_ns));
}

TEST_CASE("Damaged records: no saving is negative, nothing hangs") {
  std::mt19937 random(static_cast<std::uint32_t>(random_seed()));
  const auto any = [&] {
    return static_cast<std::int64_t>(random()) * static_cast<std::int64_t>(random() % 5) - (1 << 30);
  };
  for (int round = 0; round < 200; ++round) {
    std::vector<Message> messages(20);
    std::vector<CollectiveCall> calls(20);
    for (Message& m : messages) {
      m.source = static_cast<std::int32_t>(random() % 6) - 1;
      m.destination = static_cast<std::int32_t>(random() % 6) - 1;
      m.flags = static_cast<std::uint32_t>(random());
      m.bytes = random();
      m.send_begin = any(), m.send_end = any(), m.recv_post = any(), m.recv_wait = any(), m.recv_end = any();
    }
    for (CollectiveCall& c : calls) {
      c.rank = static_cast<std::int32_t>(random() % 6) - 1;
      c.ordinal = random() % 4;
      c.awaited = static_cast<std::int32_t>(random() % 6) - 1;
      c.shape = static_cast<CollectiveShape>(random() % 11);
      c.nonblocking = random() % 2 == 0;
      c.begin = any(), c.end = any(), c.awaited_begin = any(), c.completing = any();
    }
    IdealNetwork network(4, round % 2 == 0 ? INT64_MIN : 0);
    for (int part = 0; part < 3; ++part) {
      network.add(messages, calls);
      network.advance(any());
    }
    network.advance(INT64_MAX);
    for (std::int32_t r = 0; r < 4; ++r) CHECK(network.saved_ns(r) >= 0);
  }
}
