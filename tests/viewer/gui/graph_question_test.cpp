#include "viewer/gui/frame/graph_question.hpp"

#include <catch2/catch.hpp>
#include <limits>
#include <random>

#include "tests/viewer/fake_run.hpp"
#include "viewer/gui/frame/view_options.hpp"

using namespace pclscope;
using namespace pclscope::gui;

TEST_CASE("a selected period is asked for exactly") {
  Selection selection;
  selection.region = 1;
  selection.period = SelectedPeriod{2.5, 3.25};
  const auto question = graph_question(test::fake_snapshot(), selection, false, 20);
  REQUIRE(question);
  CHECK(question->region == 1);
  CHECK(question->from_ns == 2'500'000'000);
  CHECK(question->to_ns == 3'250'000'000);
}

TEST_CASE("without a period: of a file the worst period of the region, of a job the newest windows") {
  const Snapshot snapshot = test::fake_snapshot({.slow = 2, .windows = 200});
  Selection selection;
  selection.region = 2;
  const auto stored = graph_question(snapshot, selection, false, 20);
  REQUIRE(stored);
  CHECK(stored->from_ns >= 9'800'000'000);  // growth and steady, 9.8 s to 20 s, have the same ratio
  CHECK(stored->to_ns <= 20'000'000'000);
  const auto live = graph_question(snapshot, selection, true, 20);
  REQUIRE(live);
  CHECK(live->from_ns >= 19'400'000'000);
  CHECK(live->to_ns <= 20'000'000'000);
}

TEST_CASE("without a period: windows that have messages, though they come in bursts") {
  Snapshot snapshot = test::fake_snapshot({.slow = 2, .windows = 200});
  Region& region = snapshot.regions[2];
  region.messages = 0;
  region.periods[1].mean_ratio = 2;                                   // growth; steady, from 10 s on, is worse
  for (std::size_t w = 0; w < region.history_messages.size(); ++w) {  // most of the time the job computes
    const bool burst = w == 20 || w == 130 || w == 131 || w == 190;
    region.history_messages[w] = burst ? 80 : 0;
    if (w == 130) region.history_ratio[w] = 9;
    region.messages += region.history_messages[w];
  }
  session::History history;
  history.add(snapshot);
  Selection selection;
  selection.region = 2;
  const auto holds = [](const DagQuestion& q, std::int64_t ms) {
    return q.from_ns <= ms * 1'000'000 && ms * 1'000'000 < q.to_ns;
  };
  const auto stored = graph_question(snapshot, selection, false, 20, &history);
  REQUIRE(stored);
  CHECK(holds(*stored, 13'050));  // the worst, and its neighbours: they are few
  CHECK(holds(*stored, 19'050));
  CHECK_FALSE(holds(*stored, 2'050));  // that was before the worst period
  const auto live = graph_question(snapshot, selection, true, 20, &history);
  REQUIRE(live);
  CHECK(holds(*live, 19'050));  // the newest that there is
  for (std::uint32_t& messages : region.history_messages) messages *= 1000;
  session::History much;
  much.add(snapshot);
  const auto part = graph_question(snapshot, selection, false, 20, &much);
  REQUIRE(part);
  CHECK(holds(*part, 13'000));
  CHECK(part->to_ns - part->from_ns < 10'000'000);
  selection.period = SelectedPeriod{1, 19.5};
  const auto chosen = graph_question(snapshot, selection, false, 20, &history);
  REQUIRE(chosen);
  CHECK(chosen->from_ns == 1'000'000'000);
  CHECK(chosen->to_ns == 19'500'000'000);
  const auto worst = graph_question(snapshot, selection, false, 20, &much);  // more than a graph takes
  REQUIRE(worst);
  CHECK(holds(*worst, 13'000));
  CHECK(worst->to_ns - worst->from_ns < 10'000'000);
  selection.period = SelectedPeriod{1, 12};
  const auto before = graph_question(snapshot, selection, false, 20, &much);
  REQUIRE(before);
  CHECK(holds(*before, 2'000));  // the only ones in it
}

TEST_CASE("what is selected and not there is named") {
  const Snapshot snapshot = test::fake_snapshot();
  const auto missing = [&](const char* what) {
    Selection selection;
    REQUIRE(parse_selection(what, selection));
    return missing_from(snapshot, selection);
  };
  CHECK(missing("region=3,rank=15,finding=1,period=0:900").empty());
  CHECK(missing("region=4") == "no region 4 here: there are 4 regions");
  CHECK(missing("rank=16") == "no rank 16 here: there are 16 ranks");
  CHECK(missing("ranks=3-15").empty());
  CHECK(missing("ranks=3+16,rank=2") == "no rank 16 here: there are 16 ranks");
  CHECK(missing("finding=2") == "no finding 2 here: there are 2 findings");
}

TEST_CASE("a selected region that is found anew is followed") {
  Snapshot snapshot = test::fake_snapshot();
  REQUIRE(snapshot.regions.size() == 4);
  Selection selection;
  FollowedRegion followed;
  selection.region = 9;  // never seen: it stays, and is named as missing
  follow_region(snapshot, followed, selection);
  CHECK(selection.region == 9);
  selection.region = 2;
  follow_region(snapshot, followed, selection);
  CHECK(selection.region == 2);
  // It falls into two; the larger part is its second.
  const Region whole = snapshot.regions[2];
  Region first = whole, second = whole;
  first.id = 11, second.id = 12;
  first.ranks.assign(whole.ranks.begin(), whole.ranks.begin() + 1);
  second.ranks.assign(whole.ranks.begin() + 1, whole.ranks.end());
  REQUIRE(second.ranks.size() > 1);
  snapshot.regions.erase(snapshot.regions.begin() + 2);
  snapshot.regions.push_back(first);
  snapshot.regions.push_back(second);
  Snapshot ended = snapshot;
  ended.ended_regions.push_back(whole);
  follow_region(ended, followed, selection);
  CHECK(selection.region == 2);  // an ended one can still be looked at
  follow_region(snapshot, followed, selection);
  CHECK(selection.region == 12);
  CHECK(graph_question(snapshot, selection, true, 20)->region == 12);
  snapshot.regions.clear();
  follow_region(snapshot, followed, selection);
  CHECK(selection.region == 12);
  selection.region.reset();
  follow_region(snapshot, followed, selection);
  CHECK_FALSE(selection.region);
}

TEST_CASE("a lasso goes before the region; nothing selected, nothing asked") {
  const Snapshot snapshot = test::fake_snapshot();
  Selection selection;
  CHECK(!graph_question(snapshot, selection, false, 1));
  selection.region = 77;  // is not there
  CHECK(!graph_question(snapshot, selection, false, 1));
  selection.region = 0;
  selection.ranks = {3, 9};
  const auto question = graph_question(snapshot, selection, false, 1);
  REQUIRE(question);
  CHECK(question->region == -1);
  CHECK(question->ranks == std::vector<std::int32_t>{3, 9});
}

TEST_CASE("the first choice is the first believable finding in a region, else the region that is late most") {
  Snapshot snapshot = test::fake_snapshot({.slow = 2});
  Selection selection;
  REQUIRE(choose_worst(snapshot, false, selection));
  CHECK(selection.finding == 0u);
  CHECK(selection.region == 2);
  CHECK(selection.period == SelectedPeriod{10, 20});
  Selection live;
  REQUIRE(choose_worst(snapshot, true, live));
  CHECK(!live.period);
  snapshot.attribution.findings[0].region = -1;  // felt all over the job: where it begins
  selection = {};
  REQUIRE(choose_worst(snapshot, false, selection));
  CHECK(selection.region == 2);
  snapshot.attribution.findings.clear();
  selection = {};
  REQUIRE(choose_worst(snapshot, false, selection));
  CHECK(!selection.finding);
  CHECK(selection.region == 2);
  selection = {};
  CHECK(!choose_worst(Snapshot(), false, selection));
}

TEST_CASE("broken numbers give questions that can be asked, or none") {
  std::mt19937_64 random(7);
  const double bad[] = {
      std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity(), -1e300, 1e300, 0, -1, 1e-300};
  const auto any = [&] { return bad[random() % 7]; };
  for (int i = 0; i < 500; ++i) {
    Snapshot snapshot = test::fake_snapshot({.windows = 50});
    for (Region& region : snapshot.regions) {
      for (Period& period : region.periods) period.begin_s = any(), period.end_s = any(), period.mean_ratio = any();
    }
    snapshot.duration_s = any();
    snapshot.live.window_s = any();
    Selection selection;
    selection.region = 2;
    if (i % 2) selection.period = SelectedPeriod{any(), any()};
    const auto question = graph_question(snapshot, selection, i % 3 == 0, any());
    if (question) CHECK(question->from_ns < question->to_ns);
    choose_finding(snapshot, random() % 4, selection);
  }
}

TEST_CASE("selections are read from the command line as they are meant") {
  Selection selection;
  REQUIRE(parse_selection("region=3,period=1.5:2.5,rank=17,finding=0", selection));
  CHECK(selection.region == 3);
  CHECK(selection.rank == 17);
  CHECK(selection.finding == 0u);
  CHECK(selection.period == SelectedPeriod{1.5, 2.5});
  REQUIRE(parse_selection("ranks=8+0-3,rank=2", selection));
  CHECK(selection.ranks == std::vector<std::int32_t>{0, 1, 2, 3, 8});
  CHECK(selection.rank == 2);
  REQUIRE(parse_selection("period=1:2,pinned=0:0.5", selection));
  CHECK(selection.period == SelectedPeriod{1, 2});
  CHECK(selection.pinned == SelectedPeriod{0, 0.5});
  for (const char* wrong :
       {"", "ranks=", "ranks=3-1", "ranks=1,2", "pinned=1", "region", "region=", "region=-1", "region=x", "period=1",
        "period=2:1", "period=1:nan", "what=1", "region=1,,rank=2", "region=99999999999"}) {
    CAPTURE(wrong);
    CHECK(!parse_selection(wrong, selection));
  }
}
