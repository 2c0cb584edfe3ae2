// Two runs side by side: what is told as a change, and what as noise.
#include "viewer/views/comparison.hpp"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>
#include <random>

#include "tests/analysis/wire/random_snapshot.hpp"
#include "tests/thinned.hpp"
#include "viewer/text/printable.hpp"

using namespace pclscope;
using views::ComparedRun;
using views::Fate;

namespace {

// 4 ranks in two regions, 32 windows with 100 messages each, more or less by `noise` in turn.
ComparedRun run(double duration_s = 10, std::uint64_t noise = 0) {
  ComparedRun r;
  r.name = "run.h5";
  Snapshot& s = r.snapshot;
  s.finished = true;
  s.duration_s = duration_s;
  s.application.ranks = 4;
  s.application.command = "./app";
  s.messages.matched = 4000;
  for (std::int32_t rank = 0; rank < 4; ++rank) {
    RankSummary& summary = s.ranks.emplace_back();
    summary.rank = rank;
    summary.threads = 1;
    summary.begin_s = 0;
    summary.end_s = duration_s;
  }
  s.regions.resize(2);
  s.regions[0].id = 0, s.regions[1].id = 1;
  s.regions[0].ranks = {0, 1}, s.regions[1].ranks = {2, 3};
  for (int i = 0; i < 32; ++i) {
    Window& w = r.windows.emplace_back();
    w.begin_s = i * duration_s / 32;
    w.length_s = duration_s / 32;
    w.all.messages = 100 + (i % 2 == 0 ? noise : -noise);
    for (const std::int32_t id : {0, 1}) {
      RegionWindow& sums = w.regions.emplace_back();
      sums.region = id;
      sums.messages = 50;
    }
  }
  return r;
}

Finding late(std::int32_t rank, double lost_s, double confidence = 0.9) {
  Finding f;
  f.cause = Cause::late_sender;
  f.ranks = {rank};
  f.lost_s = lost_s;
  f.confidence = confidence;
  return f;
}

std::vector<Fate> fates(const views::Comparison& c) {
  std::vector<Fate> list;
  for (const views::ComparedFinding& f : c.findings) list.push_back(f.fate);
  return list;
}

}  // namespace

TEST_CASE("noise: neighbours tell, slow changes and steps do not") {
  CHECK_FALSE(views::noise_of({1, 2, 1, 2, 1}));
  CHECK(*views::noise_of({3, 3, 3, 3, 3, 3}) == 0);
  CHECK(*views::noise_of({1, 1, 1, 1, 5, 5, 5, 5}) == 0);  // a step
  // Neighbours differ by 2: deviation 1.4826 x 2 / sqrt 2, of the mean of 16 a quarter, twice that.
  CHECK(*views::noise_of({1, 3, 1, 3, 1, 3, 1, 3, 1, 3, 1, 3, 1, 3, 1, 3}) ==
        Approx(1.4826 * 2 / std::sqrt(2.0) / 4 * 2));
}

TEST_CASE("a run time that changed by more than the noise, and one that did not") {
  views::Comparison c = views::compare(run(10), run(8));
  CHECK(*c.measures[0].change() == Approx(-2));
  CHECK_FALSE(c.measures[0].within_noise());
  CHECK(views::comparison_sentences(c)[0] == "The run takes 8.00 s instead of 10.0 s: 20% less (noise ± 0 s).");
  c = views::compare(run(10, 60), run(8, 60));  // windows of 40 and 160 messages in turn
  CHECK(*c.measures[0].noise > 2);
  CHECK(c.measures[0].within_noise());
  CHECK(views::comparison_sentences(c)[0].starts_with(
      "The run takes about as long as before: 8.00 s instead of 10.0 s (noise"));
  CHECK(views::compare(run(10), run(10.4)).measures[0].within_noise());  // below 5 %
  CHECK_FALSE(views::compare(run(10), run(10.6)).measures[0].within_noise());
  CHECK(views::comparison_sentences(views::compare(run(8), run(10)))[0].find("25% more") != std::string::npos);
}

TEST_CASE("findings: gone, new, less, alike; weak ones of both runs are not told") {
  ComparedRun before = run(), now = run();
  before.snapshot.attribution.findings = {late(1, 8), late(2, 4), late(3, 4, 0.2)};
  now.snapshot.attribution.findings = {late(2, 3.9), late(0, 2), late(3, 4, 0.3)};
  views::Comparison c = views::compare(before, now);
  CHECK(fates(c) == std::vector{Fate::gone, Fate::alike, Fate::added});
  CHECK(c.findings[0].before_share == Approx(0.2));
  CHECK(views::comparison_sentences(c)[1] == "1 finding is gone, 1 is new.");
  CHECK(views::compared_finding_text(c.findings[0], before, now) ==
        "gone: late-sender, rank 1; cost 20% of ranks' time before, nothing now");
  // Of fewer ranks than before: said, for what the others cost is gone.
  ComparedRun two = before;
  two.snapshot.attribution.findings[0].ranks = {3, 1};
  ComparedRun one = now;
  one.snapshot.attribution.findings = {late(1, 8)};
  const views::Comparison fewer = views::compare(two, one);
  CHECK(views::compared_finding_text(fewer.findings[0], two, one) ==
        "alike: late-sender, rank 1 (before: ranks 1,3); cost 20% of ranks' time before, 20% now");
  now.snapshot.attribution.findings = {late(1, 2), late(2, 8)};
  CHECK(fates(views::compare(before, now)) == std::vector{Fate::less, Fate::more});
  // Weak now, but it was believed: told.
  now.snapshot.attribution.findings = {late(1, 8, 0.2), late(2, 4)};
  CHECK(fates(views::compare(before, now)) == std::vector{Fate::alike, Fate::alike});
  CHECK(views::comparison_sentences(views::compare(before, now))[1] == "No finding is gone, and none is new.");
}

TEST_CASE("regions are the same when most of their ranks are, whatever their numbers") {
  ComparedRun before = run(), now = run();
  now.snapshot.regions[0].id = 7;
  now.snapshot.regions[0].late_sender_s = 10;  // of 20 s
  now.snapshot.ranks[1].delay_caused_s = 5;
  const views::Comparison c = views::compare(before, now);
  REQUIRE(c.regions.size() == 2);
  CHECK(views::compared_ids(c.regions[0]) == "0 > 7");
  CHECK(*c.regions[0].waiting.change() == Approx(0.5));
  CHECK(*c.regions[0].harm.now == Approx(0.5));
  CHECK_FALSE(c.regions[0].waiting.within_noise());
  CHECK(c.regions[1].waiting.within_noise());
  now.snapshot.regions[0].ranks = {0, 2, 3};
  now.snapshot.regions[1].ranks = {1};
  const views::Comparison other = views::compare(before, now);
  CHECK(other.regions.size() == 3);  // {0, 2, 3} has most ranks of {2, 3}; {0, 1} and {1} stand alone
}

TEST_CASE("runs that can be compared in part only") {
  ComparedRun before = run(), now = run();
  now.snapshot.application.ranks = 8;
  now.snapshot.messages.matched = 8000;
  now.whole = false;
  const views::Comparison c = views::compare(before, now);
  CHECK(c.regions.empty());
  REQUIRE(c.remarks.size() == 3);
  CHECK(c.remarks[0] == "other numbers of ranks: 4 before, 8 now");
  CHECK(c.remarks[1] == "not the same work: 4,000 messages before, 8,000 now");
  CHECK(c.remarks[2] == "run.h5 is not whole: its sums are those of a part of the run");
}

TEST_CASE("a run compared with itself has not changed") {
  for (unsigned seed = 1; seed <= test::thinned(60u); ++seed) {
    ComparedRun r;
    r.snapshot = testing::RandomSnapshot(seed).make();
    const views::Comparison c = views::compare(r, r);
    CHECK(c.remarks.empty());
    for (const views::Measure& m : c.measures) CHECK((!m.change() || m.within_noise()));
    for (const views::ComparedFinding& f : c.findings) CHECK((f.fate == Fate::alike || f.before_share == f.now_share));
    for (const std::string& line : views::comparison_lines(c, r, r, 100)) CHECK(text::printable(line) == line);
    CHECK(views::comparison_json(c, r, r)["measures"].size() == c.measures.size());
  }
}
