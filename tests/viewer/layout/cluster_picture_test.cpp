// Rows, glyphs and the tree of the clustered timeline.
#include "viewer/layout/cluster_picture.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <map>
#include <random>

#include "tests/analysis/logical/programs.hpp"
#include "tests/analysis/logical/random_records.hpp"
#include "tests/seed.hpp"

using namespace pclscope;
using namespace pclscope::test;
using layout::ClusterGlyph;

namespace {

using Clusters = std::shared_ptr<const layout::PhaseClusters>;
using Ranks = std::vector<std::int32_t>;

Clusters cluster(const session::LogicalRun& run, std::size_t phase,
                 logical::Metric metric = logical::Metric::lateness) {
  return std::make_shared<const layout::PhaseClusters>(layout::cluster_phase(run.phases[phase], metric, run.ranks));
}

Ranks ranks_of_phase(const session::LogicalPhase& phase) {
  Ranks ranks;
  for (const logical::Part& part : phase.parts) ranks.push_back(part.rank);
  return ranks;
}

// Shares and means by going through all boxes of the row's ranks.
void check_row(const layout::PhaseClusters& of, const layout::ClusterRow& row) {
  const session::LogicalPhase& phase = *of.phase;
  const Ranks& ranks = of.tree.nodes[row.node].ranks;
  std::map<std::uint32_t, std::array<std::vector<double>, 3>> values;
  std::map<std::uint32_t, std::vector<double>> completed;
  for (std::uint32_t b = 0; b < phase.boxes.size(); ++b) {
    if (!std::binary_search(ranks.begin(), ranks.end(), phase.rank_of(b))) continue;
    const session::LogicalBox& box = phase.boxes[b];
    values[box.step][static_cast<std::size_t>(box.kind)].push_back(static_cast<double>(phase.value(box, of.metric)));
    if (box.kind == logical::Kind::receive)
      completed[box.step].push_back(static_cast<double>(phase.partners_of(box).size()));
  }
  const auto mean = [](const std::vector<double>& list) {
    double sum = 0;
    for (const double v : list) sum += v;
    return list.empty() ? 0 : sum / static_cast<double>(list.size());
  };
  REQUIRE(row.glyphs.size() == values.size());
  for (const ClusterGlyph& glyph : row.glyphs) {
    REQUIRE(values.count(glyph.step) == 1);
    double all = 0;
    for (std::size_t what = 0; what < 3; ++what) {
      const std::vector<double>& list = values[glyph.step][what];
      CHECK(static_cast<double>(glyph.share[what]) ==
            Approx(static_cast<double>(list.size()) / static_cast<double>(ranks.size())));
      CHECK(static_cast<double>(glyph.mean_ns[what]) == Approx(mean(list)).margin(1e-6));
      all += static_cast<double>(glyph.share[what]);
    }
    CHECK(all <= 1 + 1e-6);
    CHECK(static_cast<double>(glyph.completed) == Approx(mean(completed[glyph.step])));
  }
}

}  // namespace

TEST_CASE("glyphs are shares and means of their ranks, whatever is open") {
  const std::uint64_t seed = random_seed() + 5;
  CAPTURE(seed);
  std::mt19937_64 random(seed);
  for (int round = 0; round < 40; ++round) {
    const RandomRecords records = random_records(random, 300, round % 2 == 0);
    const session::LogicalRun run =
        session::run_of(logical_time_of(records.ranks, records.messages, records.collectives), records.ranks);
    for (std::size_t p = 0; p < run.phases.size(); p += 3) {
      const auto metric = static_cast<logical::Metric>(random() % 3);
      const Clusters clusters = cluster(run, p, metric);
      std::vector<std::uint32_t> open;
      for (std::uint32_t n = clusters->tree.clusters; n < clusters->tree.nodes.size(); ++n)
        if (random() % 3 != 0) open.push_back(n);
      const layout::ClusterPicture picture = layout::cluster_rows(clusters, open, std::nullopt);
      Ranks all;
      for (const layout::ClusterRow& row : picture.rows) {
        check_row(*clusters, row);
        const Ranks& ranks = clusters->tree.nodes[row.node].ranks;
        all.insert(all.end(), ranks.begin(), ranks.end());
      }
      std::sort(all.begin(), all.end());
      CHECK(all == ranks_of_phase(*run.phases[p]));  // each rank in one row
      CHECK(std::binary_search(picture.focus.begin(), picture.focus.end(), picture.focus_rank));
    }
  }
}

TEST_CASE("a closed tree is one row, an open one a row for each cluster") {
  const Grid grid{{4, 4, 8}};
  const session::LogicalRun run = session::run_of(
      logical_time_of(exchange(
          grid, 2, [](std::int32_t r, int i) { return 1'000'000 + (r >= 96 && i == 0 ? 500'000 + 1000 * r : 0); })),
      grid.size());
  const Clusters clusters = cluster(run, 0);
  REQUIRE(clusters->tree.clusters > 2);
  CHECK(layout::cluster_rows(clusters, {}, std::nullopt).rows.size() == 1);
  std::vector<std::uint32_t> all;
  for (std::uint32_t n = clusters->tree.clusters; n < clusters->tree.nodes.size(); ++n) all.push_back(n);
  CHECK(layout::cluster_rows(clusters, all, std::nullopt).rows.size() == clusters->tree.clusters);
  CHECK(layout::open_at_first(clusters->tree, 3).size() == 2);
  CHECK(layout::cluster_rows(clusters, layout::open_at_first(clusters->tree, 3), std::nullopt).rows.size() == 3);
  // Distances do not grow downwards.
  for (const auto& node : clusters->tree.nodes)
    for (const std::int32_t child : {node.left, node.right})
      if (child >= 0) CHECK(clusters->tree.nodes[static_cast<std::size_t>(child)].distance_s <= node.distance_s);
}

TEST_CASE("the three patterns of exchanges are drawn from what they are") {
  const session::LogicalRun pairs =
      session::run_of(logical_time_of(exchange({{4, 4, 4}}, 2, [](auto, int) { return 1000; })), 64);
  const Clusters alternating = cluster(pairs, 0);
  CHECK(alternating->pattern == logical::Pattern::alternating);
  CHECK(alternating->most_completed == 1);
  const layout::ClusterPicture picture = layout::cluster_rows(alternating, {}, std::nullopt);
  // Corner ranks without a lower neighbour send first; lanes add up to the row.
  REQUIRE(picture.rows.size() == 1);
  const layout::ClusterRow& row = picture.rows[0];
  for (const ClusterGlyph& glyph : row.glyphs)
    for (std::size_t what = 0; what < 2; ++what) {
      float sum = 0;
      for (const auto& lane : row.lanes)
        for (const ClusterGlyph& part : lane)
          if (part.step == glyph.step) sum += part.share[what];
      CHECK(sum == Approx(glyph.share[what]));
    }
  CHECK(!row.lanes[0].empty());
  CHECK(!row.lanes[1].empty());
  const session::LogicalRun periodic =
      session::run_of(logical_time_of(halo({4, 4}, Setting{.steps = 3, .plant = {}})), 16);
  const Clusters waitall = cluster(periodic, 1);
  CHECK(waitall->pattern == logical::Pattern::waitall);
  CHECK(waitall->most_completed == 4);
  const layout::ClusterPicture once = layout::cluster_rows(waitall, {}, std::nullopt);
  bool all_at_once = false;
  for (const ClusterGlyph& glyph : once.rows[0].glyphs)
    all_at_once = all_at_once || (glyph.share[ClusterGlyph::receives] == 1.f && glyph.completed == 4.f);
  CHECK(all_at_once);
}

TEST_CASE("focus ranks are the one with the largest value and whom it exchanges messages with") {
  std::vector<std::int64_t> compute(16, 1'000'000);
  compute[13] = 50'000'000;
  const session::LogicalRun run = session::run_of(logical_time_of(merge_tree(16, 4, true, compute)), 16);
  const Clusters clusters = cluster(run, 0);
  const session::LogicalPhase& phase = *run.phases[0];
  float most = 0;
  for (const session::LogicalBox& box : phase.boxes) most = std::max(most, box.lateness_ns);
  const layout::ClusterPicture picture = layout::cluster_rows(clusters, {}, std::nullopt);
  const logical::Part* part = phase.part_of(picture.focus_rank);
  REQUIRE(part != nullptr);
  float own = 0;
  for (std::uint32_t i = part->first; i < part->end; ++i) own = std::max(own, phase.boxes[i].lateness_ns);
  CHECK(own == most);
  CHECK(layout::cluster_rows(clusters, {}, 99).focus_rank == picture.focus_rank);  // no such rank
  CHECK(layout::cluster_rows(clusters, {}, 13).focus == Ranks{12, 13});
  CHECK(layout::cluster_rows(clusters, {}, 13, 2).focus == Ranks{0, 12, 13, 14, 15});
  CHECK(layout::cluster_rows(clusters, {}, 12).focus == Ranks{0, 12, 13, 14, 15});
  CHECK(layout::cluster_rows(clusters, {}, 12, 1, 3).focus.size() == 3);
}
