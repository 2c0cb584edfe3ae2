// Harm: delay caused, in ranks that stood still.
#include "viewer/session/harm.hpp"

#include <catch2/catch.hpp>
#include <limits>

using namespace pclscope;
using session::Harms;

namespace {

Snapshot job() {
  Snapshot s;
  s.duration_s = 10;
  for (std::int32_t rank = 0; rank < 4; ++rank) s.ranks.emplace_back().rank = rank;
  s.regions.resize(2);
  s.regions[0].ranks = {0, 1};
  s.regions[1].ranks = {2, 3};
  s.ranks[2].delay_caused_s = 12;
  s.ranks[3].delay_caused_s = 3;
  return s;
}

Finding finding(Cause cause, double confidence) {
  Finding f;
  f.cause = cause;
  f.confidence = confidence;
  return f;
}

}  // namespace

TEST_CASE("harm of a rank is its delay over the run time, of a region the sum") {
  const Harms harms(job());
  CHECK(harms.of_rank(2) == Approx(1.2));
  CHECK(harms.of_rank(0) == 0);
  CHECK(harms.of_rank(-1) == 0);
  CHECK(harms.of_rank(99) == 0);
  CHECK(harms.of_region(job().regions[1]) == Approx(1.5));
  CHECK(harms.of_region(job().regions[0]) == 0);
}

TEST_CASE("harm leads once a cause is believed") {
  Snapshot s = job();
  CHECK_FALSE(Harms(s).lead());
  s.attribution.findings = {finding(Cause::unknown, 0.9), finding(Cause::late_sender, 0.5)};
  CHECK_FALSE(Harms(s).lead());
  s.attribution.findings.push_back(finding(Cause::late_sender, 0.51));
  CHECK(Harms(s).lead());
  for (RankSummary& r : s.ranks) r.delay_caused_s = 0;  // of an older version
  CHECK_FALSE(Harms(s).lead());
}

TEST_CASE("regions of most harm come first once it leads") {
  Snapshot s = job();
  s.regions[0].id = 4, s.regions[1].id = 6;
  CHECK(session::harmful_first(s)[0].id == 4);
  s.attribution.findings = {finding(Cause::late_sender, 0.9)};
  CHECK(session::harmful_first(s)[0].id == 6);
  CHECK(session::harmful_first(s)[1].id == 4);
}

TEST_CASE("numbers that are none do no harm") {
  Snapshot s = job();
  s.ranks[2].delay_caused_s = std::numeric_limits<double>::quiet_NaN();
  s.ranks[3].delay_caused_s = std::numeric_limits<double>::infinity();
  CHECK(Harms(s).of_region(s.regions[1]) == 0);
  s = job();
  s.duration_s = 0;
  CHECK(Harms(s).of_rank(2) == 0);
}

TEST_CASE("one stands out when no other is within 5 % of it") {
  using Values = std::vector<double>;
  CHECK(session::stands_out(Values{1, 2, 1.8}) == 1u);
  CHECK_FALSE(session::stands_out(Values{1, 2, 1.95}));
  CHECK_FALSE(session::stands_out(Values{0, 0}));
  CHECK_FALSE(session::stands_out(Values{}));
  CHECK(session::stands_out(Values{0.1}) == 0u);
  CHECK(session::all_alike(Values{2, 1.95, 1.91}));
  CHECK_FALSE(session::all_alike(Values{2, 1.95, 1.8}));
  CHECK_FALSE(session::all_alike(Values{0, 0}));
  CHECK_FALSE(session::all_alike(Values{2}));
}

TEST_CASE("nobody is red where nobody does much harm, or all do alike") {
  using Values = std::vector<double>;
  CHECK(session::harm_top(Values{}) == 0.25);
  CHECK(session::harm_top(Values{0.01, 0.02}) == 0.25);
  CHECK(session::harm_top(Values{0.1, 0.1, 3}) == 3);
  CHECK(session::harm_top(Values{1, 1, 1.2}) == 4);
  CHECK(session::harm_top(Values{1.5, 0.1}) == 1.5);
}
