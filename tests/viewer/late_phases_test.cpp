// Who is late in which phase, against logical time itself.
#include "viewer/session/late_phases.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <map>
#include <random>

#include "interpose/record/functions.hpp"
#include "tests/analysis/logical/programs.hpp"
#include "tests/analysis/logical/random_records.hpp"
#include "tests/seed.hpp"
#include "tests/viewer/logical_sessions.hpp"
#include "viewer/views/late_phase_lines.hpp"

using namespace pclscope;
using namespace pclscope::test;
using Catch::Contains;

namespace {

Snapshot snapshot_of(std::int32_t ranks, const std::vector<Message>& messages) {
  Snapshot snapshot;
  snapshot.application.ranks = ranks;
  for (const Message& m : messages)
    snapshot.duration_s = std::max(snapshot.duration_s, static_cast<double>(m.recv_end) * 1e-9);
  return snapshot;
}

const auto go_on = [](double) { return true; };

// The list of which rank is most late in how many phases, by its definition.
std::vector<std::pair<std::int32_t, std::uint64_t>> counted(const std::vector<session::LateRank>& ranks) {
  std::vector<std::pair<std::int32_t, std::uint64_t>> list;
  for (const session::LateRank& r : ranks) list.emplace_back(r.rank, r.phases);
  std::sort(list.begin(), list.end());
  return list;
}

Program late_exchange(std::int32_t late, int iterations) {
  return exchange(Grid{{4, 4, 2}}, iterations,
                  [=](std::int32_t r, int) { return 1'000'000 + (r == late ? 700'000 : r * 31); });
}

}  // namespace

TEST_CASE("phases read from a dump in pieces are those of logical time, with their numbers and who is late") {
  const std::uint64_t seed = random_seed() + 20240511;
  CAPTURE(seed);
  std::mt19937_64 random(seed);
  for (int round = 0; round < 60; ++round) {
    const RandomRecords records = random_records(random, 300, round % 2 == 1);
    const logical::LogicalTime time = logical_time_of(records.ranks, records.messages, records.collectives);
    Stored stored(records.messages, records.collectives);
    const auto made = session::stored_late_phases(stored, snapshot_of(records.ranks, records.messages), go_on,
                                                  round % 3 == 0 ? 1'000'000 : 25);
    REQUIRE(made);
    CHECK(made->stored);
    REQUIRE(made->all == time.phases.size());
    REQUIRE(made->phases.size() == time.phases.size());
    std::map<std::int32_t, std::uint64_t> late, came_late;
    double late_ns = 0;
    for (const logical::Phase& phase : time.phases) {
      const logical::PhaseSum sum = logical::sum_of(time, phase);
      if (sum.lateness.rank >= 0) ++late[sum.lateness.rank];
      if (sum.entry.rank >= 0) ++came_late[sum.entry.rank];
      late_ns += sum.lateness.sum_ns;
    }
    CHECK(made->late_s == Approx(late_ns * 1e-9).margin(1e-12));
    CHECK(counted(made->late) == std::vector<std::pair<std::int32_t, std::uint64_t>>(late.begin(), late.end()));
    CHECK(counted(made->came_late) ==
          std::vector<std::pair<std::int32_t, std::uint64_t>>(came_late.begin(), came_late.end()));
    double before = -1e9;
    for (const session::LatePhase& p : made->phases) {
      CHECK(p.begin_s >= before);
      before = p.begin_s;
      REQUIRE(p.number);
      const logical::Phase& phase = time.phases[*p.number];
      const logical::PhaseSum sum = logical::sum_of(time, phase);
      CHECK(p.first_step == phase.first_step);
      CHECK(p.steps == phase.steps);
      CHECK(p.rank_count == sum.ranks.size());
      CHECK(p.begin_s == Approx(static_cast<double>(sum.begin_ns) * 1e-9));
      CHECK(p.messages == sum.messages);
      CHECK(p.lateness.rank == sum.lateness.rank);
      for (const logical::Part& part : time.parts_of(phase)) {
        if (part.rank != p.lateness.rank) continue;
        const auto late = [&](std::uint32_t event) { return time.lateness(phase, time.events[event]); };
        std::uint32_t latest = part.first, first = part.first;
        for (std::uint32_t e = part.first; e < part.end; ++e)
          if (late(e) > late(latest)) latest = e;
        while (late(first) < late(latest) / 2) ++first;
        CHECK(p.lateness.rank_most_ns == late(latest));
        CHECK(p.lateness.site == time.events[first].site);
        CHECK(p.lateness.kind == time.events[first].kind);
      }
    }
  }
}

TEST_CASE("a running job's phases name the rank that computes longer, and the call where it shows first") {
  const Program program = late_exchange(9, 6);
  const Outcome outcome = simulate(program);
  Answering job(outcome.messages, program.ranks());
  Snapshot snapshot = snapshot_of(program.ranks(), outcome.messages);
  const auto made = session::newest_late_phases(job, snapshot, snapshot.duration_s, 5);
  REQUIRE(made);
  CHECK_FALSE(made->stored);
  CHECK(made->to_s - made->from_s == Approx(5));
  REQUIRE(made->all == 4);  // without the first and the last
  for (const session::LatePhase& p : made->phases) {
    CHECK_FALSE(p.number);
    CHECK(p.lateness.rank == 9);
    CHECK(p.entry.rank == 9);
    CHECK(p.lateness.kind == logical::Kind::send);
    CHECK(p.lateness.rank_most_ns > 690'000);  // it computes 0.7 ms more, fast ranks run ahead
    CHECK(p.rank_count == 32);
  }
  REQUIRE(made->late.size() == 1);
  CHECK(made->late[0].rank == 9);
  CHECK(made->late[0].phases == 4);

  // As text, with a call site that is known and without.
  CallSite line;
  line.id = made->phases[0].lateness.site;
  REQUIRE(line.id != 0);
  line.file = "/src/halo.c";
  line.line = 42;
  line.mpi_function = static_cast<std::uint16_t>(record::Function::Isend);
  for (const std::size_t width : {0u, 40u, 80u, 100u, 160u}) {
    const auto lines = views::late_phase_lines(*made, views::PhaseOrder::newest, views::Sites({line}), width, 100);
    REQUIRE(lines.size() == 5);
    if (width == 0 || width >= 80) CHECK_THAT(lines[1], Contains("MPI_Isend at halo.c:42"));
    CHECK_THAT(lines[1], Contains(" 9 "));
    for (const std::string& text : lines) CHECK((width == 0 || text.size() <= width));
  }
  CHECK_THAT(views::late_phase_lines(*made, views::PhaseOrder::newest, views::Sites(), 0, 100)[1], Contains("a send"));
  CHECK(views::late_phase_lines(*made, views::PhaseOrder::latest, views::Sites(), 0, 2).back() ==
        "... and 2 in which ranks were less late");
  CHECK_THAT(views::late_rank_lines(*made)[0], Contains("rank 9 in 4 of 4 phases"));
  CHECK_THAT(views::late_phase_title(*made), Contains("the newest 5.00 s"));
}

TEST_CASE("of many phases the newest are kept, and those with most lateness, wherever they are") {
  constexpr int iterations = 9500;
  constexpr int worst = 137;
  Program program(2);
  for (int i = 0; i < iterations; ++i) {
    for (std::int32_t r = 0; r < 2; ++r) program.compute(r, 1000 + (r == 1 && i == worst ? 5'000'000 : 0));
    for (std::int32_t r = 0; r < 2; ++r) program.call(r, Operation::Kind::isend, 1, 1 - r, i);
    for (std::int32_t r = 0; r < 2; ++r) program.call(r, Operation::Kind::recv, 2, 1 - r, i);
  }
  const Outcome outcome = simulate(program);
  Stored stored(outcome.messages, outcome.collectives);
  const auto made = session::stored_late_phases(stored, snapshot_of(program.ranks(), outcome.messages), go_on, 2000);
  REQUIRE(made);
  REQUIRE(made->all > 8000);
  CHECK(made->phases.size() < made->all);
  CHECK(made->phases.size() >= 1000);
  const auto number = [&](std::size_t back) { return *made->phases[made->phases.size() - 1 - back].number; };
  for (std::size_t back = 0; back < 1000; ++back) REQUIRE(number(back) == made->all - 1 - back);
  const auto most = std::max_element(made->phases.begin(), made->phases.end(), [](const auto& a, const auto& b) {
    return a.lateness.sum_ns < b.lateness.sum_ns;
  });
  CHECK(most->lateness.rank == 1);
  CHECK(most->lateness.rank_most_ns > 4'000'000);
  CHECK(*most->number < made->all / 4);
}

TEST_CASE("reading stops when nobody wants it any more, and nothing stored is said") {
  const Program program = late_exchange(3, 4);
  const Outcome outcome = simulate(program);
  Stored stored(outcome.messages, outcome.collectives);
  int asked = 0;
  const auto stopped = session::stored_late_phases(
      stored, snapshot_of(program.ranks(), outcome.messages), [&](double) { return ++asked < 2; }, 10);
  REQUIRE(stopped);
  CHECK(asked == 2);
  Stored none({}, {});
  const auto empty = session::stored_late_phases(none, snapshot_of(4, {}), go_on);
  REQUIRE(empty);
  CHECK(empty->phases.empty());
  CHECK(views::late_rank_lines(*empty).empty());
  CHECK_THAT(views::late_phase_lines(*empty, views::PhaseOrder::latest, views::Sites(), 80, 10)[0],
             Contains("--keep all"));
}
