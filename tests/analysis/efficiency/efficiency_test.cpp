// Efficiencies worked out on paper.
#include "analysis/efficiency/efficiency.hpp"

#include <catch2/catch.hpp>
#include <limits>

#include "tests/analysis/delay/programs.hpp"

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

TEST_CASE("Garbage gives numbers") {
  const double odd[] = {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity(), -1, 1e300};
  for (const double a : odd)
    for (const double b : odd) {
      Snapshot s = job({a, b, 3}, {b, a, 1});
      s.ranks[0].begin_s = b;
      s.ranks[1].ideal_saved_s = a;
      s.ranks[2].off_core_computing_s = b;
      const Efficiency e = efficiency::efficiency_of(s);
      CHECK(e.ranks >= 0);
    }
}
