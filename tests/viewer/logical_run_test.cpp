// Logical time as pictures have it, against logical time itself.
#include "viewer/session/logical_run.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <random>
#include <tuple>

#include "analysis/order/dag_builder.hpp"
#include "tests/analysis/logical/programs.hpp"
#include "tests/analysis/logical/random_records.hpp"
#include "tests/seed.hpp"
#include "viewer/session/live_logical.hpp"

using namespace pclscope;
using namespace pclscope::test;

namespace {

// A stored run whose periods are as a dump has them.
class Stored final : public session::Session {
 public:
  Stored(std::vector<Message> messages, std::vector<CollectiveCall> calls)
      : messages_(std::move(messages)), calls_(std::move(calls)) {}
  Result<std::optional<Snapshot>> newer(std::chrono::milliseconds) override { return std::optional<Snapshot>(); }
  session::Phase phase() override { return session::Phase::finished; }
  bool live() const override { return false; }
  bool complete() const override { return true; }
  Status messages(const session::TimeSpan& span, const std::function<bool(std::span<const Message>)>& visit) override {
    std::vector<Message> inside;
    for (const Message& m : messages_)
      if (span.has(m.send_begin)) inside.push_back(m);
    visit(inside);
    return {};
  }
  std::uint64_t message_count() const override { return messages_.size(); }
  std::uint64_t messages_not_stored() const override { return 0; }
  std::uint64_t collectives_not_stored() const override { return 0; }
  Result<std::vector<Window>> windows() override { return std::vector<Window>(); }
  Status collectives(const session::TimeSpan&,
                     const std::function<bool(std::span<const CollectiveCall>)>& visit) override {
    visit(calls_);
    return {};
  }
  Result<Dag> dag(const DagQuestion&) override { return Dag{}; }
  Result<std::vector<PairTraffic>> traffic() override { return std::vector<PairTraffic>(); }

 private:
  std::vector<Message> messages_;
  std::vector<CollectiveCall> calls_;
};

void check_same(const session::LogicalPhase& made, const logical::LogicalTime& time, const logical::Phase& phase) {
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
    REQUIRE(session::read_logical(
        stored, snapshot, [&](auto newest) { return run = newest, true; }, round % 3 == 0 ? 1'000'000 : 25));
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

// A job that answers with the graph of its messages.
class Answering final : public session::Session {
 public:
  Answering(std::vector<Message> messages, std::int32_t ranks)
      : messages_(std::move(messages)), nodes_(static_cast<std::size_t>(ranks)) {}
  Result<std::optional<Snapshot>> newer(std::chrono::milliseconds) override { return std::optional<Snapshot>(); }
  session::Phase phase() override { return session::Phase::running; }
  bool live() const override { return true; }
  bool complete() const override { return false; }
  Status messages(const session::TimeSpan&, const std::function<bool(std::span<const Message>)>&) override {
    return Error{ErrorCode::bad_argument, "live"};
  }
  std::uint64_t message_count() const override { return 0; }
  std::uint64_t messages_not_stored() const override { return 0; }
  std::uint64_t collectives_not_stored() const override { return 0; }
  Result<std::vector<Window>> windows() override { return std::vector<Window>(); }
  Status collectives(const session::TimeSpan&, const std::function<bool(std::span<const CollectiveCall>)>&) override {
    return Error{ErrorCode::bad_argument, "live"};
  }
  Result<Dag> dag(const DagQuestion& question) override {
    return build_dag(question, {messages_, nodes_, [](const Message&) { return 1.0; }, 0});
  }
  Result<std::vector<PairTraffic>> traffic() override { return std::vector<PairTraffic>(); }

 private:
  std::vector<Message> messages_;
  std::vector<std::int32_t> nodes_;
};

auto key(const Message& m) {
  return std::tuple(m.source, m.destination, m.tag, m.send_begin, m.send_end, m.recv_wait, m.recv_end);
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
    for (Message& m : given) m.send_site = m.recv_site = 0;  // which an answer does not tell
    const logical::LogicalTime time = logical_time_of(program.ranks(), given);
    const auto run = session::newest_logical(job, program.ranks(), 10, 20);
    REQUIRE(run);
    REQUIRE(run->phases.size() == time.phases.size());
    for (std::size_t p = 0; p < run->phases.size(); ++p) check_same(*run->phases[p], time, time.phases[p]);
  }
}

TEST_CASE("the period asked of a running job has about as many messages as can be looked at") {
  CHECK(session::live_period_s(0, 0.1) == 5);     // nothing is known
  CHECK(session::live_period_s(1000, 0.1) == 5);  // slow: not more than that
  CHECK(session::live_period_s(100'000, 0.1) == Approx(0.12));
  CHECK(session::live_period_s(1e9, 0.1) == Approx(0.1));  // a window at least
  CHECK(session::live_period_s(NAN, NAN) == 5);
}
