// Efficiencies worked out on paper.
#include "analysis/efficiency/efficiency.hpp"

#include <catch2/catch.hpp>
#include <limits>
#include <random>

#include "tests/analysis/delay/programs.hpp"
#include "tests/seed.hpp"

using namespace pclscope;
using namespace pclscope::test;
using efficiency::RankTime;

namespace {

constexpr std::int64_t millisecond = 1'000'000;

Snapshot job(const std::vector<double>& end_s, const std::vector<double>& mpi_s) {
  Snapshot s;
  s.application.ranks = static_cast<std::int32_t>(end_s.size());
  for (std::size_t i = 0; i < end_s.size(); ++i) {
    RankSummary& r = s.ranks.emplace_back();
    r.rank = static_cast<std::int32_t>(i);
    r.begin_s = 1;
    r.end_s = end_s[i];
    r.mpi_s = mpi_s[i];
    r.threads = 1;
    r.finished = true;
    s.duration_s = std::max(s.duration_s, end_s[i]);
  }
  return s;
}

}  // namespace

TEST_CASE("1, 1, 1 and 2 s of work before a barrier: 5/8 of load balance") {
  const Efficiency e = efficiency::efficiency_of(job({3, 3, 3, 3}, {1, 1, 1, 0}));
  CHECK(e.ranks == 4);
  CHECK(e.runtime_s() == Approx(2));
  CHECK(e.load_balance() == Approx(5.0 / 8));
  CHECK(e.communication() == Approx(1));
  CHECK(e.parallel() == Approx(5.0 / 8));
  CHECK(e.serialisation() == Approx(1));
  CHECK(e.transfer() == Approx(1));
  CHECK(e.most_useful_rank == 3);
}

TEST_CASE("A token that four ranks work on in turn: a quarter, all of it serialisation") {
  const Efficiency e = efficiency::efficiency_of(job({5, 5, 5, 5}, {3, 3, 3, 3}));
  CHECK(e.load_balance() == Approx(1));
  CHECK(e.communication() == Approx(0.25));
  CHECK(e.serialisation() == Approx(0.25));
  CHECK(e.transfer() == Approx(1));
}

TEST_CASE("What an ideal network saves is transfer, the rest serialisation; factors multiply") {
  Snapshot s = job({5, 5, 5}, {2, 3, 3});
  for (RankSummary& r : s.ranks) r.ideal_saved_s = 1;
  const Efficiency e = efficiency::efficiency_of(s);
  CHECK(e.ideal_s == Approx(3));
  CHECK(e.transfer() == Approx(0.75));
  CHECK(e.serialisation() == Approx(2.0 / 3));
  CHECK(e.communication() == Approx(e.serialisation() * e.transfer()));
  CHECK(e.parallel() == Approx(e.load_balance() * e.communication()));
  s.ranks[1].ideal_saved_s = 0.25;  // the last one there decides
  CHECK(efficiency::efficiency_of(s).ideal_s == Approx(3.75));
}

TEST_CASE("Time before a rank came and after it left is nobody's computation") {
  Snapshot s = job({3, 5, 5}, {0, 0, 0});
  const Efficiency e = efficiency::efficiency_of(s);
  CHECK(e.runtime_s() == Approx(4));
  CHECK(e.useful_s == Approx(10.0 / 3));
}

TEST_CASE("Time off the core is not useful; threads that call MPI share a rank's time") {
  Snapshot s = job({5, 5}, {2, 4});
  s.ranks[0].off_core_computing_s = 1;
  s.ranks[1].threads = 2;
  const std::vector<RankTime> times = efficiency::rank_times(s);
  REQUIRE(times.size() == 2);
  CHECK(times[0].useful_s == Approx(1));
  CHECK(times[1].useful_s == Approx(2));
  CHECK(efficiency::efficiency_of(s).off_core_s == Approx(0.5));
}

namespace {

// 15 s, 8 of them inside MPI; on its core for 0.66 s in all.
Snapshot crowded() {
  Snapshot s = job({16, 16}, {8, 8});
  for (RankSummary& r : s.ranks) {
    r.running_s = 0.66;
    r.off_core_s = 14.34;
    r.off_core_computing_s = 6.9;
  }
  return s;
}

}  // namespace

TEST_CASE("A rank computes for no longer than it ran or slept, and factors are told only when that is known closely") {
  Snapshot s = crowded();
  s.ranks[0].off_core_computing_s = 4;  // an estimate of an older dump: 3 s of computation in 0.66 s
  RankTime t = efficiency::rank_times(s)[0];
  CHECK(t.useful_s == Approx(0.66));
  CHECK(t.useful_most_s == Approx(0.66));
  CHECK(t.useful_least_s == 0);
  CHECK(t.outside_s() == Approx(7));
  CHECK(efficiency::efficiency_of(s).known());
  CHECK_FALSE(efficiency::efficiency_of(s).useful_known());
  // Measured: 6.4 s of its time outside MPI it had no core.
  for (RankSummary& r : s.ranks)
    r.off_core_computing_s = r.off_core_computing_least_s = r.off_core_computing_most_s = 6.4;
  const Efficiency e = efficiency::efficiency_of(s);
  CHECK(e.useful_known());
  CHECK(e.useful_s == Approx(0.6));
  CHECK(e.parallel() == Approx(0.04));
  CHECK(e.load_balance() == Approx(1));
  CHECK(e.off_core_s == Approx(6.4));
  // Seen for the last third of the run only: before that it may have computed.
  s.ranks[0].running_s = 1, s.ranks[0].off_core_s = 4;
  s.ranks[0].off_core_computing_least_s = 0;
  CHECK(efficiency::rank_times(s)[0].useful_most_s == Approx(7));
  // Asleep outside MPI: nobody took its core.
  s = job({16, 16}, {8, 8});
  for (RankSummary& r : s.ranks) r.running_s = 8.5, r.asleep_s = 6.5;
  CHECK(efficiency::efficiency_of(s).useful_known());
  CHECK(efficiency::efficiency_of(s).useful_s == Approx(7));
}

TEST_CASE("Of a part that the program named as large a share was off the core as of the run, or it is not told") {
  Marker m;
  m.ranks = 2;
  m.time_s = 10, m.mpi_s = 3, m.most_s = 5;
  m.most_useful_s = 4, m.most_useful_rank = 1;
  CHECK(efficiency::efficiency_of(m, {}).useful_s == Approx(3.5));
  Snapshot s = crowded();
  for (RankSummary& r : s.ranks)
    r.off_core_computing_s = r.off_core_computing_least_s = r.off_core_computing_most_s = 3.5;
  const Efficiency e = efficiency::efficiency_of(m, efficiency::rank_times(s));
  CHECK(e.useful_most_s >= e.useful_s);
  CHECK(e.useful_least_s == 0);  // all 7 s off the core may have been there
  CHECK_FALSE(e.useful_known());
}

TEST_CASE("Of a running job a rank outside MPI goes on computing, one in a call does not") {
  Snapshot s = job({3, 3}, {0.5, 0.5});
  for (RankSummary& r : s.ranks) r.finished = false;
  s.duration_s = 4;
  s.ranks[1].call_function = 12;
  const std::vector<RankTime> times = efficiency::rank_times(s);
  CHECK(times[0].useful_s == Approx(2.5));
  CHECK(times[1].useful_s == Approx(1.5));
  CHECK(efficiency::efficiency_of(s).runtime_s() == Approx(3));
}

TEST_CASE("Only some ranks; ranks of which nothing is known do not count") {
  Snapshot s = job({3, 3, 3}, {0, 1, 0});
  const std::vector<std::int32_t> only = {0, 1};
  CHECK(efficiency::efficiency_of(s, only).load_balance() == Approx(0.75));
  s.ranks[2].begin_s = -1;
  CHECK(efficiency::efficiency_of(s).ranks == 2);
  CHECK_FALSE(efficiency::efficiency_of(Snapshot()).known());
}

TEST_CASE("What a share of the messages saved is put up to all; of very few it is not told") {
  Snapshot s = job({5, 5}, {3, 3});
  for (RankSummary& r : s.ranks) r.ideal_saved_s = 0.5;
  s.messages.matched = 100;
  s.ideal.messages_left_out = 40;
  s.network.messages_left_out = 10;
  CHECK(efficiency::efficiency_of(s).replayed == Approx(0.5));
  CHECK(efficiency::efficiency_of(s).ideal_s == Approx(3));
  s.ideal.messages_left_out = 87;
  CHECK_FALSE(efficiency::efficiency_of(s).ideal_known());
}

TEST_CASE("A period of a program: computation and run time are those within it") {
  Program p(2);
  for (int step = 0; step < 10; ++step)
    for (const std::int32_t r : {0, 1}) {
      p.compute(r, (r == 0 ? 10 : 4) * millisecond);
      p.call(r, K::allreduce, site::allreduce);
    }
  const Outcome o = simulate(p);
  Snapshot s = job({0, 0}, {0, 0});
  for (RankSummary& r : s.ranks) {
    r.begin_s = 0;
    r.end_s = static_cast<double>(o.end_ns[static_cast<std::size_t>(r.rank)]) * 1e-9;
  }
  const std::int64_t step_ns = 10 * millisecond + latency_ns;
  const auto times = efficiency::rank_times(s, {o.messages, o.collectives}, 2 * step_ns, 7 * step_ns);
  REQUIRE(times);
  REQUIRE(times->size() == 2);
  CHECK((*times)[0].useful_s == Approx(50e-3));
  CHECK((*times)[1].useful_s == Approx(20e-3));
  const Efficiency e = efficiency::efficiency_of(*times, 1);
  CHECK(e.runtime_s() == Approx(static_cast<double>(5 * step_ns) * 1e-9));
  CHECK(e.load_balance() == Approx(0.7));
  CHECK(e.serialisation() == Approx(1));
  CHECK(e.ideal_s == Approx(50e-3));
}

TEST_CASE("Periods: useful times add up to that of the whole, and the truth lies between their bounds") {
  std::mt19937_64 random(pclscope::test::random_seed());
  for (int run = 0; run < 40; ++run) {
    CAPTURE(run);
    Program p(2);
    // Rank 1 is without a core for part of each piece.
    std::vector<std::int64_t> off;
    for (int step = 0; step < 20; ++step) {
      off.push_back(static_cast<std::int64_t>(random() % 10) * millisecond);
      p.compute(0, 12 * millisecond);
      p.compute(1, 2 * millisecond + off.back());
      for (const std::int32_t r : {0, 1}) p.call(r, K::allreduce, site::allreduce);
    }
    const Outcome o = simulate(p);
    Snapshot s = job({0, 0}, {0, 0});
    const std::int64_t step_ns = 12 * millisecond + latency_ns;
    std::int64_t outside_ns = 0, off_ns = 0;
    for (const std::int64_t ns : off) outside_ns += 2 * millisecond + ns, off_ns += ns;
    for (RankSummary& r : s.ranks) {
      r.begin_s = 0;
      r.end_s = static_cast<double>(20 * step_ns) * 1e-9;
      r.mpi_s = r.end_s - (r.rank == 0 ? 20 * 12e-3 : static_cast<double>(outside_ns) * 1e-9);
      r.running_s = r.end_s;
    }
    RankSummary& late = s.ranks[1];
    late.off_core_s = late.off_core_computing_s = static_cast<double>(off_ns) * 1e-9;
    late.off_core_computing_least_s = late.off_core_computing_most_s = late.off_core_s;
    late.running_s -= late.off_core_s;
    const double whole_s = efficiency::rank_times(s)[1].useful_s;
    CHECK(whole_s == Approx(20 * 2e-3));
    double sum_s = 0;
    for (int from = 0; from < 20;) {
      const int until = std::min(20, from + 1 + static_cast<int>(random() % 8));
      const auto times = efficiency::rank_times(s, {o.messages, o.collectives}, from * step_ns, until * step_ns);
      REQUIRE(times);
      const RankTime& t = (*times)[1];
      const double true_s = (until - from) * 2e-3;
      REQUIRE(t.useful_least_s <= true_s + 1e-9);
      REQUIRE(t.useful_most_s >= true_s - 1e-9);
      REQUIRE(t.useful_s >= t.useful_least_s);
      REQUIRE(t.useful_s <= t.useful_most_s);
      CHECK((*times)[0].useful_s == Approx((until - from) * 12e-3));
      sum_s += t.useful_s;
      from = until;
    }
    CHECK(sum_s == Approx(whole_s).epsilon(1e-6));
  }
}

TEST_CASE("Garbage gives numbers") {
  const double odd[] = {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity(), -1, 1e300};
  for (const double a : odd)
    for (const double b : odd) {
      Snapshot s = job({a, b, 3}, {b, a, 1});
      s.ranks[0].begin_s = b;
      s.ranks[1].ideal_saved_s = a;
      s.ranks[2].off_core_computing_s = b;
      s.ranks[2].running_s = a;
      s.ranks[2].off_core_computing_least_s = a;
      s.ranks[2].off_core_computing_most_s = b;
      const Efficiency e = efficiency::efficiency_of(s);
      CHECK(e.ranks >= 0);
    }
}
