// What watch --until waits for, and what --metrics writes.
#include <unistd.h>

#include <catch2/catch.hpp>
#include <fstream>
#include <sstream>

#include "tests/viewer/hand_made.hpp"
#include "viewer/alarms/condition.hpp"
#include "viewer/alarms/metrics.hpp"

using namespace pclscope;
using alarms::Alarm;
using alarms::parse_condition;
using alarms::Watched;

namespace {

// 8 ranks in two regions.
Snapshot job() {
  Snapshot s;
  s.job = "sim-1";
  for (std::int32_t r = 0; r < 8; ++r) {
    RankSummary rank;
    rank.rank = r;
    s.ranks.push_back(rank);
  }
  for (std::int32_t id : {3, 4}) {
    Region region;
    region.id = id;
    for (std::int32_t r = 0; r < 4; ++r) region.ranks.push_back((id - 3) * 4 + r);
    s.regions.push_back(region);
  }
  return s;
}

void at(Snapshot& s, double seconds) { s.live.window_end_realtime_ns = static_cast<std::int64_t>(seconds * 1e9); }

Alarm alarm(const std::string& text) {
  auto condition = parse_condition(text);
  REQUIRE(condition);
  return Alarm(*condition);
}

}  // namespace

TEST_CASE("conditions are read, and what is wrong with them is said") {
  const auto lost = parse_condition("region.lost > 20% for 60s");
  REQUIRE(lost);
  CHECK(lost->watched == Watched::region_lost);
  CHECK(lost->above == Approx(0.2));
  CHECK(lost->for_s == Approx(60));
  CHECK(parse_condition("region.lost>20% for 1min")->for_s == Approx(60));
  CHECK(parse_condition("rank.inside > 30s")->above == Approx(30));
  CHECK(parse_condition("finding")->above == 0.5);
  CHECK(parse_condition("finding > 0.8")->above == 0.8);
  CHECK(parse_condition("deadlock")->watched == Watched::deadlock);
  CHECK(parse_condition("dropped for 5s")->for_s == 5);
  for (const auto& [text, why] : {std::pair{"", "nothing to wait for"},
                                  {"speed > 3", "'speed' is not known"},
                                  {"lost", "lost needs a value"},
                                  {"lost > 20", "lost is compared with a share"},
                                  {"lost > x%", "lost is compared with a share"},
                                  {"rank.inside > 30", "rank.inside is compared with a time"},
                                  {"region.ratio > -1", "compared with a number"},
                                  {"region.ratio > nan", "compared with a number"},
                                  {"deadlock > 3", "deadlock has no value"},
                                  {"finding for", "after 'for' comes a time"},
                                  {"finding for 60", "after 'for' comes a time"},
                                  {"finding > 0.5 for 60s or so", "'or' is too much"}}) {
    const auto condition = parse_condition(text);
    INFO(text);
    REQUIRE_FALSE(condition);
    CHECK(condition.error().message.find(why) != std::string::npos);
    CHECK(condition.error().message.find('\n') == std::string::npos);
  }
}

TEST_CASE("lost time is that of the newest seconds, and lasts before it is an alarm") {
  Snapshot s = job();
  s.regions[1].late_sender_s = 1'000;  // long ago
  Alarm region = alarm("region.lost > 20% for 3s"), all = alarm("lost > 20%");
  bool raised = false;
  for (int second = 1; second <= 20; ++second) {
    const bool slow = second > 10;
    s.regions[1].late_sender_s += slow ? 0.25 * 4 : 0.1 * 4;  // of four ranks' time
    for (std::int32_t r = 4; r < 8; ++r) s.ranks[static_cast<std::size_t>(r)].late_sender_s += slow ? 0.25 : 0.1;
    at(s, second);
    const auto said = region.look(s);
    CHECK_FALSE(all.look(s));  // an eighth of all
    // From second 12 on both of the newest two seconds are slow; then it lasts 3 s.
    CHECK(said.has_value() == (second >= 15));
    if (said) CHECK(said->find("region 4 (ranks 4-7) has lost 25% of its ranks' time, for ") == 0);
    raised |= said.has_value();
  }
  CHECK(raised);
  // A pause begins anew.
  for (int second = 21; second <= 23; ++second) {
    at(s, second);
    region.look(s);
  }
  CHECK_FALSE(region.look(s));
}

TEST_CASE("the first look at a job that lost much before raises nothing") {
  Snapshot s = job();
  for (RankSummary& rank : s.ranks) rank.late_sender_s = 50;
  s.regions[0].late_sender_s = 200;
  at(s, 60);
  CHECK_FALSE(alarm("lost > 1%").look(s));
  CHECK_FALSE(alarm("region.lost > 1%").look(s));
}

TEST_CASE("of a dump time lost is that of the whole run, and nothing has to last") {
  Snapshot s = job();
  at(s, 10);
  s.ranks[1].late_sender_s = 16;        // of 8 ranks for 10 s: 20 %
  s.regions[1].collective_wait_s = 12;  // of 4 ranks: 30 %
  const auto says = [&](const std::string& text) {
    Alarm one = alarm(text);
    one.only_one();
    return one.look(s).value_or("no");
  };
  CHECK(says("lost > 19% for 60s") == "ranks were blocked for 20% of their time in the whole run");
  CHECK(says("lost > 21%") == "no");
  CHECK(says("region.lost > 29%") == "region 4 (ranks 4-7) has lost 30% of its ranks' time in the whole run");
  CHECK(says("region.lost > 31%") == "no");
  CHECK(alarm("deadlock").must_look_s() == 0);
  CHECK(alarm("region.lost > 20% for 60s").must_look_s() >= 61);
}

TEST_CASE("ranks inside a call, ratios, findings, deadlocks, drops") {
  Snapshot s = job();
  at(s, 10);
  for (const char* text : {"rank.inside > 1s", "region.ratio > 3", "finding", "deadlock", "dropped"})
    CHECK_FALSE(alarm(text).look(s));
  s.ranks[5].call_for_s = 40;  // outside MPI
  s.ranks[6].call_function = 1;
  s.ranks[6].call_for_s = 35;
  CHECK(alarm("rank.inside > 30s").look(s)->find("rank 6 has been inside MPI_") == 0);
  CHECK_FALSE(alarm("rank.inside > 36s").look(s));
  s.regions[0].history_ratio = {9, 2, 0};
  s.regions[1].history_ratio = {1, 4, 0, 0};
  CHECK(*alarm("region.ratio > 3").look(s) == "region 4 (ranks 4-7) is 4.0x as slow as usual");
  CHECK_FALSE(alarm("region.ratio > 4").look(s));
  Finding f;
  f.cause = Cause::late_sender;
  f.ranks = {6};
  f.confidence = 0.7;
  s.attribution.findings = {f};
  CHECK_FALSE(alarm("finding").look(s));  // it acts no more
  s.attribution.findings[0].open = true;
  CHECK(alarm("finding").look(s)->find("late-sender since") == 0);
  CHECK_FALSE(alarm("finding > 0.7").look(s));
  s.attribution.findings[0].cause = Cause::unknown;
  CHECK_FALSE(alarm("finding").look(s));
  s.deadlocks.push_back({1, 2, false, std::vector<DeadlockMember>(3)});
  CHECK(alarm("deadlock").look(s)->find("3 ranks") != std::string::npos);
  s.messages.dropped_events = 5;
  CHECK(*alarm("dropped").look(s) == "5 events were dropped");
  CHECK_FALSE(alarm("dropped > 5").look(s));
}

TEST_CASE("metrics are OpenMetrics text") {
  Snapshot s = test::eventful_snapshot();
  s.job = "odd \"name\"\\\n";
  for (const char* name : {"a \"part\"", "\x01", "\x02"}) {
    Marker& marker = s.markers.emplace_back();
    marker.name = name;
    marker.time_s = 5;
    marker.mpi_s = 2;
  }
  const std::string text = alarms::metrics_text(s, true);
  std::istringstream in(text);
  std::string line, family, type;
  int samples = 0;
  bool over = false;
  while (std::getline(in, line)) {
    INFO(line);
    CHECK_FALSE(over);
    if (line == "# EOF") {
      over = true;
    } else if (line.rfind("# TYPE ", 0) == 0) {
      std::istringstream words(line.substr(7));
      std::string before = family;
      words >> family >> type;
      CHECK(before != family);
      CHECK((type == "gauge" || type == "counter"));
    } else if (line.rfind("# ", 0) == 0) {
      CHECK(line.find(" " + family + " ") != std::string::npos);
      if (line.rfind("# UNIT ", 0) == 0) CHECK(family.ends_with("_" + line.substr(line.rfind(' ') + 1)));
    } else {
      const std::string name = type == "counter" ? family + "_total" : family;
      CHECK(line.rfind(name + "{job=\"odd \\\"name\\\"\\\\", 0) == 0);
      const double value = std::stod(line.substr(line.rfind(' ')));
      CHECK(value >= 0);
      ++samples;
    }
  }
  CHECK(over);
  CHECK(samples > 20);
  CHECK(text.find("pclscope_up{") != std::string::npos);
  CHECK(text.find(",marker=\"a \\\"part\\\"\",inside=\"computation\"} 3\n") != std::string::npos);
  const std::string same = ",marker=\"?\",inside=\"mpi\"} 2\n";
  CHECK(text.find(same) != std::string::npos);
  CHECK(text.find(same) == text.rfind(same));
}

TEST_CASE("the file is replaced in one step, or the reason is said") {
  const std::string path = std::string("alarms_test_metrics.") + std::to_string(::getpid());
  REQUIRE(alarms::replace_file(path, "first\n"));
  REQUIRE(alarms::replace_file(path, "second\n"));
  std::string text;
  std::getline(std::ifstream(path), text);
  CHECK(text == "second");
  ::unlink(path.c_str());
  const Status status = alarms::replace_file("no/such/folder/file", "x");
  REQUIRE_FALSE(status);
  CHECK(status.error().message.find("cannot write no/such/folder/file: ") == 0);
}
