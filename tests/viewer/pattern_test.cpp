// A run whose pattern of communication changed: present regions first, ended ones with their interval.
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "tests/viewer/hand_made.hpp"
#include "viewer/session/regions.hpp"
#include "viewer/session/summary_json.hpp"
#include "viewer/views/evolution_rows.hpp"
#include "viewer/views/pattern_lines.hpp"
#include "viewer/views/summary_tables.hpp"
#include "viewer/views/watch_page.hpp"

using namespace pclscope;
using Catch::Matchers::Contains;
using Lines = std::vector<std::string>;

namespace {

// Regions 1 and 7 since 12.3 s, before them 0 from the beginning.
Snapshot changed() {
  Snapshot s = test::hand_made_snapshot();
  for (Region& region : s.regions) {
    region.from_s = 12.3;
    region.parent = 0;
  }
  Region before;
  before.id = 0;
  before.ranks = {0, 1, 2, 3, 4, 5};
  before.until_s = 12.3;
  before.messages = 42;
  s.ended_regions = {before};
  s.pattern.modularity = 0.65;
  s.pattern.chance_modularity = 0.34;
  return s;
}

std::string joined(const Lines& lines) {
  std::string text;
  for (const std::string& line : lines) text += line + "\n";
  return text;
}

}  // namespace

TEST_CASE("a change of pattern is a line, in the summary, for watch and as JSON") {
  const Snapshot s = changed();
  CHECK(views::pattern_change_lines(s) == Lines{"pattern changed at 12.3 s: regions 0 ended, 1,7 began"});
  CHECK(views::pattern_change_lines(test::hand_made_snapshot()).empty());
  const std::string summary = joined(views::summary_lines(s, "", 100));
  CHECK_THAT(summary, Contains("2 now, 1 ended; modularity 0.65, random graphs have 0.34"));
  CHECK_THAT(summary, Contains("pattern changed at 12.3 s"));
  CHECK_THAT(joined(views::header_lines(s, {})), Contains("pattern changed at 12.3 s"));
  const session::Json json = session::summary_json(s);
  CHECK(json["pattern_changes"] == session::Json::parse(R"([{"at_s": 12.3, "ended": [0], "began": [1, 7]}])"));
  CHECK(json["ended_regions"][0]["until_s"] == 12.3);
  CHECK(json["regions"][0]["parent"] == 0);
}

TEST_CASE("ended regions are found by number, and evolve after those of now") {
  const Snapshot s = changed();
  const auto found = session::find_region(s, 0);
  REQUIRE(found);
  CHECK((*found)->messages == 42);
  CHECK_FALSE(session::find_region(s, 3));
  const std::vector<views::RegionEvolution> all = views::evolution_of(s, {});
  REQUIRE(all.size() == 3);
  CHECK(all.back().region.id == 0);
  CHECK_THAT(joined(views::evolution_lines(all, 0, {})), Contains("region 0, ranks 0-5, 0 s to 12.3 s: 42 messages"));
  CHECK(views::interval_text(s.regions[0]) == "since 12.3 s");
}
