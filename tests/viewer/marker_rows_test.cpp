// Markers as lines, objects and rows; their efficiencies; names that are not to be trusted.
#include "viewer/views/marker_rows.hpp"

#include <catch2/catch.hpp>
#include <limits>
#include <nlohmann/json.hpp>

#include "analysis/efficiency/efficiency.hpp"
#include "viewer/views/efficiency_rows.hpp"
#include "viewer/views/finding_rows.hpp"

using namespace pclscope;

namespace {

Marker solve() {
  Marker m;
  m.name = "solve";
  m.ranks = 4, m.lowest_rank = 2, m.highest_rank = 5;
  m.begin_s = 1, m.end_s = 9;
  m.times = 40, m.iterations = 40, m.lowest_iteration = 1, m.highest_iteration = 10;
  m.time_s = 20, m.mpi_s = 8, m.most_s = 6, m.most_useful_s = 4, m.most_useful_rank = 3;
  return m;
}

Snapshot with(std::vector<Marker> markers) {
  Snapshot s;
  s.finished = true;
  s.markers = std::move(markers);
  return s;
}

}  // namespace

TEST_CASE("markers as lines") {
  Marker open = solve();
  open.name = "some";
  open.highest_rank = 9, open.iterations = 0, open.cut = 1, open.inside = 2;
  Snapshot s = with({solve(), open});
  auto lines = views::marker_lines(s, 0);
  REQUIRE(lines.size() == 4);
  CHECK(lines[1].find("2-5") != std::string::npos);
  CHECK(lines[1].find("1 to 10") != std::string::npos);
  CHECK(lines[1].find("40%") != std::string::npos);
  CHECK(lines[2].find("4 of 2-9") != std::string::npos);
  CHECK(lines[3].find("1 end was not recorded") == 0);
  s.finished = false;
  CHECK(views::marker_lines(s, 0).back() == "ranks that are inside now count so far");
  CHECK(views::marker_lines(with({}), 0)[0].find("no markers") == 0);
}

TEST_CASE("markers as objects and rows") {
  Marker one = solve();
  one.iterations = 0;
  const Snapshot s = with({solve(), one});
  const auto json = views::markers_json(s);
  REQUIRE(json.size() == 2);
  CHECK(json[0]["name"] == "solve");
  CHECK(json[0]["in_mpi"] == 0.4);
  CHECK(json[0]["highest_iteration"] == 10);
  CHECK(json[1]["highest_iteration"].is_null());
  const auto rows = views::marker_rows(s);
  REQUIRE(rows.cells.size() == 2);
  CHECK(rows.titles[0] == "name");
  CHECK(rows.cells[0].size() == rows.titles.size());
}

TEST_CASE("a part's efficiency, on paper") {
  const Efficiency e = efficiency::efficiency_of(solve(), {});
  CHECK(e.ranks == 4);
  CHECK(e.runtime_s() == 6);
  CHECK(e.parallel() == Approx(3.0 / 6));
  CHECK(e.load_balance() == Approx(3.0 / 4));
  CHECK(e.communication() == Approx(4.0 / 6));
  CHECK_FALSE(e.ideal_known());
  Marker threads = solve();
  threads.threads = true;
  CHECK_FALSE(efficiency::efficiency_of(threads, {}).known());
  CHECK_FALSE(efficiency::efficiency_of(Marker{}, {}).known());
}

TEST_CASE("a finding names the shortest part that it acted in, where each rank was in it once") {
  Snapshot s = with({solve(), solve(), solve()});
  s.ranks.resize(4);
  for (Marker& m : s.markers) m.times = m.ranks;
  s.markers[0].name = "run", s.markers[0].begin_s = 0, s.markers[0].end_s = 20;
  s.markers[2].name = "step", s.markers[2].times = 40;  // nobody knows when
  Finding f;
  f.cause = Cause::late_sender;
  f.begin_s = 0.5, f.end_s = 8;  // 7 of 7.5 s in "solve"
  REQUIRE(views::marker_of(f, s) != nullptr);
  CHECK(views::marker_of(f, s)->name == "solve");
  CHECK(views::finding_line(f, s, {}).find(", in \"solve\", confidence") != std::string::npos);
  f.begin_s = 0;  // 7 of 8
  CHECK(views::marker_of(f, s)->name == "run");
  f.periods = {{1, 2, 1}, {8, 9, 1}};
  f.begin_s = 1, f.end_s = 9;
  CHECK(views::marker_of(f, s)->name == "solve");
  f.periods = {{1, 2, 1}, {30, 31, 1}};
  CHECK(views::marker_of(f, s) == nullptr);
  f.periods.clear();
  s.markers[1].cut = 1;
  CHECK(views::marker_of(f, s)->name == "run");
  s.ranks.resize(5);  // one rank was in none
  CHECK(views::marker_of(f, s) == nullptr);
  CHECK(views::finding_line(f, s, {}).find(", in ") == std::string::npos);
}

TEST_CASE("a name from the program, and numbers of a damaged file, do no harm") {
  Marker odd = solve();
  odd.name = "\x1b[2J\xff\nrow";
  odd.begin_s = odd.time_s = odd.mpi_s = odd.most_s = std::numeric_limits<double>::quiet_NaN();
  odd.most_useful_s = -std::numeric_limits<double>::infinity();
  const Snapshot s = with({odd});
  const auto lines = views::marker_lines(s, 80);
  REQUIRE(lines.size() == 2);
  CHECK(lines[1].find("?[2J??row") == 0);
  CHECK_FALSE(session::to_text(views::markers_json(s), false).empty());
  const views::EfficiencyRow row{
      views::EfficiencyRow::Scope::marker, -1, efficiency::efficiency_of(odd, {}), {}, odd.name};
  CHECK(views::name_of(row) == "marker ?[2J??row");
  CHECK(views::efficiency_json(row)["parallel"].is_null());
}
