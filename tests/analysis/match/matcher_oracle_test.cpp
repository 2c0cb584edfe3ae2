// The matcher against the simulator: random programs, read by a reader that goes round the rings while the program
// runs on. Every pair the matcher names must be true; without losses it must name all of them.
#include <catch2/catch.hpp>

#include "analysis/match/matcher.hpp"
#include "tests/analysis/match/mpi_simulator.hpp"

using namespace pclscope;
using test::MpiSimulator;
using test::SimulatorOptions;

namespace {

struct Outcome {
  std::map<std::uint64_t, std::uint64_t> named;  // receive -> send
  bool twice = false;
  MatchCounts counts;
  MatchCounts before_finish;
};

Outcome run(MpiSimulator& mpi, int ranks) {
  Outcome out;
  Matcher matcher(ranks, [&](std::span<const Message> batch) {
    for (const Message& m : batch) out.twice |= !out.named.emplace(m.recv_site, m.send_site).second;
  });
  std::vector<std::size_t> order(mpi.rings().size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  auto& random = mpi.random();
  const auto read_ring = [&](test::Ring& ring) {
    matcher.add(ring.rank, static_cast<std::uint32_t>(ring.thread), std::span(ring.events).subspan(ring.read));
    ring.read = ring.events.size();
    if (ring.dropped_total > ring.dropped_seen) matcher.note_drop(ring.rank);
    ring.dropped_seen = ring.dropped_total;
  };
  // Ranks are on one node or nobody knows; matching goes on between the rings or only at the end of rounds.
  const bool eager = random() % 2, one_node = random() % 2;
  for (int rank = 0; rank < ranks && one_node; ++rank) matcher.set_node(rank, 0);
  const unsigned pace = 2 + static_cast<unsigned>(random() % 30);
  while (!mpi.done()) {
    std::shuffle(order.begin(), order.end(), random);
    for (const std::size_t i : order) {
      read_ring(mpi.rings()[i]);
      if (eager) matcher.end_round(false);
      for (std::uint64_t n = random() % pace; n > 0; --n) mpi.step();
    }
    matcher.end_round();
  }
  mpi.finish();
  for (test::Ring& ring : mpi.rings()) read_ring(ring);
  out.before_finish = matcher.counts();
  matcher.finish();
  out.counts = matcher.counts();
  return out;
}

std::size_t wrong_pairs(const Outcome& out, const std::map<std::uint64_t, std::uint64_t>& truth) {
  std::size_t wrong = 0;
  for (const auto& [recv, send] : out.named) {
    const auto it = truth.find(recv);
    wrong += it == truth.end() || it->second != send;
  }
  return wrong;
}

void expect_exact(SimulatorOptions options, int seeds) {
  std::size_t messages = 0;
  for (int seed = 1; seed <= seeds; ++seed) {
    options.ranks = 2 + seed % 4;
    MpiSimulator mpi(options, static_cast<std::uint64_t>(seed));
    const Outcome out = run(mpi, options.ranks);
    const auto truth = mpi.pairs();
    INFO("seed " << seed << ", ranks " << options.ranks);
    REQUIRE_FALSE(out.twice);
    REQUIRE(wrong_pairs(out, truth) == 0);
    REQUIRE(out.named.size() == truth.size());
    REQUIRE(out.counts.matched == truth.size());
    REQUIRE(out.counts.ambiguous == 0);
    REQUIRE(out.counts.unmatched_sends == mpi.sends_without_receive());
    messages += truth.size();
  }
  CHECK(messages > static_cast<std::size_t>(seeds) * 3);
}

// Returns the share of true pairs that were named.
double expect_no_wrong_pair(SimulatorOptions options, int seeds) {
  std::size_t named = 0, all = 0, ambiguous = 0;
  for (int seed = 1; seed <= seeds; ++seed) {
    options.ranks = 2 + seed % 4;
    MpiSimulator mpi(options, static_cast<std::uint64_t>(seed));
    const Outcome out = run(mpi, options.ranks);
    const auto truth = mpi.pairs();
    INFO("seed " << seed << ", ranks " << options.ranks);
    REQUIRE_FALSE(out.twice);
    REQUIRE(wrong_pairs(out, truth) == 0);
    named += out.named.size();
    all += truth.size();
    ambiguous += out.counts.ambiguous;
  }
  CHECK(ambiguous > 0);
  return static_cast<double>(named) / static_cast<double>(all);
}

}  // namespace

TEST_CASE("random programs on one thread per rank are matched exactly") {
  SimulatorOptions options;
  options.free_specific = true;
  expect_exact(options, 6000);
}

TEST_CASE("wildcard storms are matched exactly") {
  SimulatorOptions options;
  options.wildcards = 0.9;
  options.tags = 2;
  options.comms = 1;
  expect_exact(options, 4000);
}

TEST_CASE("a send that was cancelled never gets the next one's receive") {
  SimulatorOptions options;
  options.send_cancels = 0.25;
  options.tags = options.comms = 1;
  options.wildcards = 0;
  options.free_specific = true;
  expect_exact(options, 6000);
}

TEST_CASE("cancelled sends of several threads are never paired") {
  SimulatorOptions options;
  options.threads = 2;
  options.send_cancels = 0.25;
  options.tags = options.comms = 1;
  options.wildcards = 0;
  options.steps = 600;
  expect_exact(options, 3000);
}

TEST_CASE("several threads per rank are matched exactly, whatever order their rings are read in") {
  SimulatorOptions options;
  options.threads = 3;
  options.steps = 600;
  expect_exact(options, 3000);
}

TEST_CASE("a freed wildcard makes what it could have taken ambiguous, never wrong") {
  SimulatorOptions options;
  options.free_specific = options.free_wildcards = true;
  options.wildcards = 0.5;
  expect_no_wrong_pair(options, 6000);
}

TEST_CASE("dropped events never lead to a wrong pair") {
  SimulatorOptions options;
  options.drops = 0.01;
  options.free_specific = true;
  const double share = expect_no_wrong_pair(options, 8000);
  INFO("share of true pairs named: " << share);
  CHECK(share > 0.2);
}

TEST_CASE("dropped events of one of several threads never lead to a wrong pair") {
  SimulatorOptions options;
  options.drops = 0.01;
  options.threads = 2;
  options.free_wildcards = true;
  expect_no_wrong_pair(options, 6000);
}

TEST_CASE("a dropped cancel of a send never leads to a wrong pair") {
  SimulatorOptions options;
  options.drops = 0.01;
  options.send_cancels = 0.25;
  options.tags = options.comms = 1;
  options.wildcards = 0;
  expect_no_wrong_pair(options, 8000);
}

TEST_CASE("a job that is cut off has no wrong pairs") {
  SimulatorOptions options;
  options.quiesce = false;
  expect_no_wrong_pair(options, 6000);
}
