#include "viewer/screen/model.hpp"

#include <catch2/catch.hpp>
#include <limits>

#include "tests/viewer/fake_run.hpp"
#include "tests/viewer/hand_made.hpp"

using namespace pclscope;
using namespace pclscope::screen;

namespace {

std::shared_ptr<const Snapshot> shared(Snapshot snapshot) {
  return std::make_shared<const Snapshot>(std::move(snapshot));
}

Snapshot with_regions(const std::vector<std::pair<std::int32_t, double>>& ids_and_ratios) {
  Snapshot snapshot;
  for (const auto& [id, ratio] : ids_and_ratios) {
    Region region;
    region.id = id;
    region.ranks = {id};
    region.mean_latency_ratio = ratio;
    region.messages = static_cast<std::uint64_t>(1000 - id);
    snapshot.regions.push_back(region);
  }
  return snapshot;
}

std::vector<std::int32_t> ids(const ScreenModel& model) {
  std::vector<std::int32_t> list;
  for (const std::size_t at : model.order()) list.push_back(model.snapshot()->regions[at].id);
  return list;
}

void press(ScreenModel& model, std::initializer_list<Key> keys, const Reach& reach = {}) {
  for (const Key key : keys) model.press(key, reach);
}

}  // namespace

TEST_CASE("regions are sorted by mean ratio, worst first, until another column is asked for") {
  ScreenModel model("job", false, true);
  model.offer(shared(with_regions({{1, 2.0}, {2, 9.0}, {3, std::numeric_limits<double>::quiet_NaN()}, {4, 2.0}})), 1);
  CHECK(ids(model) == std::vector<std::int32_t>{2, 1, 4, 3});  // equal: by number; what is no number last
  press(model, {Key::reverse});
  CHECK(ids(model) == std::vector<std::int32_t>{3, 1, 4, 2});
  while (model.sort() != SortBy::region) press(model, {Key::sort});
  CHECK(ids(model) == std::vector<std::int32_t>{1, 2, 3, 4});
  while (model.sort() != SortBy::messages) press(model, {Key::sort});
  CHECK(ids(model) == std::vector<std::int32_t>{1, 2, 3, 4});
}

TEST_CASE("once a cause is found regions are sorted by the delay that they caused, until another column is asked for") {
  Snapshot s = with_regions({{1, 2.0}, {2, 9.0}, {3, 1.0}});
  s.duration_s = 10;
  for (const std::int32_t rank : {1, 2, 3}) {
    RankSummary& r = s.ranks.emplace_back();
    r.rank = rank;
    r.delay_caused_s = rank == 3 ? 8 : rank;
  }
  ScreenModel model("job", false, true);
  model.offer(shared(s), 1);
  CHECK(model.sort() == SortBy::mean);
  CHECK(ids(model) == std::vector<std::int32_t>{2, 1, 3});
  Finding& found = s.attribution.findings.emplace_back();
  found.cause = Cause::late_sender;
  found.confidence = 0.8;
  model.offer(shared(s), 2);
  CHECK(model.sort() == SortBy::delay);
  CHECK(ids(model) == std::vector<std::int32_t>{3, 2, 1});
  while (model.sort() != SortBy::region) press(model, {Key::sort});
  model.offer(shared(s), 3);
  CHECK(model.sort() == SortBy::region);
}

TEST_CASE("every column sorts, and as many presses as there are come back to the first") {
  ScreenModel model("job", false, true);
  model.offer(shared(test::fake_snapshot({.ranks = 64, .regions = 8})), 1);
  const auto before = ids(model);
  for (int i = 0; i < sort_count; ++i) {
    press(model, {Key::sort});
    auto sorted = ids(model);
    std::sort(sorted.begin(), sorted.end());
    CHECK(sorted == std::vector<std::int32_t>{0, 1, 2, 3, 4, 5, 6, 7});
  }
  CHECK(ids(model) == before);
}

TEST_CASE("the selected region stays selected when the order changes") {
  ScreenModel model("job", false, true);
  model.offer(shared(with_regions({{1, 1.0}, {2, 2.0}, {3, 3.0}})), 1);
  press(model, {Key::down});  // 3, [2], 1
  model.offer(shared(with_regions({{1, 5.0}, {2, 0.5}, {3, 3.0}})), 2);
  CHECK(ids(model) == std::vector<std::int32_t>{1, 3, 2});
  CHECK(model.selected(Section::regions) == 2);
  press(model, {Key::reverse});
  CHECK(model.selected(Section::regions) == 0);
  press(model, {Key::enter});
  REQUIRE(model.region() != nullptr);
  CHECK(model.region()->id == 2);
  model.offer(shared(with_regions({{1, 5.0}, {3, 3.0}})), 3);  // its page says that it is gone
  CHECK(model.page() == Page::details);
  CHECK(model.region() == nullptr);
  model.offer(shared(with_regions({{1, 5.0}, {2, 1.0}})), 4);
  REQUIRE(model.region() != nullptr);
}

TEST_CASE("until the user moves, the worst region is selected, whichever that is") {
  ScreenModel model("job", false, true);
  model.offer(shared(with_regions({{1, 1.0}, {2, 2.0}})), 1);
  model.offer(shared(with_regions({{1, 3.0}, {2, 2.0}})), 2);
  CHECK(model.selected(Section::regions) == 0);
}

TEST_CASE("moving stops at both ends, by rows and by pages") {
  ScreenModel model("job", false, true);
  model.offer(shared(test::fake_snapshot({.ranks = 100, .regions = 50})), 1);
  const Reach reach{10, 0};
  press(model, {Key::up}, reach);
  CHECK(model.selected(Section::regions) == 0);
  press(model, {Key::page_down, Key::page_down, Key::down}, reach);
  CHECK(model.selected(Section::regions) == 21);
  press(model, {Key::end, Key::down, Key::page_down}, reach);
  CHECK(model.selected(Section::regions) == 49);
  press(model, {Key::page_up}, reach);
  CHECK(model.selected(Section::regions) == 39);
  press(model, {Key::home}, reach);
  CHECK(model.selected(Section::regions) == 0);
}

TEST_CASE("regions of the same number: one can move past them") {
  ScreenModel model("job", false, true);
  model.offer(shared(with_regions({{5, 1.0}, {5, 1.0}, {5, 1.0}, {6, 1.0}})), 1);
  press(model, {Key::down, Key::down, Key::down});
  CHECK(model.selected(Section::regions) == 3);
  CHECK(model.snapshot()->regions[model.order()[3]].id == 6);
}

TEST_CASE("a paused picture stands still and counts what it misses") {
  ScreenModel model("job", false, true);
  model.offer(shared(with_regions({{1, 1.0}})), 3);
  press(model, {Key::pause});
  model.offer(shared(with_regions({{1, 2.0}})), 4);
  model.offer(shared(with_regions({{1, 3.0}})), 15);
  CHECK(model.paused());
  CHECK(model.behind() == 12);
  CHECK(model.snapshot()->regions[0].mean_latency_ratio == 1.0);
  press(model, {Key::pause});
  CHECK(model.behind() == 0);
  CHECK(model.snapshot()->regions[0].mean_latency_ratio == 3.0);
}

TEST_CASE("paused before anything came: the first snapshot is shown") {
  ScreenModel model("job", false, true);
  press(model, {Key::pause, Key::enter, Key::down, Key::end, Key::sort, Key::next_section});
  CHECK(model.page() == Page::overview);
  model.offer(shared(with_regions({{1, 1.0}})), 1);
  REQUIRE(model.snapshot() != nullptr);
  model.offer(shared(with_regions({{1, 2.0}})), 2);
  CHECK(model.behind() == 1);
}

TEST_CASE("pages: help comes back to where it was called from, scrolling has ends") {
  ScreenModel model("job", false, true);
  model.offer(shared(test::eventful_snapshot()), 1);
  press(model, {Key::enter});
  const Reach reach{5, 12};
  press(model, {Key::page_down, Key::page_down, Key::page_down, Key::page_down}, reach);
  CHECK(model.scroll() == 12);
  press(model, {Key::help});
  CHECK(model.page() == Page::help);
  CHECK(model.scroll() == 0);
  press(model, {Key::help});
  CHECK(model.page() == Page::details);
  CHECK(model.scroll() == 12);
  press(model, {Key::up}, {5, 3});  // the page has become shorter
  CHECK(model.scroll() == 2);
  press(model, {Key::back});
  CHECK(model.page() == Page::overview);
  press(model, {Key::help, Key::quit});
  CHECK(model.quit());
}

TEST_CASE("in a page, Tab goes to the next entry of the list") {
  ScreenModel model("job", false, true);
  model.offer(shared(with_regions({{1, 1.0}, {2, 2.0}, {3, 3.0}})), 1);
  press(model, {Key::enter, Key::next_section});
  CHECK(model.region()->id == 2);
  press(model, {Key::next_section, Key::next_section});
  CHECK(model.region()->id == 1);
  press(model, {Key::previous_section});
  CHECK(model.region()->id == 2);
  CHECK(model.section() == Section::regions);
}

TEST_CASE("findings are followed by what they say, blocked ranks by who they are") {
  Snapshot snapshot = test::fake_snapshot({.ranks = 16, .regions = 4});
  REQUIRE(snapshot.attribution.findings.size() == 2);
  ScreenModel model("job", false, true);
  model.offer(shared(snapshot), 1);
  press(model, {Key::next_section, Key::down, Key::enter});
  REQUIRE(model.finding() != nullptr);
  CHECK(model.finding()->cause == Cause::mapping);
  std::swap(snapshot.attribution.findings[0], snapshot.attribution.findings[1]);
  model.offer(shared(snapshot), 2);
  REQUIRE(model.finding() != nullptr);
  CHECK(model.finding()->cause == Cause::mapping);
  snapshot.attribution.findings.clear();
  model.offer(shared(snapshot), 3);
  CHECK(model.finding() == nullptr);

  Snapshot hung = test::hand_made_snapshot();
  hung.ranks[4].call_for_s = 2;
  hung.ranks[5].call_for_s = 3;
  hung.ranks[5].call_site = 1;
  ScreenModel other("job", false, true);
  other.offer(shared(hung), 1);
  press(other, {Key::previous_section, Key::down, Key::enter});
  REQUIRE(other.section() == Section::blocked);
  REQUIRE(other.blocked_group() != nullptr);
  CHECK(other.blocked_group()->ranks == std::vector<std::int32_t>{4});
  hung.ranks[4].call_for_s = 9;
  other.offer(shared(hung), 2);
  CHECK(other.selected(Section::blocked) == 0);
  CHECK(other.blocked_group()->ranks == std::vector<std::int32_t>{4});
}

TEST_CASE("plain characters on a terminal that can no more, whatever is pressed") {
  ScreenModel model("job", false, false);
  CHECK(model.ascii());
  press(model, {Key::ascii});
  CHECK(model.ascii());
  ScreenModel other("job", false, true);
  CHECK_FALSE(other.ascii());
  press(other, {Key::ascii});
  CHECK(other.ascii());
}
