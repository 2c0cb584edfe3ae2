// Back and forward through what was selected, and what a few letters find.
#include "viewer/gui/frame/search.hpp"

#include <catch2/catch.hpp>

#include "tests/viewer/fake_run.hpp"
#include "viewer/gui/frame/selection_trail.hpp"

using namespace pclscope;
using gui::Selection;

namespace {

Selection rank(std::int32_t r) {
  Selection selection;
  selection.rank = r;
  return selection;
}
Selection steps(std::int32_t r, double first) {
  Selection selection = rank(r);
  selection.steps = gui::SelectedSteps{first, first + 10};
  return selection;
}

Snapshot with_lines() {
  Snapshot s = test::fake_snapshot({.ranks = 32, .regions = 4, .slow = 1, .windows = 20});
  s.sites.clear();
  s.attribution.findings.clear();
  for (std::uint32_t id = 1; id <= 3; ++id) {
    CallSite site;
    site.id = id;
    site.module = "/opt/app";
    site.file = id == 3 ? "/src/io.c" : "/src/halo.c";
    site.function = id == 3 ? "write_all" : "exchange";
    site.line = 40 + id;
    s.sites.push_back(site);
  }
  s.site_activity = {{1, 5, 0, 40, 0, 1.5, 0, 0, 0, 0, 0}, {2, 5, 0, 40, 0, 9.5, 0, 0, 0, 0, 0}};
  DelayOrigin origin;
  origin.rank = 9;
  origin.site = 2;
  origin.cost_s = 8;
  origin.first_s = 1;
  origin.last_s = 2.5;
  s.delays = {origin};
  Finding finding;
  finding.site = 1;
  finding.region = 2;
  finding.ranks = {17};
  finding.begin_s = 0.5;
  finding.end_s = 1.5;
  s.attribution.findings = {finding};
  return s;
}

}  // namespace

TEST_CASE("back and forward through what was selected") {
  gui::SelectionTrail trail;
  Selection now;
  CHECK_FALSE(trail.back(now));
  for (const std::int32_t r : {1, 2, 3}) trail.note(rank(r), false);
  now = rank(3);
  trail.note(now, false);  // the same again is none
  REQUIRE(trail.back(now));
  CHECK(now == rank(2));
  trail.note(now, false);
  REQUIRE(trail.forward(now));
  CHECK(now == rank(3));
  CHECK_FALSE(trail.forward(now));
  trail.back(now);
  trail.back(now);
  CHECK(now == rank(1));
  CHECK_FALSE(trail.back(now));
  trail.note(rank(7), false);  // another way from here
  now = rank(7);
  CHECK_FALSE(trail.forward(now));
  REQUIRE(trail.back(now));
  CHECK(now == rank(1));
}

TEST_CASE("a drag is one step, and so is a zoom") {
  gui::SelectionTrail trail;
  trail.note(rank(1), false);
  for (int i = 0; i < 10; ++i) trail.note(rank(10 + i), true);
  trail.note(rank(19), false);
  for (int i = 0; i < 10; ++i) trail.note(steps(19, i), false);
  Selection now = steps(19, 9);
  REQUIRE(trail.back(now));
  CHECK(now == rank(19));
  REQUIRE(trail.back(now));
  CHECK(now == rank(1));
  CHECK_FALSE(trail.back(now));
}

TEST_CASE("the trail is bounded, and forgets the oldest") {
  gui::SelectionTrail trail;
  for (std::int32_t r = 0; r < 1000; ++r) trail.note(rank(r), false);
  Selection now = rank(999);
  int steps_back = 0;
  while (trail.back(now)) ++steps_back;
  CHECK(steps_back == 199);
  CHECK(now == rank(800));
}

TEST_CASE("numbers find ranks and regions") {
  const Snapshot s = with_lines();
  const auto hits = gui::search(s, " 3 ", {});
  REQUIRE(hits.size() >= 2);
  CHECK(hits[0].text == "rank 3");
  CHECK(hits[0].selection.rank == 3);
  CHECK(hits[0].selection.region == 0);  // its own
  CHECK(hits[1].text == "region 3");
  CHECK(hits[1].selection.region == 3);
  CHECK(gui::search(s, "rank 17", {})[0].selection.rank == 17);
  CHECK(gui::search(s, "Region 2", {})[0].selection.region == 2);
  CHECK(gui::search(s, "32", {}).empty());  // there are 0 to 31
  CHECK(gui::search(s, "-1", {}).empty());
  CHECK(gui::search(s, "", {}).empty());
  CHECK(gui::search(s, "99999999999999", {}).empty());
}

TEST_CASE("functions and lines find the finding there, or who was late there; most lost time first") {
  const Snapshot s = with_lines();
  const auto hits = gui::search(s, "EXCHANGE", {});
  REQUIRE(hits.size() == 2);
  CHECK(hits[0].text.starts_with("halo.c:42 (exchange"));
  REQUIRE(hits[0].selects);
  CHECK(hits[0].selection.rank == 9);
  REQUIRE(hits[0].selection.period);
  CHECK(hits[0].selection.period->end_s == 2.5);
  CHECK(hits[1].text.starts_with("halo.c:41"));
  CHECK(hits[1].selection.finding == 0u);
  CHECK(hits[1].selection.region == 2);
  CHECK(gui::search(s, "halo.c:42", {}).size() == 1);
  const auto calm = gui::search(s, "io.c", rank(5));
  REQUIRE(calm.size() == 1);
  CHECK_FALSE(calm[0].selects);
  CHECK(calm[0].why == "no delay begins there");
  CHECK(gui::search(s, "nothing like that", {}).empty());
  CHECK(gui::search(s, "c", {}, 2).size() == 2);
}
