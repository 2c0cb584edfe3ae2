// Whether ranks differ in what they compute is asked of their time outside MPI, not of their waits alone.
#include "analysis/attribute/computing.hpp"

#include <catch2/catch.hpp>
#include <map>
#include <vector>

#include "analysis/attribute/replay.hpp"
#include "tests/analysis/attribute/exchange.hpp"

using namespace pclscope;
using namespace pclscope::test;
using Catch::Matchers::WithinAbs;

namespace {

// Inside the calls that complete receives, until `now_ns`.
class InsideOf {
 public:
  explicit InsideOf(const Run& run) {
    for (const Message& m : run.messages) calls_[m.destination][m.recv_wait] = m.recv_end;
  }
  attribute::Computing::Inside operator()(std::int32_t rank) const {
    double sum_ns = 0;
    for (const auto& [begin, end] : calls_.at(rank))
      if (end <= now_ns) sum_ns += static_cast<double>(end - begin);
    return {sum_ns * 1e-9, 1};
  }
  std::int64_t now_ns = 0;

 private:
  std::map<std::int32_t, std::map<std::int64_t, std::int64_t>> calls_;
};

Attribution found(const Exchange& x, bool with_inside = true, std::vector<std::int32_t> region_of_rank = {}) {
  const Run r = run(x);
  InsideOf inside(r);
  attribute::Replay replay{x.ranks, r.messages, r.collectives, {}, 100 * ms, {}, {}};
  replay.after_window = [&](std::int64_t now_ns, const Attribution&) { inside.now_ns = now_ns; };
  replay.region_of_rank = std::move(region_of_rank);
  if (with_inside) replay.inside_mpi = [&](std::int32_t rank) { return inside(rank); };
  return attribute::replay(replay);
}

Exchange all_to_all(std::int32_t ranks) {
  Exchange x;
  x.ranks = ranks;
  for (std::int32_t a = 0; a < ranks; ++a)
    for (std::int32_t b = a + 1; b < ranks; ++b) x.edges.emplace_back(a, b);
  return x;
}

}  // namespace

TEST_CASE("Ranks that wait for different times for one late rank, and compute the same: that rank") {
  for (const std::int32_t ranks : {6, 8, 16}) {
    Exchange x = all_to_all(ranks);
    const std::int32_t slow = ranks / 2;
    x.compute = [=](std::int32_t r, std::int64_t) { return r == slow ? 22 * ms : 10 * ms; };
    // What the others get from it takes longer, the further away they are: they come that much later to the next step.
    x.transfer = [=](std::int32_t from, std::int32_t to, std::int64_t) {
      return from == slow ? 20 * us + 10 * ms * to / ranks : 20 * us;
    };
    CAPTURE(ranks);
    // By the waits alone it looks like a row.
    CHECK(found(x, false).findings.at(0).cause == Cause::load_imbalance);
    const Finding f = found(x).findings.at(0);
    CAPTURE(static_cast<int>(f.cause), f.evidence, f.confidence);
    CHECK(f.cause == Cause::late_sender);
    CHECK(f.ranks == std::vector<std::int32_t>{slow});
    CHECK(f.confidence > 0.5);
  }
}

TEST_CASE("Others that run ahead compute more for a while: asked are those that the late rank talks with") {
  Exchange x = all_to_all(24);
  x.compute = [](std::int32_t r, std::int64_t) {
    return r == 3 ? 22 * ms : r < 6 ? 10 * ms : 13 * ms + (r - 6) * ms / 2;
  };
  std::vector<std::int32_t> regions(24, 1);
  CHECK(found(x, true, regions).findings.at(0).cause == Cause::load_imbalance);
  std::fill(regions.begin(), regions.begin() + 6, 0);
  const Finding f = found(x, true, regions).findings.at(0);
  CAPTURE(static_cast<int>(f.cause), f.evidence, f.confidence);
  CHECK(f.cause == Cause::late_sender);
  CHECK(f.ranks.front() == 3);
}

TEST_CASE("What ranks compute rises from the first to the last: their time outside MPI says so, too") {
  for (const auto& [ranks, factor] : {std::pair{6, 2.0}, {8, 1.8}, {16, 2.0}, {16, 2.5}}) {
    Exchange x;
    x.ranks = ranks;
    x.edges = ring_edges(ranks);
    x.compute = [count = ranks, f = factor](std::int32_t r, std::int64_t) {
      return static_cast<std::int64_t>(8.0 * ms * (1 + (f - 1) * r / (count - 1)));
    };
    CAPTURE(ranks, factor);
    CHECK(found(x).findings.at(0).cause == Cause::load_imbalance);
  }
}

TEST_CASE("Time outside MPI goes to the slices since the last look, whatever happens between") {
  attribute::Slices slices(2, 100 * ms);
  double first_s = 0;
  attribute::Computing computing([&](std::int32_t rank) {
    return rank == 0 ? attribute::Computing::Inside{first_s, 1} : attribute::Computing::Inside{2 * first_s, 2};
  });
  const auto until = [&](std::int64_t end_ns) { slices.advance(end_ns - 100 * ms, end_ns); };
  until(100 * ms);
  first_s = 0.09;
  computing.look(slices);  // from here on it is known
  until(500 * ms);
  until(600 * ms);
  first_s += 0.2;
  computing.look(slices);
  computing.look(slices);  // no time has gone by
  const auto sum_of = [&](std::int32_t rank, double attribute::RankShare::*what) {
    double sum = 0;
    for (const attribute::Slice& s : slices.all()) sum += s.share_of(rank)->*what;
    return sum;
  };
  for (const int rank : {0, 1}) {
    CHECK_THAT(sum_of(rank, &attribute::RankShare::looked_at_s), WithinAbs(0.5, 1e-9));
    CHECK_THAT(sum_of(rank, &attribute::RankShare::outside_s), WithinAbs(0.3, 1e-9));
  }
  CHECK_THAT(computing.inside_mpi_s(2), WithinAbs(3 * first_s, 1e-9));
  // More than there is time for (calls of other windows): none is left.
  until(700 * ms);
  first_s += 5;
  computing.look(slices);
  CHECK_THAT(sum_of(0, &attribute::RankShare::looked_at_s), WithinAbs(0.6, 1e-9));
  CHECK_THAT(sum_of(0, &attribute::RankShare::outside_s), WithinAbs(0.3, 1e-9));
}
