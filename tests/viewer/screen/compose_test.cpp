#include "viewer/screen/compose.hpp"

#include <catch2/catch.hpp>
#include <limits>
#include <random>

#include "analysis/density/packing.hpp"
#include "tests/seed.hpp"
#include "tests/viewer/fake_run.hpp"
#include "tests/viewer/hand_made.hpp"
#include "viewer/text/printable.hpp"

using namespace pclscope;
using namespace pclscope::screen;

namespace {

std::shared_ptr<const Snapshot> shared(Snapshot snapshot) {
  return std::make_shared<const Snapshot>(std::move(snapshot));
}

ScreenModel model_of(Snapshot snapshot, bool ascii = false) {
  ScreenModel model("heat-4711", ascii, true);
  model.set_connection({session::Phase::running, "", 0});
  model.offer(shared(std::move(snapshot)), 1);
  return model;
}

// What holds for every picture.
void check_form(const Picture& picture, std::size_t width, std::size_t height, bool ascii) {
  REQUIRE(picture.lines.size() == height);
  for (const Line& line : picture.lines) {
    const std::string text = text_of(line);
    REQUIRE(text::display_width(text) <= width);
    REQUIRE(text == text::printable(text));
    if (ascii) REQUIRE(text == text::ascii_only(text));
    if (line.bar && width >= least_width) REQUIRE(text::display_width(text) == width);
  }
}

std::string all_text(const Picture& picture) {
  std::string text;
  for (const Line& line : picture.lines) text += text_of(line) + "\n";
  return text;
}

bool has(const Picture& picture, const std::string& words) {
  return all_text(picture).find(words) != std::string::npos;
}

Key any_key(std::mt19937_64& random) {
  constexpr Key keys[] = {
      Key::pause, Key::sort,   Key::reverse, Key::up,   Key::down,         Key::page_up,          Key::page_down,
      Key::home,  Key::end,    Key::enter,   Key::back, Key::next_section, Key::previous_section, Key::help,
      Key::calls, Key::phases, Key::ascii,   Key::none, Key::redraw};
  return keys[random() % std::size(keys)];
}

double any_number(std::mt19937_64& random) {
  constexpr double odd[] = {0,
                            -1,
                            1,
                            1e300,
                            -1e300,
                            std::numeric_limits<double>::infinity(),
                            -std::numeric_limits<double>::infinity(),
                            std::numeric_limits<double>::quiet_NaN(),
                            1e-300,
                            3.5};
  return odd[random() % std::size(odd)];
}

std::string any_text(std::mt19937_64& random) {
  constexpr const char* odd[] = {"",
                                 "\x1b[2Jgone",
                                 "line\nbreak\ttab",
                                 "\xff\xfe broken",
                                 "\u202e turned",
                                 "ordinary words here",
                                 "\u6f22\u5b57 wide",
                                 "averyveryveryveryveryveryveryveryveryveryveryverylongwordwithoutanyblank"};
  return odd[random() % std::size(odd)];
}

std::int32_t any_rank(std::mt19937_64& random) {
  constexpr std::int32_t odd[] = {0, 1, 5, -1, 1 << 30, INT32_MIN, INT32_MAX, 17};
  return odd[random() % std::size(odd)];
}

Region any_region(std::mt19937_64& random) {
  Region r;
  r.id = any_rank(random);
  for (std::size_t i = random() % 4; i > 0; --i) r.ranks.push_back(any_rank(random));
  std::sort(r.ranks.begin(), r.ranks.end());
  r.messages = random();
  r.mean_latency_ratio = any_number(random);
  r.mean_transfer_ratio = any_number(random);
  r.delayed_share = any_number(random);
  r.late_sender_s = any_number(random);
  r.late_receiver_s = any_number(random);
  r.transfer_s = any_number(random);
  r.collective_wait_s = any_number(random);
  for (std::size_t i = random() % 30; i > 0; --i)
    r.history_ratio.push_back(static_cast<float>(std::clamp(any_number(random), -1e30, 1e30)));
  for (std::size_t i = random() % 30; i > 0; --i) r.history_messages.push_back(static_cast<std::uint32_t>(random()));
  for (std::size_t i = random() % 3; i > 0; --i) {
    Period p;
    p.kind = static_cast<PeriodKind>(random() % 3);
    p.open = random() % 2 == 0;
    p.begin_s = any_number(random);
    p.end_s = any_number(random);
    p.mean_ratio = any_number(random);
    p.end_ratio = any_number(random);
    r.periods.push_back(p);
  }
  return r;
}

Finding any_finding(std::mt19937_64& random) {
  Finding f;
  f.cause = static_cast<Cause>(random() % 8);
  f.region = any_rank(random);
  for (std::size_t i = random() % 4; i > 0; --i) f.ranks.push_back(any_rank(random));
  for (std::size_t i = random() % 4; i > 0; --i) f.nodes.push_back(any_rank(random));
  f.site = static_cast<std::uint32_t>(random() % 4);
  f.begin_s = any_number(random);
  f.end_s = any_number(random);
  f.open = random() % 2 == 0;
  f.score = any_number(random);
  f.confidence = any_number(random);
  f.lost_s = any_number(random);
  f.detail = any_text(random);
  for (std::size_t i = random() % 3; i > 0; --i) f.evidence.push_back(any_text(random));
  f.advice = any_text(random);
  return f;
}

Snapshot any_snapshot(std::mt19937_64& random) {
  Snapshot s = random() % 2 == 0 ? test::eventful_snapshot() : Snapshot{};
  s.job = any_text(random);
  s.application.command = any_text(random);
  s.application.mpi = any_text(random);
  s.application.nodes = {any_text(random)};
  s.application.node_of_rank = {any_rank(random), 0};
  s.application.ranks = any_rank(random);
  s.duration_s = any_number(random);
  s.latency = {any_number(random), any_number(random), any_number(random)};
  s.finished = random() % 4 == 0;
  for (std::size_t i = random() % 6; i > 0; --i) s.regions.push_back(any_region(random));
  for (std::size_t i = random() % 4; i > 0; --i)
    s.links.push_back(
        {any_rank(random), any_rank(random), random(), 1, 1, any_number(random), any_number(random), 0, 0, 0});
  for (std::size_t i = random() % 4; i > 0; --i) s.attribution.findings.push_back(any_finding(random));
  for (std::size_t i = random() % 4; i > 0; --i)
    s.worst.push_back({any_rank(random), any_rank(random), any_rank(random), 0, random(), any_number(random),
                       any_number(random), any_number(random), 0, 0, 0});
  for (std::size_t i = random() % 4; i > 0; --i)
    s.delays.push_back({any_rank(random), 9, 9, 1, any_number(random), 0, 0, 0, 0, 0, {any_rank(random)}, {}});
  for (std::size_t i = random() % 6; i > 0; --i) {
    RankSummary rank;
    rank.rank = any_rank(random);
    rank.node = any_rank(random);
    rank.call_function = static_cast<std::uint16_t>(random());
    rank.call_for_s = any_number(random);
    rank.call_site = static_cast<std::uint32_t>(random() % 5);
    rank.waits_for = {any_rank(random)};
    s.ranks.push_back(rank);
  }
  if (random() % 4 == 0)
    s.deadlocks.push_back({any_number(random),
                           any_number(random),
                           false,
                           {{any_rank(random), 305, 1, 0, -1, {any_rank(random)}, false, 0}}});
  s.sites.push_back({2, any_text(random), 1, any_text(random), any_text(random), 7, 0, "", 0});
  return s;
}

}  // namespace

TEST_CASE("the picture at 80x24 names regions, findings, blocked ranks, the connection and the keys") {
  Snapshot snapshot = test::eventful_snapshot();
  snapshot.ranks[4].call_for_s = 2;
  ScreenModel model = model_of(snapshot);
  const Picture picture = compose(model, 80, 24);
  check_form(picture, 80, 24, false);
  INFO(all_text(picture));
  CHECK(text_of(picture.lines[0]).rfind("heat-4711  ./heat input.txt", 0) == 0);
  CHECK(has(picture, "* REGIONS 2, by mean ratio, highest first"));
  CHECK(has(picture, ">!      7  3-5"));
  CHECK(has(picture, "growing since 12.2 s"));
  CHECK(has(picture, "FINDINGS: none yet"));
  CHECK(has(picture, "BLOCKED RANKS 1"));
  CHECK(has(picture, "2.00 s"));
  CHECK(text_of(picture.lines[22]).rfind("live", 0) == 0);
  CHECK(text_of(picture.lines[23]).rfind("q quit  ? help", 0) == 0);
  CHECK(picture.lines[6].bar);  // one of the two regions is selected
  CHECK_FALSE(picture.lines[7].bar);
}

TEST_CASE("the state of the connection is said in words") {
  ScreenModel model("heat-4711", false, true);
  CHECK(has(compose(model, 80, 24), "waiting for news from heat-4711"));
  model.set_connection({session::Phase::running, "", 0});
  CHECK(has(compose(model, 80, 24), "waiting for news from heat-4711"));
  model.offer(shared(test::hand_made_snapshot()), 1);
  CHECK(has(compose(model, 80, 24), "\nlive"));
  model.set_freshness({5.0, 4.0, 0.1});
  CHECK(has(compose(model, 80, 24), "\nno news for 4.00 s"));
  CHECK_FALSE(has(compose(model, 80, 24), "\nlive"));
  model.set_connection({session::Phase::lost, "its aggregator \x1b[2Jdied", 0});
  CHECK(has(compose(model, 80, 24), "\nLOST: its aggregator ?[2Jdied"));
  model.set_connection({session::Phase::running, "", 2});
  CHECK(has(compose(model, 80, 24), "reconnected 2 times"));
  model.set_connection({session::Phase::finished, "", 0});
  CHECK(has(compose(model, 80, 24), "\nfinished: the job has ended"));
  model.press(Key::pause, {});
  model.offer(shared(test::hand_made_snapshot()), 13);
  CHECK(has(compose(model, 80, 24), "\npaused, 12 snapshots behind  finished"));
}

TEST_CASE("a window that is too small gets a line that says so, down to nothing") {
  const ScreenModel model = model_of(test::eventful_snapshot());
  for (const auto& [width, height] :
       {std::pair<std::size_t, std::size_t>{35, 24}, {80, 7}, {10, 3}, {1, 1}, {0, 5}, {5, 0}, {0, 0}}) {
    const Picture picture = compose(model, width, height);
    check_form(picture, width, height, false);
    if (height > 0)
      CHECK(std::string("make the window larger")
                .rfind(text_of(picture.lines[0]).substr(0, std::min<std::size_t>(width, 5) - (width > 0)), 0) == 0);
  }
  CHECK(has(compose(model, 30, 5), "make the window larger"));
  CHECK_FALSE(has(compose(model, least_width, least_height), "make the window larger"));
}

TEST_CASE("10,000 regions: the selected one is in view wherever it is") {
  ScreenModel model = model_of(test::fake_snapshot({.ranks = 20000, .regions = 10000, .slow = 7777, .windows = 20}));
  CHECK(has(compose(model, 80, 24), "7777"));  // the worst
  CHECK(has(compose(model, 80, 24), " of 10000"));
  Reach reach = compose(model, 80, 24).reach;
  while (model.sort() != SortBy::region) model.press(Key::sort, reach);
  for (const Key key : {Key::end, Key::page_up, Key::home, Key::down, Key::page_down}) {
    model.press(key, reach);
    const Picture picture = compose(model, 80, 24);
    check_form(picture, 80, 24, false);
    const std::string selected =
        std::to_string(model.snapshot()->regions[model.order()[model.selected(Section::regions)]].id);
    bool seen = false;
    for (const Line& line : picture.lines)
      seen = seen || (line.bar && text_of(line).find(selected) != std::string::npos);
    CHECK(seen);
    reach = picture.reach;
  }
}

TEST_CASE("the page of a region has its ranks, waits, periods, links, worst messages and call sites") {
  ScreenModel model = model_of(test::eventful_snapshot());
  model.press(Key::enter, {});
  const Picture picture = compose(model, 100, 70);
  check_form(picture, 100, 70, false);
  INFO(all_text(picture));
  for (const char* words :
       {"REGION 7, 3 ranks, growing since 12.2 s", "ranks      3-5", "late senders 1.00 s", "growth", "steady", "1 - 7",
        "4 - 5", "halo.cpp:42", "its ranks", "history of the typical ratio"}) {
    CHECK(has(picture, words));
  }
  CHECK_FALSE(has(picture, "1 - 8"));  // a link of others
}

TEST_CASE("pages scroll to their last line and no further") {
  ScreenModel model = model_of(test::eventful_snapshot());
  model.press(Key::enter, {});
  Picture picture = compose(model, 80, 24);
  REQUIRE(picture.reach.last_scroll > 0);
  model.press(Key::end, picture.reach);
  picture = compose(model, 80, 24);
  const std::size_t all = picture.reach.last_scroll + picture.reach.page_rows;
  CHECK(has(picture, "-" + std::to_string(all) + " of " + std::to_string(all)));
  CHECK_FALSE(text_of(picture.lines[21]).empty());  // the last line of the page
  model.press(Key::down, picture.reach);
  CHECK(all_text(compose(model, 80, 24)) == all_text(picture));
}

TEST_CASE("a finding's page has evidence, advice and the place in full") {
  ScreenModel model = model_of(test::fake_snapshot({.ranks = 16, .regions = 4}));
  CHECK(has(compose(model, 80, 24), "! region 2"));
  CHECK(has(compose(model, 80, 24), "late-sender (computation) since 10.0 s"));
  model.press(Key::next_section, {});
  model.press(Key::enter, {});
  const Picture picture = compose(model, 80, 24);
  INFO(all_text(picture));
  for (const char* words : {"FINDING: late-sender", "- rank computed 3.1 s longer",
                            "=> look at what this rank computes", "confidence 0.90"})
    CHECK(has(picture, words));
}

TEST_CASE("a cut line ends with a sign, and a line that fits exactly does not") {
  const Line line{{{"abc", Style::plain}, {"def", Style::hot}}, false};
  CHECK(text_of(fitted(line, 6, false)) == "abcdef");
  CHECK(text_of(fitted(line, 5, false)) == "abcd~");
  CHECK(text_of(fitted(line, 4, false)) == "abc~");
  CHECK(text_of(fitted(line, 3, false)) == "ab~");
  CHECK(text_of(fitted(line, 1, false)) == "~");
  CHECK(text_of(fitted(line, 0, false)).empty());
  CHECK(text_of(fitted({{{"ab", Style::plain}}, true}, 5, false)) == "ab   ");
  CHECK(text_of(fitted({{{"\u6f22\u5b57", Style::plain}}, true}, 3, false)) == "\u6f22~");
  CHECK(text_of(fitted({{{"\u6f22\u5b57x", Style::plain}}, true}, 4, false)) == "\u6f22~ ");
  CHECK(text_of(fitted({{{"a\x1b[2J\n", Style::plain}}, false}, 9, false)) == "a?[2J?");
}

namespace {

logical::LatenessSum any_lateness(std::mt19937_64& random) {
  logical::LatenessSum of;
  of.sum_ns = any_number(random);
  of.most_ns = static_cast<std::int64_t>(random());
  of.rank = any_rank(random);
  of.rank_ns = any_number(random);
  of.rank_most_ns = static_cast<std::int64_t>(random());
  of.site = static_cast<std::uint32_t>(random() % 4);
  of.kind = static_cast<logical::Kind>(random() % 3);
  return of;
}

PhaseNews any_phases(std::mt19937_64& random) {
  PhaseNews news;
  news.progress = any_number(random);
  if (random() % 2 == 0) news.problem = any_text(random);
  if (random() % 4 == 0) return news;
  session::LatePhases made;
  made.stored = random() % 2 == 0;
  made.from_s = any_number(random);
  made.to_s = any_number(random);
  made.late_s = any_number(random);
  for (std::size_t i = random() % 5; i > 0; --i) made.late.push_back({any_rank(random), random(), any_number(random)});
  for (std::size_t i = random() % 40; i > 0; --i) {
    session::LatePhase p;
    if (made.stored) p.number = static_cast<std::uint32_t>(random());
    p.steps = static_cast<std::uint32_t>(random());
    p.begin_s = any_number(random);
    p.end_s = any_number(random);
    p.ranks = "0-7,12";
    p.lateness = any_lateness(random);
    p.entry = any_lateness(random);
    made.phases.push_back(std::move(p));
  }
  made.all = made.phases.size() + random() % 3;
  news.phases = std::make_shared<const session::LatePhases>(std::move(made));
  return news;
}

}  // namespace

TEST_CASE("whatever a snapshot holds, whatever is pressed, pictures keep their form") {
  const std::uint64_t seed = pclscope::test::random_seed();
  INFO("seed " << seed);
  std::mt19937_64 random(seed);
  for (int round = 0; round < 40; ++round) {
    ScreenModel model(any_text(random), random() % 2 == 0, random() % 4 != 0);
    Reach reach;
    for (std::uint64_t step = 0; step < 12; ++step) {
      if (random() % 2 == 0) model.offer(shared(any_snapshot(random)), step);
      model.set_connection({static_cast<session::Phase>(random() % 6), any_text(random), random() % 3});
      model.set_freshness({any_number(random), any_number(random), any_number(random)});
      if (random() % 2 == 0) model.set_phases(any_phases(random));
      model.press(any_key(random), reach);
      const std::size_t width = random() % 3 == 0 ? random() % 40 : 36 + random() % 120,
                        height = random() % 3 == 0 ? random() % 10 : 8 + random() % 50;
      const Picture picture = compose(model, width, height);
      check_form(picture, width, height, model.ascii());
      reach = picture.reach;
    }
  }
}

TEST_CASE("the page of calls shows the stack, and says why there is none") {
  CallDensity d;
  for (std::uint32_t slice = 0; slice < 16; ++slice) d.inside.push_back({-1, 300, slice, 3u << 20});
  Snapshot s;
  s.application.ranks = 4;
  s.duration_s = 16.0 * (1 << 20) * 1e-9;
  s.call_density = density::pack(d);
  ScreenModel model = model_of(s);
  model.press(Key::calls, {});
  CHECK(model.page() == Page::calls);
  const Picture picture = compose(model, 60, 30);
  check_form(picture, 60, 30, false);
  CHECK(has(picture, "    |AAAAAAAAAAAAAAAAAAAA"));  // three quarters of the ranks
  CHECK(has(picture, "A  MPI_Recv  75%"));
  model.press(Key::help, picture.reach);
  model.press(Key::help, {});
  CHECK(model.page() == Page::calls);
  model.press(Key::calls, {});
  CHECK(model.page() == Page::overview);
  ScreenModel without = model_of(Snapshot());
  without.press(Key::calls, {});
  CHECK(has(compose(without, 60, 30), "no MPI calls were recorded"));
}

TEST_CASE("the page of phases says what it waits for, then who is late, and sorts") {
  ScreenModel model = model_of(Snapshot());
  model.press(Key::phases, {});
  REQUIRE(model.page() == Page::phases);
  CHECK(has(compose(model, 80, 24), "asking the job for its newest messages"));
  session::LatePhases made;
  made.to_s = 2;
  made.all = 2;
  for (int i = 0; i < 2; ++i) {
    session::LatePhase& p = made.phases.emplace_back();
    p.begin_s = 1 + 0.5 * i;
    p.end_s = p.begin_s + 0.25;
    p.steps = 7;
    p.ranks = "0-7";
    p.lateness.rank = p.entry.rank = 5 - i;
    p.lateness.sum_ns = i == 0 ? 3e6 : 1e6;
    p.lateness.rank_most_ns = 1'000'000;
  }
  made.late = {{5, 1, 0.003}, {4, 1, 0.001}};
  made.late_s = 0.004;
  model.set_phases({std::make_shared<const session::LatePhases>(made), "", 0});
  const auto first_row = [&](const Picture& picture) {
    std::size_t at = 0;
    while (at < picture.lines.size() && text_of(picture.lines[at]).find("late by") == std::string::npos) ++at;
    REQUIRE(at + 1 < picture.lines.size());
    return text_of(picture.lines[at + 1]);
  };
  Picture picture = compose(model, 80, 24);
  check_form(picture, 80, 24, false);
  INFO(all_text(picture));
  CHECK(has(picture, "2 phases in the newest 2.00 s"));
  CHECK(has(picture, "most late: rank 5 in 1 of 2 phases"));
  CHECK(first_row(picture).find("1.5 s") != std::string::npos);  // a running job's newest
  model.press(Key::sort, picture.reach);
  CHECK(first_row(compose(model, 80, 24)).find("1.0 s") != std::string::npos);  // the most late
  made.stored = true;
  ScreenModel dump = model_of(Snapshot());
  dump.open(Page::phases);
  dump.set_phases({std::make_shared<const session::LatePhases>(made), "", 0});
  CHECK(first_row(compose(dump, 80, 24)).find("1.0 s") != std::string::npos);
  dump.press(Key::phases, {});
  CHECK(dump.page() == Page::overview);
}
