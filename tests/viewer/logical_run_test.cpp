// Logical time as pictures have it, against logical time itself.
#include "viewer/session/logical_run.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <random>
#include <tuple>

#include "tests/analysis/logical/programs.hpp"
#include "tests/analysis/logical/random_records.hpp"
#include "tests/seed.hpp"
#include "tests/viewer/logical_sessions.hpp"
#include "viewer/session/live_logical.hpp"

using namespace pclscope;
using namespace pclscope::test;

namespace {

// `live`: a running job does not tell when receives were posted, so no send has waited.
void check_same(const session::LogicalPhase& made, const logical::LogicalTime& time, const logical::Phase& phase,
                bool live = false) {
  REQUIRE(made.parts.size() == phase.parts);
  REQUIRE(made.first_step == phase.first_step);
  REQUIRE(made.steps == phase.steps);
  std::uint32_t box = 0;
  for (const logical::Part& part : time.parts_of(phase)) {
    for (std::uint32_t i = part.first; i < part.end; ++i, ++box) {
      const logical::Event& e = time.events[i];
      const session::LogicalBox& b = made.boxes[box];
      REQUIRE(b.step == e.step);
      REQUIRE(b.kind == e.kind);
      REQUIRE(b.site == e.site);
      REQUIRE(made.rank_of(box) == part.rank);
      REQUIRE(made.box_at(part.rank, e.step) == box);
      // All these times are small: floats have them exactly.
      REQUIRE(made.begin_ns(b) == e.begin);
      REQUIRE(made.end_ns(b) == e.end);
      REQUIRE(static_cast<std::int64_t>(made.value(b, logical::Metric::lateness)) == time.lateness(phase, e));
      REQUIRE(static_cast<std::int64_t>(made.value(b, logical::Metric::entry_lateness)) ==
              time.entry_lateness(phase, e));
      // A 65535th of the duration, and half a thousandth.
      REQUIRE(static_cast<double>(made.value(b, logical::Metric::wait)) ==
              Approx(live && e.kind == logical::Kind::send ? 0 : static_cast<double>(e.wait_ns))
                  .margin(static_cast<double>(e.end - e.begin) / 65535 + 1e-6));
      REQUIRE(static_cast<double>(made.value(b, logical::Metric::bytes)) ==
              Approx(static_cast<double>(e.bytes)).epsilon(0.0005));
      if (e.kind == logical::Kind::collective) continue;
      std::vector<std::pair<std::int32_t, std::uint32_t>> of_event, of_box;
      for (const std::uint32_t other : time.partners_of(e))
        of_event.emplace_back(time.rank_of[other], time.events[other].step);
      for (const std::uint32_t other : made.partners_of(b))
        of_box.emplace_back(made.rank_of(other), made.boxes[other].step);
      REQUIRE(of_box == of_event);
    }
  }
}

}  // namespace

TEST_CASE("bytes in 16 bits: exact while they are few, and in order") {
  std::uint64_t before = 0;
  for (std::uint64_t bytes = 0; bytes <= UINT32_MAX; bytes += 1 + bytes / 1000) {
    const std::uint64_t back = session::from_short_bytes(session::to_short_bytes(static_cast<std::uint32_t>(bytes)));
    if (bytes < 2048) REQUIRE(back == bytes);
    REQUIRE(static_cast<double>(back) == Approx(static_cast<double>(bytes)).epsilon(0.0005));
    REQUIRE(back >= before);
    before = back;
  }
  for (int bit = 0; bit < 32; ++bit) CHECK(session::from_short_bytes(session::to_short_bytes(1u << bit)) == 1u << bit);
  CHECK(session::from_short_bytes(session::to_short_bytes(UINT32_MAX)) >= UINT32_MAX);
}

TEST_CASE("a run that is read in pieces is the run that is read at once, box by box") {
  const std::uint64_t seed = random_seed() + 20240501;
  CAPTURE(seed);
  std::mt19937_64 random(seed);
  for (int round = 0; round < 100; ++round) {
    const RandomRecords records = random_records(random, 300, round % 2 == 1);
    const logical::LogicalTime time = logical_time_of(records.ranks, records.messages, records.collectives);
    Stored stored(records.messages, records.collectives);
    Snapshot snapshot;
    snapshot.application.ranks = records.ranks;
    for (const Message& m : records.messages)
      snapshot.duration_s = std::max(snapshot.duration_s, static_cast<double>(m.recv_end) * 1e-9);
    std::shared_ptr<const session::LogicalRun> run;
    REQUIRE(session::read_logical(stored, snapshot, [&](auto newest) { return run = newest, true; },
                                  {.messages_at_once = round % 3 == 0 ? 1'000'000u : 25u}));
    REQUIRE(run);
    CHECK(run->whole);
    REQUIRE(run->phases.size() == time.phases.size());
    for (std::size_t p = 0; p < run->phases.size(); ++p) check_same(*run->phases[p], time, time.phases[p]);
    // Sums over all.
    std::vector<double> late(run->steps);
    for (const logical::Phase& phase : time.phases)
      for (const logical::Part& part : time.parts_of(phase))
        for (std::uint32_t i = part.first; i < part.end; ++i)
          late[time.events[i].step] += static_cast<double>(time.lateness(phase, time.events[i])) * 1e-9;
    for (std::size_t step = 0; step < late.size(); ++step)
      CHECK(static_cast<double>(run->sums[step][0]) == Approx(late[step]).margin(1e-12));
  }
}

TEST_CASE("a phase alone has the clusters and the exchange pattern that it has in its run") {
  const Grid grid{{4, 4, 4}};
  const logical::LogicalTime time = logical_time_of(
      exchange(grid, 3, [](std::int32_t r, int i) { return 1'000'000 + (r == 21 && i == 1 ? 500'000 : r * 100); }));
  const session::LogicalRun run = session::run_of(time, grid.size());
  REQUIRE(run.phases.size() == 3);
  for (std::size_t p = 0; p < 3; ++p) {
    const logical::LogicalTime alone = session::time_of(*run.phases[p], grid.size());
    const logical::Clusters whole = logical::clusters_of(time, time.phases[p]),
                            same = logical::clusters_of(alone, alone.phases[0]);
    CHECK(same.ranks == whole.ranks);
    CHECK(same.cluster_of == whole.cluster_of);
    CHECK(same.medoids == whole.medoids);
    CHECK(logical::pattern_of(alone, alone.phases[0]) == logical::pattern_of(time, time.phases[p]));
  }
}

namespace {

auto key(const Message& m) {
  return std::tuple(m.source, m.destination, m.tag, m.send_begin, m.send_end, m.recv_wait, m.recv_end, m.send_site,
                    m.recv_site);
}

}  // namespace

TEST_CASE("a running job's newest messages have the steps and times that they have in its dump") {
  const Grid grid{{4, 4, 2}};
  for (const Program& program :
       {exchange(grid, 4, [](std::int32_t r, int i) { return 1'000'000 + (r == 9 && i == 2 ? 700'000 : r * 31); }),
        halo({4, 8}, Setting{.steps = 5, .noise = 0.2, .plant = {}})}) {
    const Outcome outcome = simulate(program);
    Answering job(outcome.messages, program.ranks());
    const auto dag = job.dag({});
    REQUIRE(dag);
    std::vector<Message> made = session::messages_of(*dag), given = outcome.messages;
    const auto before = [](const Message& a, const Message& b) { return key(a) < key(b); };
    std::sort(made.begin(), made.end(), before);
    std::sort(given.begin(), given.end(), before);
    REQUIRE(made.size() == given.size());
    for (std::size_t i = 0; i < made.size(); ++i) REQUIRE(key(made[i]) == key(given[i]));
    const logical::LogicalTime time = logical_time_of(program.ranks(), given);
    Snapshot snapshot;
    snapshot.application.ranks = program.ranks();
    const auto run = session::newest_logical(job, snapshot, 10, 20);
    REQUIRE(run);
    // The first and the last phase may have been cut; each of these has all ranks.
    REQUIRE(time.phases.size() > 2);
    REQUIRE(run->phases.size() == time.phases.size() - 2);
    for (std::size_t p = 0; p < run->phases.size(); ++p) check_same(*run->phases[p], time, time.phases[p + 1], true);
  }
}

TEST_CASE("phases that an end of the period may have cut are left out, unless there are no others") {
  const Grid grid{{2, 2, 2}};
  const auto asked = [&](int iterations, std::int32_t missing) {
    const Program program = exchange(grid, iterations, [](std::int32_t, int) { return 1'000'000; });
    Outcome outcome = simulate(program);
    // The last messages of one rank have not been told yet.
    std::int64_t end = 0;
    for (const Message& m : outcome.messages) end = std::max(end, m.send_begin);
    std::erase_if(outcome.messages, [&](const Message& m) {
      return (m.source == missing || m.destination == missing) && m.send_begin > end - 500'000;
    });
    Answering job(outcome.messages, program.ranks());
    Snapshot snapshot;
    snapshot.application.ranks = program.ranks();
    const auto run = session::newest_logical(job, snapshot, 10, 20);
    REQUIRE(run);
    return *run;
  };
  const session::LogicalRun whole = asked(6, -1), late = asked(6, 5);
  CHECK(whole.phases.size() == 4);
  REQUIRE(late.phases.size() == 4);
  for (const auto& phase : late.phases) CHECK(phase->parts.size() == 8);
  CHECK(asked(1, -1).phases.size() == 1);
}

TEST_CASE("the period asked of a running job has about as many messages as can be looked at") {
  CHECK(session::live_period_s(0, 0.1) == 5);     // nothing is known
  CHECK(session::live_period_s(1000, 0.1) == 5);  // slow: not more than that
  CHECK(session::live_period_s(100'000, 0.1) == Approx(0.12));
  CHECK(session::live_period_s(1e9, 0.1) == Approx(0.1));  // a window at least
  CHECK(session::live_period_s(NAN, NAN) == 5);
}
