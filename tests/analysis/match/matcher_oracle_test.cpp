// The matcher against the simulator: random programs, read by a reader that goes round the rings while the program
// runs on. Every pair the matcher names must be true; it must name all of which both sides left their events and no
// concurrent call makes them uncertain; and no message may be counted twice or not at all.
//
// PCLSCOPE_ORACLE_PROGRAMS=N runs N programs in all instead of some tens of thousands (fewer under the sanitizers);
// PCLSCOPE_ORACLE_SEED=S starts with another seed than 1.
#include <catch2/catch.hpp>
#include <cstdlib>

#include "analysis/match/matcher.hpp"
#include "tests/analysis/match/mpi_simulator.hpp"
#include "tests/analysis/match/told.hpp"

using namespace pclscope;
using test::MpiSimulator;
using test::SimulatorOptions;

namespace {

constexpr int usual_programs = 80'000;  // of all test cases together
#ifdef PCLSCOPE_UNDER_SANITIZER
constexpr std::uint64_t programs_here = usual_programs / 20;
#else
constexpr std::uint64_t programs_here = usual_programs / 2;
#endif

std::uint64_t from_environment(const char* name, std::uint64_t otherwise) {
  const char* text = std::getenv(name);
  return text ? std::strtoull(text, nullptr, 10) : otherwise;
}

struct Seeds {
  std::uint64_t first, end;
};
Seeds seeds(int usual) {
  const std::uint64_t first = from_environment("PCLSCOPE_ORACLE_SEED", 1);
  const std::uint64_t programs = from_environment("PCLSCOPE_ORACLE_PROGRAMS", programs_here);
  return {first, first + std::max<std::uint64_t>(10, static_cast<std::uint64_t>(usual) * programs / usual_programs)};
}

struct Outcome {
  std::map<std::uint64_t, std::uint64_t> named;  // receive -> send
  bool twice = false;
  MatchCounts counts;
  std::string contradiction;
  test::Told told;
};

class Reader {
 public:
  Reader(MpiSimulator& mpi, int ranks)
      : mpi_(mpi), ranks_(ranks), matcher_(ranks, [this](std::span<const Message> batch) {
          for (const Message& m : batch) out_.twice |= !out_.named.emplace(m.recv_site, m.send_site).second;
        }) {
    for (std::size_t i = 0; i < mpi.rings().size(); ++i) order_.push_back(i);
    // Ranks are on one node or nobody knows; matching goes on between the rings or only at the end of rounds. Whether
    // a process has several threads is known from its first segment on.
    eager_ = mpi.random()() % 2;
    const bool one_node = mpi.random()() % 2;
    for (int rank = 0; rank < ranks; ++rank) {
      if (one_node) matcher_.set_node(rank, 0);
      matcher_.set_threads(rank, mpi.several_threads());
    }
    pace_ = 2 + mpi.random()() % 30;
  }

  Outcome run() {
    while (!mpi_.done()) round();
    mpi_.finish();
    read_all();
    matcher_.finish();
    out_.counts = matcher_.counts();
    if (const auto& found = matcher_.contradiction()) out_.contradiction = found->what;
    for (const test::Ring& ring : mpi_.rings()) out_.told.add(ring.rank, ring.events);
    return out_;
  }

 private:
  void round() {
    std::shuffle(order_.begin(), order_.end(), mpi_.random());
    for (const std::size_t i : order_) {
      read_ring(mpi_.rings()[i]);
      if (eager_) matcher_.end_round(false);
      for (std::uint64_t n = mpi_.random()() % pace_; n > 0; --n) mpi_.step();
    }
    read_headers();
    matcher_.end_round();
  }
  void read_all() {
    for (test::Ring& ring : mpi_.rings()) read_ring(ring);
    read_headers();
  }
  void read_ring(test::Ring& ring) {
    matcher_.add(ring.rank, static_cast<std::uint32_t>(ring.thread), std::span(ring.events).subspan(ring.read));
    ring.read = ring.events.size();
  }
  void read_headers() {
    for (int rank = 0; rank < ranks_; ++rank) {
      std::uint64_t dropped = 0;
      bool muted = false;
      for (const test::Ring& ring : mpi_.rings()) {
        if (ring.rank != rank) continue;
        dropped += ring.dropped_total;
        muted = muted || ring.muted;
      }
      matcher_.note_drop(rank, dropped);
      matcher_.note_muted(rank, muted);
    }
  }

  MpiSimulator& mpi_;
  int ranks_;
  Outcome out_;
  Matcher matcher_;
  std::vector<std::size_t> order_;
  bool eager_ = false;
  std::uint64_t pace_ = 2;
};

std::size_t wrong_pairs(const Outcome& out, const std::map<std::uint64_t, std::uint64_t>& truth) {
  std::size_t wrong = 0;
  for (const auto& [recv, send] : out.named) {
    const auto it = truth.find(recv);
    wrong += it == truth.end() || it->second != send;
  }
  return wrong;
}

std::uint64_t accounted_for(const MatchCounts& c) {
  return c.matched + c.ambiguous + c.half_recorded + c.unrecorded + c.unmatched_sends;
}

struct Sum {
  std::size_t named = 0, all = 0, ambiguous = 0, half = 0, unrecorded = 0, certain = 0, uncertain_in_coda = 0;
  double share() const { return static_cast<double>(named) / static_cast<double>(all); }
};

enum class Expect {
  no_wrong_pair,
  certain_named,  // and every message accounted for
  all_named,
};

// `more(mpi, out)` checks what else must be true.
template <class More>
Sum run_programs(SimulatorOptions options, int usual, Expect expect, More more) {
  Sum sum;
  const Seeds range = seeds(usual);
  for (std::uint64_t seed = range.first; seed < range.end; ++seed) {
    options.ranks = 2 + static_cast<int>(seed % 4);
    MpiSimulator mpi(options, seed);
    const Outcome out = Reader(mpi, options.ranks).run();
    const auto truth = mpi.pairs();
    const auto certain = mpi.certain();
    INFO("seed " << seed << ", ranks " << options.ranks);
    REQUIRE_FALSE(out.twice);
    REQUIRE(wrong_pairs(out, truth) == 0);
    REQUIRE(out.counts.matched == out.named.size());
    INFO(out.contradiction);
    REQUIRE(out.counts.contradictions == 0);  // as no pair is wrong
    // See MatchCounts.
    INFO("sent " << mpi.messages_sent() << ", told " << out.told.sends() << ", at most " << out.told.at_most()
                 << "; matched " << out.counts.matched << " ambiguous " << out.counts.ambiguous << " half "
                 << out.counts.half_recorded << " unrecorded " << out.counts.unrecorded << " unmatched "
                 << out.counts.unmatched_sends);
    REQUIRE(accounted_for(out.counts) >= out.told.sends());
    REQUIRE(accounted_for(out.counts) <= out.told.at_most());
    if (options.drops == 0 && options.quiesce) REQUIRE(accounted_for(out.counts) == mpi.messages_sent());
    if (expect != Expect::no_wrong_pair) {
      std::size_t missing = 0;
      for (const std::uint64_t recv : certain) missing += !out.named.contains(recv);
      REQUIRE(missing == 0);
      REQUIRE(accounted_for(out.counts) == mpi.messages_sent());
      REQUIRE(out.counts.unmatched_sends == mpi.sends_without_receive());
    }
    if (expect == Expect::all_named) {
      REQUIRE(out.named.size() == truth.size());
      REQUIRE(out.counts.ambiguous == 0);
    }
    more(mpi, out);
    sum.named += out.named.size();
    sum.all += truth.size();
    sum.ambiguous += out.counts.ambiguous;
    sum.half += out.counts.half_recorded;
    sum.unrecorded += out.counts.unrecorded;
    sum.certain += certain.size();
  }
  CHECK(sum.all > (range.end - range.first) * 2);
  return sum;
}
Sum run_programs(const SimulatorOptions& options, int usual, Expect expect) {
  return run_programs(options, usual, expect, [](const MpiSimulator&, const Outcome&) {});
}

// Channels that are used after everything is recorded again: exact, every message of them.
void coda_is_exact(const MpiSimulator& mpi, const Outcome& out) {
  std::size_t missing = 0;
  for (const auto& [recv, send] : mpi.pairs()) missing += recv >= mpi.coda_begins() && !out.named.contains(recv);
  REQUIRE(missing == 0);
}

}  // namespace

TEST_CASE("random programs on one thread per rank are matched exactly") {
  SimulatorOptions options;
  options.free_specific = true;
  run_programs(options, 6000, Expect::certain_named, [](const MpiSimulator&, const Outcome& out) {
    REQUIRE(out.counts.ambiguous + out.counts.half_recorded + out.counts.unrecorded == 0);
  });
  options.free_specific = false;
  run_programs(options, 6000, Expect::all_named);
}

TEST_CASE("wildcard storms are matched exactly") {
  SimulatorOptions options;
  options.wildcards = 0.9;
  options.tags = 2;
  options.comms = 1;
  run_programs(options, 4000, Expect::all_named);
}

TEST_CASE("a send that was cancelled never gets the next one's receive") {
  SimulatorOptions options;
  options.send_cancels = 0.25;
  options.tags = options.comms = 1;
  options.wildcards = 0;
  options.free_specific = true;
  run_programs(options, 6000, Expect::certain_named,
               [](const MpiSimulator&, const Outcome& out) { REQUIRE(out.counts.ambiguous == 0); });
}

TEST_CASE("several threads, one at a time in MPI: matched exactly, whatever order their rings are read in") {
  SimulatorOptions options;
  options.threads = 3;
  options.one_at_a_time = true;
  options.steps = 600;
  run_programs(options, 3000, Expect::all_named);
}

TEST_CASE("concurrent calls of several threads: only what is truly concurrent on a channel is ambiguous") {
  SimulatorOptions options;
  options.threads = 3;
  options.steps = 700;
  const Sum sum = run_programs(options, 6000, Expect::certain_named);
  INFO("share of true pairs named: " << sum.share());
  CHECK(sum.ambiguous > 0);
  CHECK(sum.share() > 0.5);
}

TEST_CASE("concurrent sends with cancels are counted right and never paired wrongly") {
  SimulatorOptions options;
  options.threads = 3;
  options.send_cancels = 0.2;
  options.tags = options.comms = 1;
  options.wildcards = 0.1;
  options.steps = 700;
  options.free_specific = true;
  const Sum sum = run_programs(options, 6000, Expect::certain_named);
  CHECK(sum.ambiguous > 0);
}

TEST_CASE("intervals without events on one thread: exact before and after, every message accounted for") {
  SimulatorOptions options;
  options.mutes = 0.03;
  options.pcontrol = 0.005;
  options.free_specific = true;
  options.coda = true;
  for (const double cancels : {0.015, 0.15}) {
    options.send_cancels = cancels;
    const Sum sum = run_programs(options, 8000, Expect::certain_named, [](const MpiSimulator& mpi, const Outcome& out) {
      REQUIRE(out.counts.ambiguous <= mpi.out_of_order());
      coda_is_exact(mpi, out);
    });
    CHECK(sum.half > 0);
    CHECK(sum.unrecorded > 0);
    CHECK(sum.certain * 10 > sum.all);
  }
}

TEST_CASE("long intervals without events, and wildcard storms") {
  SimulatorOptions options;
  options.mutes = 0.02;
  options.resumes = 0.04;
  options.wildcards = 0.8;
  options.tags = 2;
  options.comms = 1;
  options.coda = true;
  run_programs(options, 6000, Expect::certain_named, [](const MpiSimulator& mpi, const Outcome& out) {
    REQUIRE(out.counts.ambiguous <= mpi.out_of_order());
    coda_is_exact(mpi, out);
  });
}

TEST_CASE(
    "intervals without events on several threads: no wrong pair, every message accounted for, exact again after") {
  SimulatorOptions options;
  options.threads = 3;
  options.steps = 700;
  options.mutes = 0.02;
  options.pcontrol = 0.003;
  options.free_specific = true;
  options.coda = true;
  for (const double wildcards : {0.3, 0.7}) {
    options.wildcards = wildcards;
    run_programs(options, 6000, Expect::no_wrong_pair, [](const MpiSimulator& mpi, const Outcome& out) {
      REQUIRE(accounted_for(out.counts) == mpi.messages_sent());
      coda_is_exact(mpi, out);
    });
  }
}

TEST_CASE("a freed wildcard makes what it could have taken ambiguous, never wrong") {
  SimulatorOptions options;
  options.free_specific = options.free_wildcards = true;
  options.wildcards = 0.5;
  CHECK(run_programs(options, 4000, Expect::no_wrong_pair).ambiguous > 0);
  options.mutes = 0.02;
  CHECK(run_programs(options, 2000, Expect::no_wrong_pair).ambiguous > 0);
}

TEST_CASE("dropped events never lead to a wrong pair") {
  SimulatorOptions options;
  options.drops = 0.01;
  options.free_specific = true;
  const Sum sum = run_programs(options, 6000, Expect::no_wrong_pair);
  INFO("share of true pairs named: " << sum.share());
  CHECK(sum.share() > 0.2);
  options.mutes = 0.02;
  run_programs(options, 2000, Expect::no_wrong_pair);
}

TEST_CASE("dropped events of one of several threads never lead to a wrong pair") {
  SimulatorOptions options;
  options.drops = 0.01;
  options.threads = 2;
  options.free_wildcards = true;
  run_programs(options, 4000, Expect::no_wrong_pair);
}

TEST_CASE("a dropped cancel of a send never leads to a wrong pair") {
  SimulatorOptions options;
  options.drops = 0.01;
  options.send_cancels = 0.25;
  options.tags = options.comms = 1;
  options.wildcards = 0;
  run_programs(options, 6000, Expect::no_wrong_pair);
}

TEST_CASE("a job that is cut off has no wrong pairs") {
  SimulatorOptions options;
  options.quiesce = false;
  run_programs(options, 3000, Expect::no_wrong_pair);
  options.mutes = 0.03;
  run_programs(options, 3000, Expect::no_wrong_pair);
  options.threads = 2;
  run_programs(options, 3000, Expect::no_wrong_pair);
}
