// The page of a report: nothing foreign is markup, its pictures have numbers only, and it stays small.
#include "viewer/report/report.hpp"

#include <catch2/catch.hpp>
#include <limits>
#include <random>

#include "analysis/density/packing.hpp"
#include "tests/analysis/wire/random_snapshot.hpp"
#include "tests/thinned.hpp"
#include "tests/viewer/fake_run.hpp"
#include "tests/viewer/hand_made.hpp"
#include "viewer/report/html.hpp"
#include "viewer/report/plot.hpp"

using namespace pclscope;

namespace {

report::Run run_of(const Snapshot& s) {
  report::Run run;
  run.name = "run.h5";
  run.snapshot = s;
  run.evolution = views::live_evolution(s);
  run.efficiencies = {{views::EfficiencyRow::Scope::job, -1, efficiency::efficiency_of(s), {}}};
  return run;
}

bool has(const std::string& text, std::string_view words) { return text.find(words) != std::string::npos; }

// Values of an attribute, all over the page.
std::vector<std::string> values_of(const std::string& page, const std::string& attribute) {
  std::vector<std::string> values;
  const std::string begin = " " + attribute + "=\"";
  for (std::size_t at = page.find(begin); at != std::string::npos; at = page.find(begin, at + 1)) {
    const std::size_t from = at + begin.size();
    values.push_back(page.substr(from, page.find('"', from) - from));
  }
  return values;
}

// Every "<" begins a tag or a comment.
bool is_markup(const std::string& page) {
  for (std::size_t at = page.find('<'); at != std::string::npos; at = page.find('<', at + 1)) {
    const char next = at + 1 < page.size() ? page[at + 1] : ' ';
    if (std::isalpha(static_cast<unsigned char>(next)) == 0 && next != '/' && next != '!') return false;
  }
  return true;
}

}  // namespace

TEST_CASE("foreign text is no markup") {
  CHECK(report::escaped("a<b> & \"c\" 'd'") == "a&lt;b&gt; &amp; &quot;c&quot; &#39;d&#39;");
  CHECK(report::escaped("\033[2J") == "?[2J");
  CHECK(report::number("x.<y>", 1.5, "<1.5>") == "<data data-field=\"x.&lt;y&gt;\" value=\"1.5\">&lt;1.5&gt;</data>");
  CHECK(report::number("x", session::finite(std::numeric_limits<double>::quiet_NaN()), "-") == "-");
}

TEST_CASE("coordinates are short, and numbers whatever they are made of") {
  CHECK(report::coordinate(12.04) == "12");
  CHECK(report::coordinate(12.06) == "12.1");
  CHECK(report::coordinate(-0.01) == "0");
  CHECK(report::coordinate(std::numeric_limits<double>::infinity()) == "0");
}

TEST_CASE("steps of an axis are round and inside") {
  CHECK(report::round_steps(0, 10, 5) == std::vector<double>{0, 2, 4, 6, 8, 10});
  CHECK(report::round_steps(3, 9.5, 3) == std::vector<double>{5});
  CHECK(report::round_steps(-1, 1, 2) == std::vector<double>{-1, 0, 1});
  CHECK(report::round_steps(1, 1, 5).empty());
}

TEST_CASE("a page has the answer, the findings with their evidence and advice, and what was not measured") {
  Snapshot s = test::fake_snapshot({});
  s.finished = true;
  s.messages.dropped_events = 1234;
  for (RankSummary& r : s.ranks) r.threads = 1, r.call_function = 0, r.mpi_s = r.late_sender_s = s.duration_s / 4;
  s.attribution.findings[0].gain_s = 4;
  s.attribution.findings[0].periods = {{10, 12, 5}, {15, 20, 7.5}};
  const std::string page = report::page(run_of(s), "1.2");
  CHECK(has(page, "The ranks spent 25% of their time in MPI"));
  CHECK(has(page, "1. region 2 (ranks 8-11): late-sender (computation)"));
  for (const Finding& f : s.attribution.findings) {
    for (const std::string& sentence : f.evidence) CHECK(has(page, report::escaped(sentence)));
    CHECK(has(page, report::escaped(f.advice)));
  }
  CHECK(has(page, "data-field=\"findings.0.periods.1.lost_s\" value=\"7.5\""));
  CHECK(has(
      page,
      "without it the run takes 16.0 s, <data data-field=\"findings.0.gain_s\" value=\"4.0\">4.00 s</data> less (20%"));
  CHECK(has(page, "data-field=\"messages.dropped_events\" value=\"1234\">1,234</data> events lost"));
  CHECK(has(page, "pclscope 1.2, from run.h5"));
}

TEST_CASE("a call with little time is shown when much was lost there: less than 1 % is text") {
  Snapshot s = test::fake_snapshot({});
  s.finished = true;
  s.sites.clear();
  s.site_activity.clear();
  for (const std::uint32_t id : {1u, 2u}) {
    CallSite& site = s.sites.emplace_back();
    site.id = id;
    site.function = id == 1 ? "compute" : "exchange";
    site.line = id;
    site.mpi_function = static_cast<std::uint16_t>(record::Function::Send);
    SiteActivity& activity = s.site_activity.emplace_back();
    activity.site = id;
    activity.calls = 10;
    activity.inside_s = id == 1 ? 1000 : 1;
    activity.late_sender_s = id == 1 ? 0 : 50;
  }
  const std::string page = report::page(run_of(s), "");
  CHECK(has(page, "<td>100%</td>"));
  CHECK(has(page, "<td>&lt;1%</td>"));
  CHECK(is_markup(page));
}

TEST_CASE("a gain that is not known, or is all of the run, is not told") {
  Snapshot s = test::fake_snapshot({});
  CHECK_FALSE(has(report::page(run_of(s), ""), "without it the run takes"));
  s.attribution.findings[0].gain_s = s.duration_s;
  CHECK_FALSE(has(report::page(run_of(s), ""), "without it the run takes"));
}

TEST_CASE("colours: by harm once a cause is found, else by the latency ratio") {
  Snapshot s = test::fake_snapshot({});
  CHECK(has(report::regions_picture(s), "coloured by their typical latency ratio"));
  s.ranks[9].delay_caused_s = s.duration_s;
  CHECK(has(report::regions_picture(s), "coloured by the delay that they caused"));
  CHECK(has(report::regions_picture(s), "Region 2 delays others most."));
  for (RankSummary& r : s.ranks) r.delay_caused_s = 1;
  CHECK(has(report::regions_picture(s), "All regions are alike."));
  s.attribution.findings.clear();
  CHECK(has(report::regions_picture(s), "coloured by their typical latency ratio"));
}

TEST_CASE("a page of 16,384 ranks has less than 2 MB") {
  Snapshot s = test::fake_snapshot({.ranks = 16384, .regions = 128});
  for (RankSummary& r : s.ranks)
    r.threads = 1, r.mpi_s = r.late_sender_s = 0.001 * (r.rank % 100), r.delay_caused_s = 0.1 * (r.rank % 50);
  CHECK(report::page(run_of(s), "").size() < 2'000'000);
}

TEST_CASE("functions over time: of every call where the dump has them, else of the newest windows") {
  Snapshot s;
  s.application.ranks = 2;
  s.duration_s = 16.0 * (1 << 20) * 1e-9;
  s.live.window_s = s.duration_s / 2;
  s.functions = {{300, 5, 0.5, 0, {0.5f, 0.25f}}};
  CHECK(has(report::functions_picture(s), "over the last 16.8 ms"));
  CallDensity d;  // half of the ranks in the first half of the run, as one wide box
  for (std::uint32_t slice = 0; slice < 8; ++slice) d.inside.push_back({-1, 300, slice, 1u << 20});
  s.call_density = density::pack(d);
  const std::string picture = report::functions_picture(s);
  CHECK(has(picture, "every call but MPI_Init and MPI_Finalize; what is empty is computation"));
  CHECK(has(picture, "MPI_Recv"));
  std::size_t boxes = 0;
  for (std::size_t at = picture.find("V150z"); at != std::string::npos; at = picture.find("V150z", at + 1)) ++boxes;
  CHECK(boxes == 8);
}

TEST_CASE("numbers of ranks that cannot be") {
  Snapshot s = test::fake_snapshot({});
  for (const std::int32_t ranks : {INT32_MAX, INT32_MIN}) {
    s.application.ranks = ranks;
    s.ranks[3].rank = ranks;
    s.ranks[4].delay_caused_s = 1;
    s.regions[0].ranks = {0, 1, 2, ranks};
    report::Run run = run_of(s);
    run.compared = report::Compared{{"a", s, {}, true}, {"b", s, {}, true}, {}};
    run.compared->changes = views::compare(run.compared->before, run.compared->now);
    CHECK(has(report::page(run, ""), "</html>"));
  }
}

TEST_CASE("whatever a snapshot holds, pictures have numbers only") {
  for (unsigned seed = 1; seed <= test::thinned(60u); ++seed) {
    Snapshot s = testing::RandomSnapshot(seed).make();
    static const double bad[] = {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity(),
                                 -1e300, 0};
    std::mt19937 choose(seed);
    const auto spoil = [&](double& value) {
      if (choose() % 3 == 0) value = bad[choose() % std::size(bad)];
    };
    if (seed % 2 == 0) {
      spoil(s.duration_s);
      spoil(s.live.window_s);
      for (RankSummary& r : s.ranks) spoil(r.delay_caused_s), spoil(r.mpi_s), spoil(r.late_sender_s);
      for (Region& r : s.regions) spoil(r.typical_ratio), spoil(r.late_sender_s);
      for (AttributionSlice& slice : s.attribution.slices)
        spoil(slice.begin_s), spoil(slice.length_s), spoil(slice.wait_s);
    }
    const std::string page = report::page(run_of(s), "");
    CHECK(is_markup(page));
    for (const char* attribute : {"d", "x", "y", "r", "cx", "cy", "width", "height", "viewBox"})
      for (const std::string& value : values_of(page, attribute))
        if (value.find_first_not_of("0123456789.- MLHVhz") != std::string::npos) FAIL(attribute << " " << value);
    SUCCEED();
  }
}
