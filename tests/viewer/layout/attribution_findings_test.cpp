#include "viewer/layout/attribution_findings.hpp"

#include <catch2/catch.hpp>
#include <random>

#include "tests/viewer/fake_run.hpp"

using namespace pclscope;

namespace {

Finding finding(Cause cause, std::int32_t region, std::vector<std::int32_t> ranks, double begin_s) {
  Finding f;
  f.cause = cause;
  f.region = region;
  f.ranks = std::move(ranks);
  f.begin_s = begin_s;
  f.end_s = begin_s + 1;
  return f;
}

}  // namespace

TEST_CASE("a picked finding is found again when the list changes") {
  const Finding picked = finding(Cause::late_sender, 1, {5, 6}, 10);
  CHECK(layout::same_finding(picked, {}) == std::nullopt);
  const std::vector<Finding> now{finding(Cause::mapping, 1, {5}, 10), finding(Cause::late_sender, 2, {5}, 10),
                                 finding(Cause::late_sender, 1, {7}, 10), finding(Cause::late_sender, 1, {6, 9}, 2),
                                 finding(Cause::late_sender, 1, {5}, 10.5)};
  CHECK(layout::same_finding(picked, now) == 4u);  // of two with a rank in common the one that begins nearest
  CHECK(layout::same_finding(now[0], {finding(Cause::mapping, 1, {1, 2}, 0)}) == 0u);  // other ranks would move now
  CHECK(layout::same_finding(finding(Cause::late_sender, 1, {}, 0), now) == std::nullopt);
}

TEST_CASE("ranks of a finding: ascending, each once, those of the job") {
  CHECK(layout::ranks_of(finding(Cause::pattern, 0, {7, 3, -1, 3, 8, 2'000'000'000}, 0), 8) ==
        std::vector<std::int32_t>{3, 7});
  CHECK(layout::ranks_of(finding(Cause::pattern, 0, {0}, 0), 0).empty());
}

TEST_CASE("a finding's region: where it is felt, else where it begins") {
  Snapshot s = test::fake_snapshot();  // regions 0 .. 3 of four ranks
  s.attribution.findings = {finding(Cause::late_sender, 1, {15}, 0), finding(Cause::late_sender, -1, {9, 1}, 0),
                            finding(Cause::late_sender, 77, {9}, 0), finding(Cause::mapping, -1, {9}, 0),
                            finding(Cause::unknown, -1, {}, 0),      finding(Cause::pattern, -1, {99}, 0)};
  CHECK(layout::regions_of(s) == std::vector<std::int32_t>{1, 2, -1, -1, -1, -1});
}

TEST_CASE("rows of a list, one of them taller: those shown are those that the window touches") {
  const unsigned seed = 3;
  INFO("seed " << seed);
  std::mt19937 random(seed);
  for (int round = 0; round < 500; ++round) {
    layout::RowStack rows{random() % 60, static_cast<float>(1 + random() % 40), std::nullopt,
                          static_cast<float>(random() % 300)};
    if (rows.count > 0 && random() % 3 != 0) rows.open = random() % rows.count;
    if (!rows.open) rows.extra = 0;
    const float from = static_cast<float>(random() % 1500), to = from + static_cast<float>(1 + random() % 400);
    const auto shown = rows.shown(from, to);
    REQUIRE(shown.first <= shown.last);
    REQUIRE(shown.last <= rows.count);
    for (std::size_t i = 0; i < rows.count; ++i) {
      const bool touches = rows.top(i + 1) > from && rows.top(i) < to;
      const bool in = i >= shown.first && i < shown.last;
      CAPTURE(round, i, rows.count, rows.height, rows.extra, from, to);
      REQUIRE(in == touches);
    }
    CHECK(rows.total() == static_cast<float>(rows.count) * rows.height + rows.extra);
  }
  CHECK(layout::RowStack{}.shown(0, 100).last == 0);
}
