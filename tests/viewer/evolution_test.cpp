// Periods, links and what is kept, as people and programs see them.
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "tests/viewer/hand_made.hpp"
#include "tests/viewer/joined.hpp"
#include "viewer/session/regions.hpp"
#include "viewer/text/printable.hpp"
#include "viewer/text/quantities.hpp"
#include "viewer/views/evolution_rows.hpp"
#include "viewer/views/link_rows.hpp"
#include "viewer/views/period_text.hpp"
#include "viewer/views/watch_json.hpp"
#include "viewer/views/watch_page.hpp"

using namespace pclscope;
using Catch::Contains;
using pclscope::test::joined;
using Lines = std::vector<std::string>;

namespace {

Region with(Period period) {
  Region region;
  region.periods = {period};
  return region;
}

// Ten windows of 0.1 s; region 7 has messages in every second one.
std::vector<Window> ten_windows() {
  std::vector<Window> windows;
  for (int i = 0; i < 10; ++i) {
    Window w;
    w.begin_s = i * 0.1;
    w.length_s = 0.1;
    w.regions.push_back({1, 10, 100, 1, 1.5, 0, 0, 0.1, 1.25});
    if (i % 2 == 0) w.regions.push_back({7, 20, 200, 10, 1.0 + i, 0.1, 0.2, 0.3, 2});
    w.regions.push_back({99, 1, 1, 1, 1, 0, 0, 0, 1});  // a region that is no more
    windows.push_back(w);
  }
  return windows;
}

}  // namespace

TEST_CASE("the newest period in words") {
  Period p;
  p.begin_s = 12.3;
  p.end_s = 133;
  p.mean_ratio = 4.1;
  p.end_ratio = 6;
  CHECK(views::newest_period(Region{}).empty());
  CHECK(views::newest_period(with(p)).empty());  // nothing of interest
  p.kind = PeriodKind::growth;
  p.open = true;
  CHECK(views::newest_period(with(p)) == "growing since 12.3 s");
  p.open = false;
  CHECK(views::newest_period(with(p)) == "grew to 6.0x until 02:13");
  p.kind = PeriodKind::steady;
  CHECK(views::newest_period(with(p)) == "was 4.1x until 02:13");
  p.open = true;
  p.begin_s = 133;
  CHECK(views::newest_period(with(p)) == "steady 4.1x since 02:13");
}

TEST_CASE("moments as they are typed and read") {
  CHECK(text::parse_moment_ns("12.5") == 12'500'000'000);
  CHECK(text::parse_moment_ns("2.5s") == 2'500'000'000);
  CHECK(text::parse_moment_ns("300ms") == 300'000'000);
  CHECK(text::parse_moment_ns("-2") == -2'000'000'000);
  CHECK(text::parse_moment_ns("01:48") == 108'000'000'000);
  CHECK(text::parse_moment_ns("-1:02:03") == -3'723'000'000'000);
  for (const char* wrong :
       {":", "1:", ":30", "1:2", "1:60", "1:02:03:04", "1:-2", "+1:02", "1:02s", "1 2 s", "s", " s"})
    CHECK(!text::parse_moment_ns(wrong));
  for (const double s : {0.0, 0.3, 12.0, 99.9, 108.0, 3599.0, 3723.0, 86400.0 * 3})
    CHECK(text::parse_moment_ns(text::format_moment(s)) == std::llround(s * 1e9));  // what is printed can be pasted
  CHECK(text::parse_moment_ns("-300ms") == -300'000'000);
  CHECK(text::parse_moment_ns("2min") == 120'000'000'000);
  for (const char* bad : {"", "-", "--2", "soon", "1h", "1e3", "nan", "inf", "99999999999999999999"}) {
    INFO(bad);
    CHECK_FALSE(text::parse_moment_ns(bad));
  }
  CHECK(text::format_moment(0) == "0 s");
  CHECK(text::format_moment(99.94) == "99.9 s");
  CHECK(text::format_moment(133.9) == "02:13");
  CHECK(text::format_moment(3733) == "1:02:13");
  CHECK(text::format_moment(-133) == "-02:13");
  CHECK(text::format_moment(1e300) == "-");
  CHECK(text::format_times(4.1) == "4.1x");
  CHECK(text::format_times(1234) == "1234x");
  CHECK(text::format_time_of_day(1'714'566'896'789'000'000) == "12:34:56.789Z");
}

TEST_CASE("windows go to their regions") {
  const auto regions = views::evolution_of(test::eventful_snapshot(), ten_windows());
  REQUIRE(regions.size() == 2);
  CHECK(regions[0].windows.size() == 10);
  REQUIRE(regions[1].windows.size() == 5);
  CHECK(regions[1].windows[4].begin_s == Approx(0.8));
  CHECK(regions[1].windows[4].sums.mean_ratio == 9);
}

TEST_CASE("the evolution as JSON") {
  const session::Json json = views::evolution_json(views::evolution_of(test::eventful_snapshot(), ten_windows()));
  const session::Json& late = json["regions"][1];
  CHECK(late["id"] == 7);
  CHECK(late["ranks"] == session::Json({3, 4, 5}));
  CHECK(late["mean_latency_ratio"] == 9.75);
  REQUIRE(late["periods"].size() == 2);
  CHECK(late["periods"][0] == session::Json::parse(R"({"kind": "steady", "open": false, "begin_s": 0.1, "end_s": 2.5,
    "windows": 24, "messages": 5000, "bytes": 4096, "delayed": 2500, "mean_ratio": 4.0, "begin_ratio": 4.1,
    "middle_ratio": 3.9, "end_ratio": 4.2, "late_sender_s": 0.5, "late_receiver_s": 0.25, "transfer_s": 0.25,
    "typical_ratio": 3.75})"));
  CHECK(late["periods"][1]["kind"] == "growth");
  REQUIRE(late["windows"].size() == 5);
  CHECK(late["windows"][1] ==
        session::Json::parse(R"({"begin_s": 0.2, "length_s": 0.1, "messages": 20, "typical_ratio": 3.0,
    "mean_ratio": 3.0,
    "bytes": 200, "delayed": 10, "mean_transfer_ratio": 2.0,
     "late_sender_s": 0.1, "late_receiver_s": 0.2, "transfer_s": 0.3})"));
}

TEST_CASE("the evolution of a running job has the windows that it told") {
  const Snapshot s = test::eventful_snapshot();
  const auto regions = views::live_evolution(s);
  REQUIRE(regions[0].windows.size() == 3);  // the newest had no message
  REQUIRE(regions[1].windows.size() == 4);
  CHECK(regions[1].windows[3].begin_s == Approx(12.4));
  CHECK(regions[1].windows[3].sums.level() == 12);
  CHECK(views::evolution_json(regions)["regions"][1]["windows"][3]["bytes"].is_null());
}

TEST_CASE("the evolution as text tells periods with their time of day") {
  const Snapshot s = test::eventful_snapshot();
  const Lines lines =
      views::evolution_lines(views::evolution_of(s, ten_windows()), s.time_origin_realtime_ns, {0, 24, false});
  const std::string text = joined(lines);
  CHECK_THAT(text, Contains("region 7, ranks 3-5: 100,000 messages, ratio typical 8.50, mean 9.75"));
  CHECK_THAT(text, Contains("  0 s ") && Contains("highest 9.0x"));
  CHECK_THAT(text, Contains("steady") && Contains("growth ...") && Contains("12:35:09.039Z") && Contains("50/25/25"));
  CHECK(joined(views::evolution_lines({}, 0, {80, 24, true})).find("no regions") == 0);
  for (const auto& line :
       views::evolution_lines(views::evolution_of(s, ten_windows()), s.time_origin_realtime_ns, {80, 24, true})) {
    CHECK(text::display_width(line) <= 80);
    for (const char c : line) CHECK((c >= 0x20 && c < 0x7f));
  }
}

TEST_CASE("rows of periods") {
  const views::Rows rows = views::evolution_rows(views::live_evolution(test::eventful_snapshot()));
  REQUIRE(rows.cells.size() == 3);
  CHECK(rows.titles[0] == "region");
  CHECK(rows.titles[1] == "kind");
  CHECK(rows.cells[2][0] == "7");
  CHECK(rows.cells[2][1] == "growth");
  CHECK(views::evolution_rows({}).titles == rows.titles);
}

TEST_CASE("links that are worse than both of their regions") {
  const Snapshot s = test::eventful_snapshot();
  const auto bad = views::bad_links(s);
  REQUIRE(bad.size() == 1);
  CHECK(bad[0].b == 7);
  CHECK_THAT(joined(views::link_lines(s.links, 0)), Contains("1 - 7") && Contains("11.5") && Contains("10.5"));
  CHECK(views::link_rows(s.links).cells[0][0] == "1");
  CHECK_THAT(joined(views::link_lines({}, 80)), Contains("no links"));
  CHECK(views::bad_links(Snapshot{}).empty());
}

TEST_CASE("the watch page tells periods, delays, links and the budget, in 80x24") {
  const Snapshot s = test::eventful_snapshot();
  const Lines page = views::watch_page(s, {0.08, 0.1, 0.1}, {80, 24, false});
  const std::string text = joined(page);
  INFO(text);
  CHECK(page.size() <= 24);
  for (const auto& line : page) CHECK(text::display_width(line) <= 80);
  CHECK_THAT(text, Contains("growing since 12.2 s") || Contains("growing since 12.3 s"));
  CHECK_THAT(text, Contains("▂▆▇█"));
  CHECK_THAT(text, Contains("3.25 s") && Contains("halo.cpp:42") && Contains("halo.cpp:37"));
  CHECK_THAT(text, Contains("1 - 7"));
  CHECK_THAT(text, Contains("budget of 1.9 MiB used up since 3.5 s: 23,456 messages not in the dump"));
  for (const std::size_t width : {1u, 20u, 79u, 80u, 200u}) {
    for (const std::size_t height : {1u, 5u, 10u, 24u, 60u}) {
      const Lines any = views::watch_page(s, {}, {width, height, true});
      CHECK(any.size() <= height);
      for (const auto& line : any) CHECK(text::display_width(line) <= width);
    }
  }
}

TEST_CASE("the JSON of watch has all of it") {
  const Snapshot s = test::eventful_snapshot();
  const session::Json json = views::watch_json(s, s.live.window_end_realtime_ns);
  CHECK(json["regions"][1]["periods"].size() == 2);
  CHECK(json["regions"][1]["mean_transfer_ratio"] == 2.5);
  CHECK(json["regions"][1]["history_ratio"] == session::Json({1.0, 8.0, 10.0, 12.0}));
  CHECK(json["regions"][1]["history_messages"] == session::Json({10, 10, 10, 10}));
  CHECK(json["links"][0]["mean_transfer_ratio"] == 10.5);
  CHECK(json["collectives"] == session::Json::parse(R"({"operations": 1000, "calls": 6000, "wait_s": 3.5})"));
  CHECK(json["retention"]["keep"] == "interesting");
  CHECK(json["retention"]["bites_since_s"] == 3.5);
  CHECK(json["delays"][0]["rank"] == 5);
  CHECK(json["delays"][0]["region"] == 7);
}

TEST_CASE("what is kept, in words") {
  CHECK(views::kept_line({}).empty());
  CHECK(views::budget_line({}).empty());
  Retention r = test::eventful_snapshot().retention;
  CHECK(views::kept_line(r) ==
        "interesting periods, 1.8 MiB of 1.9 MiB; 23,456 messages left out, by the budget since 3.5 s");
  r.bites_since_s = -1;
  CHECK(views::kept_line(r) == "interesting periods, 1.8 MiB of 1.9 MiB; 23,456 messages left out");
  CHECK(views::shed_line(r).empty());
  r.messages_shed = 12'345, r.shed_from_s = 2, r.shed_to_s = 2.5;
  CHECK(views::kept_line(r) ==
        "interesting periods, 1.8 MiB of 1.9 MiB; 23,456 messages left out; 12,345 messages counted but not kept for "
        "lack of time, between 2.0 s and 2.5 s");
}

TEST_CASE("a region that does not exist is named with those that do") {
  const Snapshot s = test::eventful_snapshot();
  CHECK((*session::find_region(s, 7))->id == 7);
  CHECK(session::find_region(s, 3).error().message == "no region 3: there are 1,7");
  CHECK_THAT(session::find_region(Snapshot{}, 3).error().message, Contains("the run has none"));
}
