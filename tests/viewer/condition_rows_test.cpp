// Conditions of a run as people and programs see them.
#include "viewer/views/condition_rows.hpp"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "viewer/views/finding_rows.hpp"
#include "viewer/views/watch_page.hpp"

using namespace pclscope;

namespace {

Snapshot with_conditions() {
  Snapshot s;
  s.application.ranks = 4;
  s.application.nodes = {"n1"};
  s.finished = true;
  Condition many;
  many.kind = ConditionKind::more_ranks_than_cores;
  many.node = 0;
  many.ranks_met = 4;
  many.ranks = {0, 1, 2, 3};
  many.cores = 2;
  many.begin_s = 1, many.end_s = 5, many.active_s = 4;
  many.cost_s = 7, many.in_mpi_s = 1;
  many.open = true;
  Condition foreign;
  foreign.kind = ConditionKind::other_load;
  foreign.node = 0;
  foreign.ranks_met = 1;
  foreign.ranks = {2};
  foreign.core = 3, foreign.cores = 1;
  foreign.begin_s = 2, foreign.end_s = 4, foreign.active_s = 2;
  foreign.cost_s = 1;
  foreign.load = foreign.process_load = 0.93;
  foreign.pid = 4711, foreign.process = "burn";
  s.conditions = {many, foreign};
  Finding finding;
  finding.cause = Cause::late_sender;
  finding.confidence = 0.8;
  finding.lost_s = 5;
  finding.end_s = 5;
  finding.advice = "Speed it up.";
  s.attribution.findings = {finding};
  for (std::int32_t rank = 0; rank < 4; ++rank) {
    RankSummary& r = s.ranks.emplace_back();
    r.rank = rank, r.threads = 1, r.running_s = 3, r.off_core_s = 2;
  }
  return s;
}

bool starts(const std::string& text, const std::string& with) { return text.rfind(with, 0) == 0; }

}  // namespace

TEST_CASE("a condition in a sentence") {
  Snapshot s = with_conditions();
  CHECK(
      views::condition_line(s.conditions[0], s) ==
      "more ranks than cores: 4 ranks (0-3) may use 2 cores of n1, from 1.0 s to 5.0 s: off the core 50% of the time, "
      "7.00 s of ranks' time while computing and 1.00 s inside MPI");
  CHECK(views::condition_advice(s.conditions[0], s) == "Start at most 2 ranks there, or take more cores.");
  CHECK(
      views::condition_line(s.conditions[1], s) ==
      "a foreign process, 4711 (burn), used 93% of core 3 of n1 that rank 2 runs on, from 2.0 s to 4.0 s: off the core "
      "50% of the time, 1.00 s of ranks' time while computing");
  s.conditions[1].process_load = 0.3;
  CHECK(views::condition_line(s.conditions[1], s).find("(burn), and others, used") != std::string::npos);
  s.conditions[1].process = "pclscope-aggreg";
  CHECK(starts(views::condition_line(s.conditions[1], s), "pclscope's own aggregator and others used 93%"));
  CHECK(starts(views::condition_advice(s.conditions[1], s), "Leave it a core"));
  s.conditions[1].pid = 0;
  s.conditions[1].process.clear();
  CHECK(starts(views::condition_line(s.conditions[1], s), "others than the job, which cannot be seen, used 93%"));
  s.conditions[1].load = 0;
  CHECK(views::condition_line(s.conditions[1], s).find("cannot be seen") != std::string::npos);
  Condition quota = s.conditions[0];
  quota.kind = ConditionKind::quota;
  quota.quota_cores = 0.5;
  quota.throttled_share = 0.41;
  CHECK(starts(views::condition_line(quota, s),
               "a quota of 0.5 cores for ranks 0-3 on n1, used up in 41% of its periods, from"));
  s.finished = false;
  CHECK(views::condition_line(quota, s).find(", since 1.0 s: ") != std::string::npos);
}

TEST_CASE("conditions stand before the causes when one of them costs more than every cause") {
  Snapshot s = with_conditions();
  const views::Sites sites(s.sites);
  CHECK(views::conditions_first(s));
  CHECK(starts(views::finding_lines(s, sites, 0, views::all_findings(s)).front(),
               "condition of the run: more ranks than cores"));
  CHECK(starts(views::finding_section(s, sites, 6).front(), "condition: more ranks than cores"));
  CHECK(views::findings_json(s, sites)["conditions_first"] == true);
  s.attribution.findings[0].lost_s = 7.5;
  CHECK_FALSE(views::conditions_first(s));
  CHECK(starts(views::finding_lines(s, sites, 0, views::all_findings(s)).front(), "1. late-sender"));
  CHECK(starts(views::finding_section(s, sites, 6).front(), "why: late-sender"));
  CHECK(views::finding_section(s, sites, 6).size() == 6);
  CHECK(starts(views::finding_section(s, sites, 6)[2], "condition: "));
  s.attribution.findings[0].cause = Cause::unknown;  // no cause
  CHECK(views::conditions_first(s));
  s.conditions.clear();
  CHECK_FALSE(views::conditions_first(s));
}

TEST_CASE("a list of conditions, and of whom nothing is known") {
  Snapshot s = with_conditions();
  const auto lines = views::condition_lines(s, 0);
  REQUIRE(lines.size() == 5);
  CHECK(starts(lines[0], "1. more ranks than cores"));
  CHECK(starts(lines[1], "   => Start"));
  CHECK(starts(lines[3], "2. a foreign process"));
  s.ranks[3].running_s = s.ranks[3].off_core_s = 0;
  CHECK(views::condition_lines(s, 0).back().find("of ranks 3 it is not known") != std::string::npos);
  s.conditions.clear();
  CHECK(starts(views::condition_lines(s, 0)[0], "no conditions: ranks had their cores"));
  s.ranks.clear();
  CHECK(views::condition_lines(s, 0).size() == 1);
}

TEST_CASE("conditions as objects and rows") {
  const Snapshot s = with_conditions();
  const auto json = views::conditions_json(s);
  REQUIRE(json.size() == 2);
  CHECK(json[0]["kind"] == "more-ranks-than-cores");
  CHECK(json[0]["node"] == "n1");
  CHECK(json[0]["core"].is_null());
  CHECK(json[0]["pid"].is_null());
  CHECK(json[0]["ranks"].size() == 4);
  CHECK(json[0]["cost_s"] == 7.0);
  CHECK(json[1]["process"] == "burn");
  CHECK(json[1]["pid"] == 4711);
  CHECK(json[1]["core"] == 3);
  CHECK(json[1]["sentence"] == views::condition_line(s.conditions[1], s));
  const auto rows = views::condition_rows(s);
  CHECK(rows.cells.size() == 2);
  CHECK(rows.cells[0].size() == rows.titles.size());
}
