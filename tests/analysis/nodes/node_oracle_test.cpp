// The matchers of several nodes against the simulator of MPI: the same random programs as in matcher_oracle_test, ranks
// spread over 1 to 6 nodes. Never a wrong pair; every pair of which both sides left their events and which no
// concurrent call makes uncertain; each message counted once, on one node.
//
// PCLSCOPE_ORACLE_PROGRAMS=N runs N programs in all; PCLSCOPE_ORACLE_SEED=S starts with another seed than 1.
#include <catch2/catch.hpp>
#include <cstdlib>
#include <iostream>

#include "tests/analysis/nodes/node_fleet.hpp"
#include "tests/thinned.hpp"

using namespace pclscope;
using test::FleetOutcome;
using test::MpiSimulator;
using test::NodeFleet;
using test::SimulatorOptions;

namespace {

constexpr std::uint64_t usual_programs = 10'000;
#ifdef PCLSCOPE_UNDER_SANITIZER
constexpr std::uint64_t programs_here = test::thinned(usual_programs / 10);
#else
constexpr std::uint64_t programs_here = usual_programs;
#endif
constexpr std::uint64_t least_programs = 42;  // each number of ranks with each number of nodes

std::uint64_t from_environment(const char* name, std::uint64_t otherwise) {
  const char* text = std::getenv(name);
  return text ? std::strtoull(text, nullptr, 10) : otherwise;
}

struct Sum {
  std::uint64_t messages = 0, named = 0, all = 0, ambiguous = 0, half = 0, unrecorded = 0, by_one = 0;
  std::uint64_t crossed = 0, programs = 0;
};

enum class Expect { no_wrong_pair, accounted, certain_named, all_named };

std::size_t wrong_pairs(const FleetOutcome& out, const std::map<std::uint64_t, std::uint64_t>& truth) {
  return static_cast<std::size_t>(std::count_if(out.named.begin(), out.named.end(), [&](const auto& pair) {
    const auto it = truth.find(pair.first);
    return it == truth.end() || it->second != pair.second;
  }));
}

std::uint64_t accounted_for(const MatchCounts& c) {
  return c.matched + c.ambiguous + c.half_recorded + c.unrecorded + c.unmatched_sends;
}

// What one matcher names that reads the same rings, when all is over.
std::uint64_t named_by_one(MpiSimulator& mpi, int ranks) {
  Matcher one(ranks, [](std::span<const Message>) {});
  for (int rank = 0; rank < ranks; ++rank) one.set_threads(rank, mpi.several_threads());
  for (const test::Ring& ring : mpi.rings()) {
    one.add(ring.rank, static_cast<std::uint32_t>(ring.thread), ring.events);
    one.note_drop(ring.rank, ring.dropped_total);
  }
  one.finish();
  return one.counts().matched;
}

void check_program(MpiSimulator& mpi, int ranks, const FleetOutcome& out, Expect expect, Sum& sum) {
  const auto truth = mpi.pairs();
  REQUIRE(out.over);
  REQUIRE_FALSE(out.twice);
  REQUIRE(wrong_pairs(out, truth) == 0);
  REQUIRE(out.counts.matched == out.named.size());
  if (expect != Expect::no_wrong_pair) REQUIRE(accounted_for(out.counts) == mpi.messages_sent());
  if (expect >= Expect::certain_named) {
    std::size_t missing = 0;
    for (const std::uint64_t recv : mpi.certain()) missing += !out.named.contains(recv);
    REQUIRE(missing == 0);
    REQUIRE(out.counts.unmatched_sends == mpi.sends_without_receive());
  }
  if (expect == Expect::all_named) {
    REQUIRE(out.named.size() == truth.size());
    REQUIRE(out.counts.ambiguous == 0);
  }
  REQUIRE(out.totals.matched == out.counts.matched);
  REQUIRE(out.totals.ambiguous == out.counts.ambiguous);
  REQUIRE(out.totals.half_recorded == out.counts.half_recorded);
  REQUIRE(out.totals.unmatched_sends == out.counts.unmatched_sends);
  sum.messages += mpi.messages_sent();
  sum.named += out.named.size();
  sum.all += truth.size();
  sum.ambiguous += out.counts.ambiguous;
  sum.half += out.counts.half_recorded;
  sum.unrecorded += out.counts.unrecorded;
  sum.by_one += named_by_one(mpi, ranks);
  sum.crossed += out.crossed;
  ++sum.programs;
}

template <class More>
Sum run_programs(const char* name, SimulatorOptions options, std::uint64_t usual, Expect expect, More more) {
  Sum sum;
  const std::uint64_t first = from_environment("PCLSCOPE_ORACLE_SEED", 1);
  const std::uint64_t programs = std::max<std::uint64_t>(
      least_programs, usual * from_environment("PCLSCOPE_ORACLE_PROGRAMS", programs_here) / usual_programs);
  for (std::uint64_t seed = first; seed < first + programs; ++seed) {
    options.ranks = 2 + static_cast<int>(seed % 6);
    const int nodes = 1 + static_cast<int>(seed / 7 % 6);
    MpiSimulator mpi(options, seed);
    INFO(name << ": seed " << seed << ", ranks " << options.ranks << ", nodes " << nodes);
    const FleetOutcome out = NodeFleet(mpi, options.ranks, nodes, seed * 77).run();
    check_program(mpi, options.ranks, out, expect, sum);
    more(mpi, out);
  }
  CHECK(sum.crossed * 3 > sum.programs);
  std::cout << name << ": seeds " << first << " to " << first + programs - 1 << ", " << sum.messages << " messages, "
            << sum.named << " of " << sum.all << " named (one matcher: " << sum.by_one << "), " << sum.ambiguous
            << " ambiguous, " << sum.half << " half recorded, " << sum.unrecorded << " unrecorded\n";
  return sum;
}
Sum run_programs(const char* name, const SimulatorOptions& options, std::uint64_t usual, Expect expect) {
  return run_programs(name, options, usual, expect, [](const MpiSimulator&, const FleetOutcome&) {});
}

void coda_is_exact(const MpiSimulator& mpi, const FleetOutcome& out) {
  std::size_t missing = 0;
  for (const auto& [recv, send] : mpi.pairs()) missing += recv >= mpi.coda_begins() && !out.named.contains(recv);
  REQUIRE(missing == 0);
}

}  // namespace

TEST_CASE("several nodes: programs of one thread per rank are matched exactly") {
  SimulatorOptions options;
  options.free_specific = true;
  run_programs("freed receives", options, 1000, Expect::certain_named,
               [](const MpiSimulator&, const FleetOutcome& out) {
                 REQUIRE(out.counts.ambiguous + out.counts.half_recorded + out.counts.unrecorded == 0);
               });
  options.free_specific = false;
  run_programs("plain", options, 1000, Expect::all_named);
  options.wildcards = 0.9;
  options.tags = 2;
  options.comms = 1;
  run_programs("wildcards", options, 800, Expect::all_named);
}

TEST_CASE("several nodes: a send that was cancelled never gets the next one's receive") {
  SimulatorOptions options;
  options.send_cancels = 0.25;
  options.tags = options.comms = 1;
  options.wildcards = 0;
  options.free_specific = true;
  run_programs("cancels", options, 1000, Expect::certain_named,
               [](const MpiSimulator&, const FleetOutcome& out) { REQUIRE(out.counts.ambiguous == 0); });
}

TEST_CASE("several nodes and several threads: only what is truly concurrent on a channel is ambiguous") {
  SimulatorOptions options;
  options.threads = 3;
  options.steps = 700;
  run_programs("threads", options, 800, Expect::certain_named);
  options.one_at_a_time = true;
  run_programs("threads, one at a time", options, 500, Expect::all_named);
  options.one_at_a_time = false;
  options.send_cancels = 0.2;
  options.tags = options.comms = 1;
  options.wildcards = 0.1;
  options.free_specific = true;
  run_programs("threads, cancels", options, 800, Expect::certain_named);
}

TEST_CASE("several nodes: intervals without events on one thread") {
  SimulatorOptions options;
  options.mutes = 0.03;
  options.pcontrol = 0.005;
  options.free_specific = true;
  options.coda = true;
  for (const double cancels : {0.015, 0.15}) {
    options.send_cancels = cancels;
    run_programs("intervals", options, 800, Expect::certain_named,
                 [](const MpiSimulator& mpi, const FleetOutcome& out) {
                   REQUIRE(out.counts.ambiguous <= mpi.out_of_order());
                   coda_is_exact(mpi, out);
                 });
  }
  options.resumes = 0.04;
  options.wildcards = 0.8;
  options.comms = 1;
  run_programs("long intervals", options, 600, Expect::certain_named, coda_is_exact);
}

TEST_CASE("several nodes: recording is switched off and on between readings, and sends are cancelled meanwhile") {
  SimulatorOptions options;
  options.pcontrol = 0.06;
  options.resumes = 1;
  options.send_cancels = 0.3;
  options.tags = options.comms = 1;
  options.wildcards = 0;
  options.coda = true;
  run_programs("Pcontrol, cancels", options, 800, Expect::certain_named, coda_is_exact);
}

TEST_CASE("several nodes: intervals without events on several threads") {
  SimulatorOptions options;
  options.threads = 3;
  options.steps = 700;
  options.mutes = 0.02;
  options.pcontrol = 0.003;
  options.free_specific = true;
  options.coda = true;
  for (const double wildcards : {0.3, 0.7}) {
    options.wildcards = wildcards;
    run_programs("threads, intervals", options, 800, Expect::accounted, coda_is_exact);
  }
}

TEST_CASE("several nodes: freed wildcards, drops and cut off jobs never lead to a wrong pair") {
  SimulatorOptions options;
  options.free_specific = options.free_wildcards = true;
  options.wildcards = 0.5;
  run_programs("freed wildcards", options, 500, Expect::no_wrong_pair);
  options = {};
  options.drops = 0.01;
  options.free_specific = true;
  run_programs("drops", options, 800, Expect::no_wrong_pair);
  options.threads = 2;
  options.free_wildcards = true;
  options.mutes = 0.01;
  run_programs("drops, threads", options, 500, Expect::no_wrong_pair);
  options = {};
  options.drops = 0.01;
  options.send_cancels = 0.25;
  options.tags = options.comms = 1;
  options.wildcards = 0;
  run_programs("drops, cancels", options, 500, Expect::no_wrong_pair);
  options = {};
  options.quiesce = false;
  run_programs("cut off", options, 400, Expect::no_wrong_pair);
  options.mutes = 0.03;
  options.threads = 2;
  run_programs("cut off, threads", options, 400, Expect::no_wrong_pair);
}
