// What is said of the begin and the end of a job, and when no cause stands out.
#include "analysis/attribute/rest.hpp"

#include <algorithm>
#include <catch2/catch.hpp>

#include "analysis/attribute/not_computation.hpp"
#include "analysis/attribute/replay.hpp"
#include "interpose/record/functions.hpp"
#include "tests/analysis/attribute/exchange.hpp"
#include "tests/analysis/delay/programs.hpp"

using namespace pclscope;
using namespace pclscope::test;

namespace {

// Four ranks that exchange with their neighbours for some seconds; `slow` of them computes twice as long (-1: none).
Outcome ring(int slow) {
  Program program(4);
  for (int step = 0; step < 400; ++step)
    for (int r = 0; r < 4; ++r) {
      program.compute(r, r == slow ? 20 * ms : 10 * ms);
      program.call(r, K::send, site::send, (r + 1) % 4);
      program.call(r, K::recv, site::recv, (r + 3) % 4);
    }
  return simulate(program);
}

// One call of every rank for whoever comes last; of MPI_Finalize only entries are known: it ends with that one.
void wait_for(std::vector<CollectiveCall>& calls, record::Function function, std::vector<std::int64_t> begins) {
  const auto last = std::max_element(begins.begin(), begins.end());
  for (std::size_t r = 0; r < begins.size(); ++r) {
    CollectiveCall c;
    c.rank = static_cast<std::int32_t>(r);
    c.function = static_cast<std::uint16_t>(function);
    c.shape = CollectiveShape::all_to_all;
    c.begin = begins[r];
    c.end = *last;
    if (begins[r] < *last) c.awaited = static_cast<std::int32_t>(last - begins.begin()), c.awaited_begin = *last;
    calls.push_back(c);
  }
}

Attribution of(const Outcome& o, const std::vector<CollectiveCall>& calls, attribute::BeforeInit before = {}) {
  return attribute::replay({4, o.messages, calls, {}, 100 * ms, {}, {}, {}, {}, {}, std::move(before)});
}

const Finding* find(const Attribution& a, Cause cause, const char* detail) {
  for (const Finding& f : a.findings)
    if (f.cause == cause && f.detail == detail) return &f;
  return nullptr;
}

// Four ranks, 100 s, each inside MPI for so long in each part; MPI's own work 1 s.
Snapshot job(double RankSummary::*part = nullptr, double seconds = 0, std::int32_t only = -1) {
  Snapshot s;
  s.duration_s = 100;
  for (std::int32_t r = 0; r < 4; ++r) {
    RankSummary& rank = s.ranks.emplace_back();
    rank.rank = r;
    rank.threads = 1;
    rank.other_s = 1;
    if (part != nullptr && (only < 0 || only == r)) rank.*part = seconds;
    rank.mpi_s = rank.late_sender_s + rank.late_receiver_s + rank.transfer_s + rank.collective_wait_s +
                 rank.one_sided_s + rank.file_s + rank.other_s;
  }
  s.attribution.findings.push_back({});  // `none`, as it is said of delays that were followed
  s.functions.push_back({});
  s.functions[0].function = static_cast<std::uint16_t>(record::Function::Waitall);
  s.functions[0].inside_s = 40;
  return s;
}

bool says(const Finding& f, const char* text) {
  return std::any_of(f.evidence.begin(), f.evidence.end(),
                     [&](const std::string& line) { return line.find(text) != std::string::npos; });
}

}  // namespace

TEST_CASE("Who is late for MPI_Init is named") {
  const Outcome o = ring(-1);
  std::vector<CollectiveCall> calls;
  wait_for(calls, record::Function::Init, {-1000 * ms, -1000 * ms, 0, -1000 * ms});
  const Attribution a = of(o, calls);
  REQUIRE(!a.findings.empty());
  CHECK(a.findings[0].cause == Cause::startup);
  CHECK(a.findings[0].ranks == std::vector<std::int32_t>{2});
  CHECK(a.findings[0].lost_s == Approx(3));
  CHECK(a.findings[0].confidence > 0.5);
  calls.clear();  // a thousandth of the run is nothing
  wait_for(calls, record::Function::Init, {-4 * ms, -4 * ms, 0, -4 * ms});
  for (const Finding& f : of(o, calls).findings) CHECK((f.cause != Cause::startup || f.confidence <= 0.5));
}

TEST_CASE("Who was begun late is not late for MPI_Init itself") {
  const Outcome o = ring(-1);  // 4 s
  const auto waits_for_2 = [](std::int64_t length) {
    std::vector<CollectiveCall> calls;
    wait_for(calls, record::Function::Init, {-length, -length, 0, -length});
    return calls;
  };
  const auto at_work = [](std::vector<std::int64_t> ns) {
    return [ns](std::int32_t rank) { return ns[static_cast<std::size_t>(rank)]; };
  };
  const char *late = "late for MPI_Init", *begun = "processes begun late";
  const auto begun_last = of(o, waits_for_2(1000 * ms), at_work({80 * ms, 90 * ms, 70 * ms, 80 * ms}));
  CHECK(find(begun_last, Cause::startup, late) == nullptr);
  const Finding* f = find(begun_last, Cause::startup, begun);
  REQUIRE(f != nullptr);
  CHECK(f->ranks.empty());
  CHECK(f->lost_s == Approx(3));
  CHECK(f->confidence == Approx(0.5));  // a second is usual
  CHECK(begun_last.findings[0].cause == Cause::none);

  const auto long_start = of(o, waits_for_2(20'000 * ms), at_work({80 * ms, 90 * ms, 70 * ms, 80 * ms}));
  CHECK(long_start.findings[0].detail == begun);
  CHECK(long_start.findings[0].confidence > 0.9);

  // Of the second it was at work 0.6 s longer than ranks 0 and 1, and 0.2 s longer than rank 3.
  const auto both = of(o, waits_for_2(1000 * ms), at_work({100 * ms, 100 * ms, 700 * ms, 500 * ms}));
  REQUIRE(find(both, Cause::startup, late) != nullptr);
  CHECK(find(both, Cause::startup, late)->ranks == std::vector<std::int32_t>{2});
  CHECK(find(both, Cause::startup, late)->lost_s == Approx(1.4));
  CHECK(says(*find(both, Cause::startup, late), "at work for 0.7 s before it called MPI_Init, the others' for 0.1 s"));
  REQUIRE(find(both, Cause::startup, begun) != nullptr);
  CHECK(find(both, Cause::startup, begun)->lost_s == Approx(1.6));

  // Not more than was waited, and all of it where it is not known.
  const auto own = of(o, waits_for_2(1000 * ms), at_work({100 * ms, 100 * ms, 9000 * ms, -1}));
  REQUIRE(find(own, Cause::startup, late) != nullptr);
  CHECK(find(own, Cause::startup, late)->lost_s == Approx(3));
  CHECK(find(own, Cause::startup, begun) == nullptr);
}

TEST_CASE("Who is late for MPI_Finalize is named, but not before what made it late") {
  for (const int slow : {-1, 1}) {
    CAPTURE(slow);
    const Outcome o = ring(slow);
    std::int64_t end = 0;
    for (const Message& m : o.messages) end = std::max(end, m.recv_end);
    std::vector<CollectiveCall> calls;
    wait_for(calls, record::Function::Finalize, {end, end + 2000 * ms, end, end});
    const Attribution a = of(o, calls);
    const Finding* f = find(a, Cause::collective_wait, "late for MPI_Finalize");
    REQUIRE(f != nullptr);
    CHECK(f->ranks == std::vector<std::int32_t>{1});
    CHECK(f->lost_s == Approx(6));
    if (slow < 0) CHECK(f->confidence > 0.5);
    if (slow < 0) continue;
    CHECK(f->confidence <= 0.5);
    CHECK(a.findings[0].cause == Cause::late_sender);
  }
}

TEST_CASE("calls that have not returned are a cause, and never none") {
  const auto inside = [](Snapshot& s, std::size_t rank, double for_s, std::vector<std::int32_t> whom,
                         bool any = false) {
    s.ranks[rank].call_function = static_cast<std::uint16_t>(record::Function::Barrier);
    s.ranks[rank].call_for_s = for_s;
    s.ranks[rank].waits_for = std::move(whom);
    s.ranks[rank].waits_for_any = any;
  };
  Snapshot s = job();
  s.finished = false;
  const double now = s.duration_s + 30;
  for (const std::size_t r : {0, 1, 3}) inside(s, r, 30, {2});
  attribute::settle_rest(s, now);
  REQUIRE(!s.attribution.findings.empty());
  const Finding& late = s.attribution.findings[0];
  CHECK(late.cause == Cause::blocked);
  CHECK(late.ranks == std::vector<std::int32_t>{2});
  CHECK(late.lost_s == Approx(90));
  CHECK(late.begin_s == Approx(now - 30));
  CHECK(late.confidence > 0.5);
  for (const Finding& f : s.attribution.findings) CHECK(f.cause != Cause::none);
  // A deadlock is one whatever it has cost so far.
  s = job();
  s.finished = false;
  inside(s, 0, 0.3, {1});
  inside(s, 1, 0.3, {0});
  s.deadlocks.emplace_back();
  s.deadlocks[0].members.resize(2);
  s.deadlocks[0].members[1].rank = 1;
  attribute::settle_rest(s, s.duration_s + 0.3);
  CHECK(s.attribution.findings[0].detail == "deadlock");
  CHECK(s.attribution.findings[0].ranks == std::vector<std::int32_t>{0, 1});
  // A server that waits for whoever comes delays nobody; for a moment everybody is inside some call.
  s = job();
  s.finished = false;
  inside(s, 0, 30, {1, 2, 3}, true);
  inside(s, 1, 0.2, {2});
  attribute::settle_rest(s, s.duration_s + 0.2);
  for (const Finding& f : s.attribution.findings) CHECK(f.cause != Cause::blocked);
}

TEST_CASE("none only when every part of the time inside MPI is small, of all and of each rank") {
  Snapshot s = job();
  attribute::settle_rest(s);
  REQUIRE(s.attribution.findings.size() == 1);
  CHECK(s.attribution.findings[0].cause == Cause::none);
  for (const auto part : {&RankSummary::late_sender_s, &RankSummary::late_receiver_s, &RankSummary::transfer_s,
                          &RankSummary::collective_wait_s, &RankSummary::one_sided_s, &RankSummary::other_s}) {
    s = job(part, 6);
    attribute::settle_rest(s);
    CHECK(s.attribution.findings[0].cause == Cause::unknown);
    CHECK(says(s.attribution.findings[0], "MPI_Waitall"));
    CHECK(says(s.attribution.findings[0], "rank 0"));
  }
  s = job(&RankSummary::other_s, 10, 3);  // one rank alone
  attribute::settle_rest(s);
  CHECK(s.attribution.findings[0].cause == Cause::unknown);
  CHECK(s.attribution.findings[0].advice.find("ank 3") != std::string::npos);
  s = {};  // nothing yet
  attribute::settle_rest(s);
  CHECK(s.attribution.findings.empty());
}

TEST_CASE("What is sure stays first, and none is not said beside it") {
  Snapshot s = job(&RankSummary::late_sender_s, 30);
  s.attribution.findings.insert(s.attribution.findings.begin(), Finding{});
  s.attribution.findings[0].cause = Cause::late_sender;
  s.attribution.findings[0].confidence = 0.9;
  s.attribution.findings[0].lost_s = 120;
  attribute::settle_rest(s);
  REQUIRE(s.attribution.findings.size() == 1);
  CHECK(s.attribution.findings[0].cause == Cause::late_sender);
}

TEST_CASE("Time in MPI-IO is a cause, without what ranks wait there for each other") {
  Snapshot s = job(&RankSummary::file_s, 10);
  attribute::settle_rest(s);
  CHECK(s.attribution.findings[0].cause == Cause::file);
  CHECK(s.attribution.findings[0].lost_s == Approx(40));
  CHECK(s.attribution.findings[0].ranks.empty());
  s = job(&RankSummary::file_s, 30, 2);
  attribute::settle_rest(s);
  CHECK(s.attribution.findings[0].cause == Cause::file);
  CHECK(s.attribution.findings[0].ranks == std::vector<std::int32_t>{2});
  s = job(&RankSummary::file_s, 10);
  s.wait_states.push_back({});
  s.wait_states[0].state = WaitState::wait_at_file;
  s.wait_states[0].wait_s = 39;
  attribute::settle_rest(s);
  CHECK(s.attribution.findings[0].cause == Cause::unknown);
}

TEST_CASE("What is called computation was sleep: said when it is most of the time outside MPI at least") {
  Snapshot s = job();
  Finding& f = s.attribution.findings.emplace_back();
  f.cause = Cause::late_sender;
  f.detail = "computation";
  f.ranks = {1};
  f.confidence = 0.9;
  f.advice = "Speed up what rank 1 computes before this call";
  RankSummary& r = s.ranks[1];
  const auto told = [&](double running_s, double off_s, double asleep_s, double inside_s) {
    Snapshot now = s;
    RankSummary& rank = now.ranks[1];
    rank.running_s = running_s;
    rank.off_core_s = rank.off_core_computing_s = off_s;
    rank.asleep_s = asleep_s;
    rank.mpi_s = inside_s + rank.init_s + rank.finalize_s;
    attribute::tell_not_computed(now);
    const Finding& finding = now.attribution.findings.back();
    CHECK(finding.advice.starts_with(finding.evidence.empty() ? "Speed up what rank 1" : "See what rank 1 waits for"));
    return finding.evidence.empty() ? std::string() : finding.evidence.back();
  };
  CHECK(told(2, 0, 8, 0).starts_with("rank 1 was asleep for 80 % of the time outside MPI, at least"));
  CHECK(told(2, 0, 8, 2).starts_with("rank 1 was asleep for 75 %"));  // all that it ran may have been computation
  CHECK(told(8, 0, 2, 0).empty());
  CHECK(told(2, 6, 2, 0).empty());  // wanted to run
  CHECK(told(1, 0, 9, 9).empty());  // it slept inside MPI
  CHECK(told(0, 0, 0, 0).empty());  // not observed
  CHECK(told(0.01, 0, 0.03, 0).empty());
  f.ranks = {1, 99};
  CHECK(told(2, 0, 8, 0).empty());
  f.ranks = {1};
  f.cause = Cause::background;
  CHECK(told(2, 0, 8, 0).empty());
  // MPI-IO of its own: half of what each other rank waited, and more.
  f.cause = Cause::collective_wait;
  f.advice = "Speed up what rank 1 computes before the collective";
  f.lost_s = 6;  // 2 s each of three
  for (const double file_s : {0.9, 1.1}) {
    r.file_s = file_s;
    Snapshot now = s;
    attribute::tell_not_computed(now);
    const Finding& finding = now.attribution.findings.back();
    CHECK(finding.evidence.empty() == (file_s < 1));
    CHECK(finding.advice.starts_with(file_s < 1 ? "Speed up" : "See which files rank 1 reads and writes"));
  }
}
