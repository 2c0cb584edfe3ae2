// Critical paths whose course is known. That they fill their period is checked on every trace (garbage_test.cpp too).
#include "analysis/delay/critical_path.hpp"

#include <catch2/catch.hpp>

#include "interpose/record/event.hpp"
#include "tests/analysis/delay/programs.hpp"
#include "tests/analysis/delay/random_programs.hpp"
#include "tests/seed.hpp"

using namespace pclscope;
using namespace pclscope::test;

namespace {

double on_path_s(const CriticalPath& path, std::int32_t rank, PathKind kind, std::uint32_t site) {
  double sum = 0;
  for (const PathShare& s : path.shares)
    if (s.rank == rank && s.kind == kind && s.site == site) sum += s.on_path_s;
  return sum;
}

CriticalPath path_of(const Program& program, std::int64_t* length_ns = nullptr) {
  const Outcome o = simulate(program);
  if (length_ns) *length_ns = *std::max_element(o.end_ns.begin(), o.end_ns.end());
  return critical_path(program.ranks(), o.messages, o.collectives);
}

}  // namespace

TEST_CASE("The path jumps to the late sender, and stays where nobody was waited for") {
  Program p(2);
  p.compute(0, 1'000'000);
  p.call(0, K::send, site::send, 1);
  p.call(1, K::bcast, site::bcast, 1);  // so that rank 1 is known from its begin
  p.call(0, K::bcast, site::bcast, 1);
  p.call(1, K::recv, site::recv, 0);
  p.compute(1, 500'000);
  p.call(1, K::allreduce, site::allreduce);
  p.call(0, K::allreduce, site::allreduce);
  const CriticalPath path = path_of(p);
  REQUIRE(path.steps.size() == 4);
  CHECK(path.steps[0].rank == 0);
  CHECK(path.steps[0].kind == PathKind::computation);
  CHECK(path.steps[0].site == site::send);
  CHECK(path.steps[0].end_s == Approx(1e-3));
  CHECK(path.steps[1].rank == 1);
  CHECK(path.steps[1].kind == PathKind::transfer);
  CHECK(path.steps[1].site == site::recv);
  CHECK(path.steps[2].kind == PathKind::computation);
  CHECK(path.steps[2].rank == 1);
  CHECK(path.steps[2].site == site::allreduce);
  CHECK(path.steps[2].after_site == site::recv);
  CHECK(path.steps[2].end_s - path.steps[2].begin_s == Approx(500e-6));
  CHECK(path.steps[3].kind == PathKind::collective);
  CHECK(path.end_s == Approx(1504e-6));
}

TEST_CASE("A planted delay lies on the path with its whole length") {
  for (std::uint32_t seed = 1; seed <= 5; ++seed) {
    Setting s;
    s.noise = 0.2;
    s.seed = seed;
    const double before_s = on_path_s(path_of(halo({4, 4, 4}, s)), 30, PathKind::computation, site::irecv);
    s.plant = {30, 10, 20'000'000};
    std::int64_t length_ns = 0;
    const CriticalPath path = path_of(halo({4, 4, 4}, s), &length_ns);
    CAPTURE(seed, before_s);
    CHECK(path.end_s == Approx(static_cast<double>(length_ns) * 1e-9));
    CHECK(on_path_s(path, 30, PathKind::computation, site::irecv) >= 0.02);
    CHECK(before_s < 0.02);
    REQUIRE(!path.shares.empty());
    CHECK(path.shares[0].rank == 30);
  }
}

TEST_CASE("In steps with an allreduce the path is the slowest rank of each step") {
  Setting s;
  s.steps = 50;
  s.noise = 0.3;
  const Program p = allreduce_steps(16, s);
  std::int64_t computation_ns = 0;
  std::vector<std::int64_t> longest(50);
  for (const auto& operations : p.operations())
    for (std::size_t i = 0; i < operations.size(); i += 2) longest[i / 2] = std::max(longest[i / 2], operations[i].ns);
  for (const std::int64_t ns : longest) computation_ns += ns;
  const CriticalPath path = path_of(p);
  double on_path = 0;
  for (const PathShare& share : path.shares)
    if (share.kind == PathKind::computation) on_path += share.on_path_s;
  // Before the first allreduce that anybody entered nothing is known.
  CHECK(on_path == Approx(static_cast<double>(computation_ns) * 1e-9).margin(2e-3));
}

TEST_CASE("A part of the period") {
  Setting s;
  const Outcome o = simulate(halo({4, 4}, s));
  const CriticalPath path = critical_path(16, o.messages, o.collectives, 7'300'000, 21'100'000);
  CHECK(path.begin_s == Approx(7.3e-3));
  CHECK(path.end_s == Approx(21.1e-3));
  REQUIRE(!path.steps.empty());
  CHECK(path.steps.front().begin_s == path.begin_s);
  CHECK(path.steps.back().end_s == path.end_s);
  CHECK(critical_path(16, o.messages, o.collectives, 8'000'000'000, 9'000'000'000).steps.empty());
  CHECK(critical_path(16, o.messages, o.collectives, 20'000'000, 10'000'000).steps.empty());
}

TEST_CASE("A period that ends inside waits: the path comes from who computes then, also through others that wait") {
  constexpr std::int64_t ms = 1'000'000;
  Program p(4);  // rank 0 computes 50 ms; 1 and 3 exchange until 20 ms, 2 has waited since 1 ms
  for (std::int32_t r = 0; r < 4; ++r) p.call(r, K::allreduce, site::allreduce);
  p.compute(0, 50 * ms);
  p.compute(2, ms);
  for (int step = 0; step < 20; ++step)
    for (const std::int32_t r : {1, 3}) {
      p.call(r, K::irecv, site::irecv, 4 - r);
      p.compute(r, ms);
      p.call(r, K::isend, site::isend, 4 - r);
      p.call(r, K::waitall, site::irecv);
    }
  p.call(0, K::send, site::send, 2, 5);
  p.call(2, K::recv, site::recv, 0, 5);
  for (std::int32_t r = 0; r < 4; ++r) p.call(r, K::allreduce, site::bcast);  // 1 and 3 wait for 2, which waits for 0
  const Outcome o = simulate(p);
  for (const std::int64_t from : {std::int64_t{1} * ms, 30 * ms}) {
    const CriticalPath path = critical_path(4, o.messages, o.collectives, from, 40 * ms);
    CHECK(on_path_s(path, 0, PathKind::computation, site::send) ==
          Approx(static_cast<double>(40 * ms - from) * 1e-9).epsilon(1e-6));
  }
}

TEST_CASE("Random programs and periods: at no moment of the path its rank waits for another one") {
  const auto seed = static_cast<std::uint32_t>(random_seed());
  CAPTURE(seed);
  constexpr RandomPrograms programs{7, 30, true};
  std::mt19937_64 random(seed);
  for (std::uint32_t i = 0; i < 60; ++i) {
    const Program p = random_program(seed + i, programs);
    const Outcome o = simulate(p);
    struct Wait {
      std::int32_t rank;
      std::int64_t begin, end;
    };
    std::vector<Wait> waits;  // by the records themselves
    for (const Message& m : o.messages) {
      std::int64_t last = INT64_MIN;  // of all that this call completed
      for (const Message& other : o.messages)
        if (other.destination == m.destination && other.recv_wait == m.recv_wait && other.recv_end == m.recv_end)
          last = std::max(last, other.send_begin);
      waits.push_back({m.destination, m.recv_wait, std::min(last, m.recv_end)});
      if (m.flags & record::flag::synchronous)
        waits.push_back({m.source, m.send_begin, std::min(m.recv_post, m.send_end)});
    }
    for (const CollectiveCall& c : o.collectives) waits.push_back({c.rank, c.wait_begin(), c.wait_begin() + c.wait()});
    const std::int64_t end = *std::max_element(o.end_ns.begin(), o.end_ns.end());
    for (int period = 0; period < 10; ++period) {
      auto from = static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(end));
      auto to = static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(end));
      if (from > to) std::swap(from, to);
      const CriticalPath path = critical_path(p.ranks(), o.messages, o.collectives, from, to);
      CAPTURE(i, from, to);
      double on_path = 0, inside_waits = 0;
      for (const PathStep& s : path.steps) {
        on_path += s.end_s - s.begin_s;
        for (const Wait& w : waits)
          if (w.rank == s.rank)
            inside_waits += std::max(0.0, std::min(s.end_s, static_cast<double>(w.end) * 1e-9) -
                                              std::max(s.begin_s, static_cast<double>(w.begin) * 1e-9));
      }
      CHECK(on_path == Approx(path.end_s - path.begin_s));
      CHECK(inside_waits == Approx(0).margin(1e-9));
      // What begins later is the same path, cut.
      const CriticalPath longer = critical_path(p.ranks(), o.messages, o.collectives, INT64_MIN, to);
      std::vector<PathStep> cut;
      for (PathStep s : longer.steps) {
        s.begin_s = std::max(s.begin_s, path.begin_s);
        if (s.begin_s < s.end_s) cut.push_back(s);
      }
      if (!path.steps.empty() && path.begin_s == Approx(static_cast<double>(from) * 1e-9)) CHECK(cut == path.steps);
    }
  }
}

TEST_CASE("What ranks compute before their first call and behind their last one is on the path, when it is known") {
  constexpr std::int64_t ms = 1'000'000;
  // Rank 0 computes 30 ms and sends; rank 1 has waited since 5 ms, computes 20 ms more, and both meet in a barrier;
  // rank 0 works for 7 ms behind it.
  Message m;
  m.source = 0;
  m.destination = 1;
  m.send_site = site::send;
  m.recv_site = site::recv;
  m.send_begin = 31 * ms;
  m.send_end = m.recv_end = 31 * ms + 10'000;
  m.recv_post = m.recv_wait = 6 * ms;
  CollectiveCall early, late;
  early.rank = 0;
  late.rank = 1;
  early.awaited = late.awaited = 1;
  early.site = late.site = site::allreduce;
  early.begin = m.send_end;
  late.begin = early.awaited_begin = late.awaited_begin = m.recv_end + 20 * ms;
  early.end = late.end = late.begin + 10'000;
  const std::vector<CollectiveCall> calls = {early, late};
  const std::vector<RankLife> lives = {{1 * ms, late.end + 7 * ms}, {2 * ms, late.end + 1 * ms}};
  const CriticalPath known = critical_path(2, {{m}}, calls, INT64_MIN, INT64_MAX, lives);
  CHECK(known.begin_s == Approx(0.001));
  CHECK(known.end_s == Approx(static_cast<double>(lives[0].end_ns) * 1e-9));
  CHECK(on_path_s(known, 0, PathKind::computation, site::send) == Approx(0.030));
  CHECK(on_path_s(known, 1, PathKind::computation, site::allreduce) == Approx(0.020));
  CHECK(on_path_s(known, 0, PathKind::computation, 0) == Approx(0.007));
  // Not known: from the first call on, to the end of the last one.
  const CriticalPath cut = critical_path(2, {{m}}, calls);
  CHECK(cut.begin_s == Approx(0.006));
  CHECK(on_path_s(cut, 0, PathKind::computation, site::send) == Approx(0.025));
  // A rank that began later than others: before that it was in MPI_Init.
  const std::vector<RankLife> later = {{11 * ms, lives[0].end_ns}, {2 * ms, lives[1].end_ns}};
  const CriticalPath begun = critical_path(2, {{m}}, calls, INT64_MIN, INT64_MAX, later);
  CHECK(on_path_s(begun, 0, PathKind::in_mpi, 0) == Approx(0.009));
  CHECK(on_path_s(begun, 0, PathKind::computation, site::send) == Approx(0.020));
  // A period: what lies outside is cut.
  const CriticalPath part = critical_path(2, {{m}}, calls, 10 * ms, late.end + 3 * ms, lives);
  CHECK(part.begin_s == Approx(0.010));
  CHECK(on_path_s(part, 0, PathKind::computation, 0) == Approx(0.003));
}
