// Where delays began, and collectives, as people and programs see them.
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "tests/viewer/hand_made.hpp"
#include "tests/viewer/joined.hpp"
#include "viewer/text/printable.hpp"
#include "viewer/views/collective_rows.hpp"
#include "viewer/views/delay_rows.hpp"
#include "viewer/views/summary_tables.hpp"

using namespace pclscope;
using Catch::Contains;
using pclscope::test::joined;
using Lines = std::vector<std::string>;

namespace {

CollectiveCall call_of(std::int32_t rank, std::uint64_t ordinal, std::uint16_t function, std::int32_t awaited,
                       std::int64_t wait) {
  CollectiveCall c;
  c.comm = 1;
  c.ordinal = ordinal;
  c.rank = rank;
  c.function = function;
  c.begin = 1000;
  c.end = 1000 + wait + 10;
  c.awaited = awaited;
  c.awaited_begin = 1000 + wait;
  return c;
}

}  // namespace

TEST_CASE("a delay as JSON") {
  const Snapshot s = test::eventful_snapshot();
  const views::Sites sites(s.sites);
  CHECK(nlohmann::json(views::delay_json(s.delays[0], s.regions, sites)) ==
        nlohmann::json::parse(R"({"rank": 5, "region": 7,
    "site": "/src/halo.cpp:42", "after_site": "/src/halo.cpp:37", "cost_s": 3.25, "direct_s": 1.25, "collective_s": 0.5,
    "off_core_s": 0.0, "worst_s": 0.125, "waits": 40, "first_s": 1.5, "last_s": 12.25,
    "victims": [{"rank": 4, "cost_s": 2.0}, {"rank": 3, "cost_s": 1.25}]})"));
  const session::Json unknown = views::delay_json(s.delays[1], {}, sites);
  CHECK(unknown["region"].is_null());
  CHECK(unknown["site"].is_null());
  CHECK(unknown["victims"].empty());
}

TEST_CASE("delays for people and as rows") {
  const Snapshot s = test::eventful_snapshot();
  const views::Sites sites(s.sites);
  const Lines lines = views::delay_lines(s.delays, s.regions, sites, 0);
  REQUIRE(lines.size() == 3);
  CHECK_THAT(lines[0], Contains("cost") && Contains("late at") && Contains("after"));
  CHECK_THAT(lines[1], Contains("3.25 s") && Contains("halo.cpp:42") && Contains("halo.cpp:37") &&
                           Contains("4 2.00 s, 3 1.25 s"));
  CHECK_THAT(joined(views::delay_lines({}, {}, {}, 0)), Contains("no delays"));
  for (const auto& line : views::delay_lines(s.delays, s.regions, sites, 80)) CHECK(text::display_width(line) <= 80);
  const views::Rows rows = views::delay_rows(s.delays, s.regions, sites);
  REQUIRE(rows.cells.size() == 2);
  CHECK(rows.titles.back() == "victim_s");
  CHECK(rows.cells[0][rows.titles.size() - 2] == "4 3");
  CHECK(rows.cells[0].back() == "2.0 1.25");
  CHECK(views::delay_rows({}, {}, {}).titles == rows.titles);
}

TEST_CASE("lists of victims of unequal length do no harm") {
  DelayOrigin d;
  d.victims = {1, 2, 3};
  d.victim_s = {0.5};
  CHECK(views::delay_json(d, {}, {})["victims"].size() == 1);
  CHECK_THAT(joined(views::delay_lines({d}, {}, {}, 0)), Contains("1 500 ms"));
}

TEST_CASE("collectives by function") {
  views::CollectiveSums sums;
  for (std::uint64_t operation = 0; operation < 3; ++operation) {  // rank 2 comes last, 1 ms after the others
    sums.add(call_of(0, operation, 316, 2, 1'000'000));
    sums.add(call_of(1, operation, 316, 2, 1'000'000));
    sums.add(call_of(2, operation, 316, -1, 0));
  }
  CollectiveCall overlapped = call_of(0, 9, 320, 1, 5'000'000);
  overlapped.nonblocking = true;
  sums.add(overlapped);
  const auto rows = sums.rows();
  REQUIRE(rows.size() == 2);
  CHECK(rows[0].function == 316);
  CHECK(rows[0].operations == 3);
  CHECK(rows[0].calls == 9);
  CHECK(rows[0].wait_s == Approx(6e-3));
  CHECK(rows[0].worst_s == Approx(1e-3));
  CHECK(rows[0].awaited_rank == 2);
  CHECK(rows[0].awaited_s == Approx(6e-3));
  CHECK(rows[1].wait_s == 0);
  CHECK(rows[1].nonblocking == 1);
  CHECK(views::collective_json(rows[1])["awaited_rank"].is_null());
  CHECK_THAT(joined(views::collective_lines({3, 10, 0.006}, rows, 0)), Contains("6.00 ms") && Contains("rank 2"));
  CHECK(views::collective_rows(rows).cells.size() == 2);
}

TEST_CASE("the summary and the tables tell of delays, collectives and the transfer") {
  const Snapshot s = test::eventful_snapshot();
  const std::string summary = joined(views::summary_lines(s, "", 0));
  CHECK_THAT(summary, Contains("collective 1,000 operations of 6,000 calls, waited 3.50 s"));
  CHECK_THAT(summary, Contains("rank 5, late at halo.cpp:42 after halo.cpp:37: cost 3.25 s, most to ranks 3,4"));
  CHECK_THAT(summary, Contains("kept       interesting periods"));
  CHECK_THAT(joined(views::region_lines(s.regions, 0)),
             Contains("2.50") && Contains("750 ms") && Contains("growing since"));
  CHECK_THAT(joined(views::rank_lines(s.ranks, s.application, 0)), Contains("3.25 s") && Contains("500 ms"));
  CHECK_THAT(joined(views::criterion_lines(s.criteria, 0)), Contains("1.00 us"));
}
