// Findings as people and programs read them.
#include "viewer/views/finding_rows.hpp"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "viewer/text/printable.hpp"
#include "viewer/views/watch_page.hpp"

using namespace pclscope;

namespace {

Snapshot slow_job() {
  Snapshot s;
  s.application.ranks = 32;
  s.application.nodes = {"n0", "n1", "n2"};
  s.regions.resize(1);
  s.regions[0].id = 3;
  for (std::int32_t rank = 16; rank < 32; ++rank) s.regions[0].ranks.push_back(rank);
  CallSite site;
  site.id = 7;
  site.file = "/src/solver.f90";
  site.line = 812;
  s.sites.push_back(site);
  Finding late;
  late.cause = Cause::late_sender;
  late.region = 3;
  late.ranks = {17};
  late.site = 7;
  late.begin_s = 133;
  late.end_s = 200;
  late.open = true;
  late.score = 0.21;
  late.confidence = 0.9;
  late.lost_s = 42;
  late.evidence = {"rank 17 computes 3.1 times as long as the others"};
  late.advice = "look at solver.f90:812";
  Finding slow;
  slow.cause = Cause::background;
  slow.nodes = {2, 0, 2, 1};
  slow.begin_s = 10;
  slow.end_s = 20;
  slow.confidence = 0.7;
  slow.lost_s = 5;
  Finding doubtful;
  doubtful.cause = Cause::pattern;
  doubtful.detail = "many to one";
  doubtful.confidence = 0.3;
  s.attribution.findings = {late, slow, doubtful};
  return s;
}

}  // namespace

TEST_CASE("a finding is one line: where, what, since when, how much, who and how sure") {
  const Snapshot s = slow_job();
  const views::Sites sites(s.sites);
  CHECK(views::finding_line(s.attribution.findings[0], s, sites) ==
        "region 3 (ranks 16-31): late-sender since 02:13 (42.0 s of ranks' time, 21%), rank 17 at solver.f90:812, "
        "confidence 0.90");
  Finding elsewhere = s.attribution.findings[0];
  elsewhere.ranks = {3};
  CHECK(views::finding_line(elsewhere, s, sites).find("felt in region 3 (ranks 16-31): late-sender") == 0);
  CHECK(views::finding_line(s.attribution.findings[1], s, sites).find("background from 10.0 s to 20.0 s") == 0);
  CHECK(views::finding_line(s.attribution.findings[1], s, sites).find("from n2 to n0 and n2 to n1, confidence 0.70") !=
        std::string::npos);
  CHECK(views::finding_line(s.attribution.findings[2], s, sites).find("pattern (many to one)") == 0);
  Finding nothing;
  nothing.confidence = 0.8;
  CHECK(views::finding_line(nothing, s, sites).find("no cause to name") == 0);
}

TEST_CASE("watch shows what is to be believed, with what to do, and only that") {
  Snapshot s = slow_job();
  CHECK(views::findings_to_show(s) == 2);
  const auto lines = views::finding_section(s, views::Sites(s.sites), 10);
  REQUIRE(lines.size() == 3);
  CHECK(lines[0].find("why: region 3") == 0);
  CHECK(lines[1] == "     => look at solver.f90:812");
  CHECK(lines[2].find("why: background") == 0);
  CHECK(views::finding_section(s, views::Sites(s.sites), 1).size() == 1);
  s.attribution.findings[0].open = false;
  s.attribution.findings[1].open = true;  // what acts now goes first
  CHECK(views::finding_section(s, views::Sites(s.sites), 10)[0].find("why: background") == 0);
  s.attribution.findings.clear();
  CHECK(views::finding_section(s, views::Sites(s.sites), 10).empty());
}

TEST_CASE("JSON and CSV have every finding in its order, with the names of scripts") {
  const Snapshot s = slow_job();
  const views::Sites sites(s.sites);
  const session::Json all = views::findings_json(s, sites)["findings"];
  REQUIRE(all.size() == 3);
  CHECK(all[0]["cause"] == "late-sender");
  CHECK(all[0]["region"] == 3);
  CHECK(all[0]["ranks"] == session::Json::array({17}));
  CHECK(all[0]["site"] == "/src/solver.f90:812");
  CHECK(all[0]["period"]["open"] == true);
  CHECK(all[1]["nodes"][1]["to"] == "n1");
  CHECK(all[1]["region"].is_null());
  CHECK(all[2]["detail"] == "many to one");
  const views::Rows rows = views::finding_rows(s, sites, views::all_findings(s));
  REQUIRE(rows.cells.size() == 3);
  for (const auto& row : rows.cells) CHECK(row.size() == rows.titles.size());
  CHECK(views::cause_word(static_cast<Cause>(99)) == std::string("unknown"));
}

TEST_CASE("findings of some ranks and of a period keep their numbers") {
  Snapshot s = slow_job();
  s.attribution.findings[1].ranks = {3};
  s.attribution.findings[2].begin_s = 30;
  s.attribution.findings[2].end_s = 60;
  s.attribution.findings[2].periods = {{30, 40, 1}, {50, 60, 1}};
  s.attribution.findings[2].region = 3;
  using views::Places;
  constexpr double ever = 1e9;
  CHECK(views::findings_of(s, {}, -ever, ever) == views::all_findings(s));
  CHECK(views::findings_of(s, {3}, -ever, ever) == Places{1});
  CHECK(views::findings_of(s, {17}, -ever, ever) == Places{0, 2});  // the last one names no rank, but its region does
  CHECK(views::findings_of(s, {2, 3}, 21, ever).empty());
  CHECK(views::findings_of(s, {}, 42, 48).empty());  // between the two periods of the last one
  CHECK(views::findings_of(s, {}, 35, 45) == Places{2});
  CHECK(views::findings_of(s, {}, 500, 600) == Places{0});  // open: it still acts
  const views::Sites sites(s.sites);
  CHECK(views::findings_json(s, sites, {1})["findings"][0]["number"] == 2);
  CHECK(views::finding_lines(s, sites, 0, {1}).front().starts_with("2. background"));
  CHECK(views::finding_lines(s, sites, 0, {}).front() == "none of the 3 findings of the run");
  CHECK(views::finding_breakpoints(s, sites, {1}).front().starts_with("# 2. background"));
}

TEST_CASE("evidence and advice are folded into the terminal's width, nothing is lost") {
  Snapshot s = slow_job();
  s.attribution.findings[0].evidence = {"many words that say why this is so and not otherwise, over and over again"};
  const auto wide = views::finding_lines(s, views::Sites(s.sites), 0, views::all_findings(s));
  for (const std::size_t width : {30u, 40u, 80u}) {
    std::string joined, expected;
    for (const std::string& line : views::finding_lines(s, views::Sites(s.sites), width, views::all_findings(s))) {
      CHECK(text::display_width(line) <= width);
      for (const char c : line) joined += c == ' ' ? "" : std::string(1, c);
    }
    for (const std::string& line : wide)
      for (const char c : line) expected += c == ' ' ? "" : std::string(1, c);
    CHECK(joined == expected);
  }
}

TEST_CASE("findings are breakpoints for gdb") {
  Snapshot s = slow_job();
  const auto lines = views::finding_breakpoints(s, views::Sites(s.sites), views::all_findings(s));
  REQUIRE(lines.size() == 4);
  CHECK(lines[0].find("# 1. region 3") == 0);
  CHECK(lines[1] == "break -source \"/src/solver.f90\" -line 812");
  CHECK(lines[2].find("# 2. background") == 0);
  CHECK(lines[3] == "# it has no line of code");
  CHECK(views::finding_breakpoints(s, views::Sites(s.sites), views::all_findings(s), true).size() == 6);
  s.sites[0].line = 0;
  s.sites[0].function = "step(int)";
  CHECK(views::finding_breakpoints(s, views::Sites(s.sites), views::all_findings(s))[1] ==
        "break -function \"step(int)\"");
  CHECK(views::finding_breakpoints({}, {}, {}) == std::vector<std::string>{"# no findings"});
}

TEST_CASE("findings that are not to be believed are folded behind those that are") {
  Snapshot s = slow_job();
  const views::Sites sites(s.sites);
  for (Finding& f : s.attribution.findings) f.confidence = 0.5;  // the first one is the answer, whatever it is
  const auto joined = [&](bool weaker) {
    std::string text;
    for (const std::string& line : views::finding_lines(s, sites, 0, views::all_findings(s), weaker))
      text += line + "\n";
    return text;
  };
  CHECK(joined(false).find("1. ") != std::string::npos);
  CHECK(joined(false).find("2. ") == std::string::npos);
  CHECK(joined(false).find("and 2 weaker, of confidence 0.50 and less (--limit 3 shows them)") != std::string::npos);
  CHECK(joined(true).find("3. ") != std::string::npos);
  CHECK(joined(true).find("weaker") == std::string::npos);
  s.attribution.findings[2].confidence = 0.51;
  CHECK(joined(false).find("3. ") != std::string::npos);
  CHECK(joined(false).find("and 1 weaker") != std::string::npos);
}

TEST_CASE("the measures over time and traffic are tables") {
  Attribution a;
  CHECK(views::attribution_lines(a, 80).size() == 1);
  a.slices = {{0, 0.5, 10, 20, 0.1, 1, 2, 3, 4, 0.5}, {0.5, 0.5, 11, 21, 0.1, 1, 2, 3, 4, 0.5}};
  a.transfer_lines = {{100, 150, 41, false, {1, 3.5}}, {0, 50, 3, true, {1, 1}}};
  const auto lines = views::attribution_lines(a, 0);
  REQUIRE(lines.size() == 7);
  CHECK(lines[5].find("at most 3.5x the usual, at 500 ms") != std::string::npos);
  CHECK(lines[6].find("(calm)") != std::string::npos);
  CHECK(views::attribution_json(a)["transfer_lines"][0]["normalised"][1] == 3.5);
  CHECK(views::attribution_rows(a).cells.size() == 2);
  const std::vector<PairTraffic> traffic = {{0, 1, 5, 100}, {1, 0, 6, 200}};
  CHECK(views::traffic_lines(traffic)[0] == "# pclscope traffic 1");
  CHECK(views::traffic_lines(traffic)[3] == "1 0 6 200");
  CHECK(views::traffic_json(traffic)["traffic"][1]["bytes"] == 200);
}
