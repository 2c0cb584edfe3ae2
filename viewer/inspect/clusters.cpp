// pclscope inspect FILE clusters: ranks of a phase that behave alike.
#include "analysis/logical/clusters.hpp"

#include <algorithm>
#include <cmath>

#include "analysis/logical/sums.hpp"
#include "viewer/inspect/stored_phases.hpp"
#include "viewer/inspect/topic.hpp"
#include "viewer/text/quantities.hpp"
#include "viewer/text/rank_list.hpp"
#include "viewer/text/table.hpp"
#include "viewer/views/json_rows.hpp"

namespace pclscope::commands {
namespace {

using logical::Clusters;
using session::Json;

// The one that --phase says, or else that with most lateness, of those with a rank of --rank.
std::optional<std::uint32_t> phase_asked(const InspectWords& words, const StoredPhases& stored) {
  std::optional<std::uint32_t> latest;
  double most = -1;
  for (const std::uint32_t p : chosen_phases(words, stored)) {
    const logical::PhaseSum sum = logical::sum_of(stored.time, stored.time.phases[p]);
    if (sum.lateness.sum_ns <= most) continue;
    most = sum.lateness.sum_ns;
    latest = p;
  }
  return latest;
}

std::vector<std::int32_t> members(const Clusters& clusters, std::size_t cluster) {
  std::vector<std::int32_t> ranks;
  for (std::size_t r = 0; r < clusters.ranks.size(); ++r)
    if (clusters.cluster_of[r] == cluster) ranks.push_back(clusters.ranks[r]);
  return ranks;
}

// Squared distances as what they are the square of.
double apart_s(double distance) { return std::sqrt(distance); }

const char* word_of(logical::Metric metric) {
  switch (metric) {
    case logical::Metric::entry_lateness: return "entry";
    case logical::Metric::duration: return "duration";
    case logical::Metric::wait: return "wait";
    case logical::Metric::bytes: return "bytes";
    case logical::Metric::lateness: break;
  }
  return "lateness";
}

std::string value_text(logical::Metric metric, double value) {
  return metric == logical::Metric::bytes ? text::format_bytes(value) : text::format_seconds(value);
}

// In seconds, or in bytes: the other one is null.
void put(Json& json, logical::Metric metric, const std::string& name, double value) {
  const bool bytes = metric == logical::Metric::bytes;
  json[name + "_s"] = bytes ? Json() : session::finite(value);
  json[name + "_bytes"] = bytes ? session::finite(value) : Json();
}

Json cluster_json(const InspectWords& words, const Clusters& clusters, std::size_t cluster) {
  const bool any = cluster < clusters.medoids.size();
  Json json = {{"cluster", cluster},
               {"ranks", any ? members(clusters, cluster) : std::vector<std::int32_t>()},
               {"medoid", any ? clusters.medoids[cluster] : -1}};
  put(json, words.metric, "mean", any ? clusters.mean_s[cluster] : 0);
  return json;
}

Json all_json(const InspectWords& words, const Clusters& clusters, std::uint32_t phase, logical::Pattern pattern) {
  Json list = Json::array(), merges = Json::array();
  for (std::size_t c = 0; c < clusters.medoids.size(); ++c) list.push_back(cluster_json(words, clusters, c));
  for (const Clusters::Merge& m : clusters.merges) {
    merges.push_back({{"a", m.a}, {"b", m.b}});
    put(merges.back(), words.metric, "distance", apart_s(m.distance));
  }
  Json json = {{"phase", phase},
               {"metric", word_of(words.metric)},
               {"pattern", logical::name_of(pattern)},
               {"clusters", list},
               {"merges", merges}};
  put(json, words.metric, "mean_distance", apart_s(clusters.mean_distance));
  return json;
}

std::vector<std::string> lines_of(const InspectWords& words, const Clusters& clusters, std::uint32_t phase,
                                  logical::Pattern pattern, std::size_t width) {
  constexpr std::size_t list_width = 60;
  std::vector<std::string> lines = {"phase " + std::to_string(phase) + ", " +
                                    text::format_count(clusters.ranks.size()) + " ranks by " + word_of(words.metric) +
                                    ", exchange pattern: " + logical::name_of(pattern)};
  text::Table table;
  for (const char* title : {"cluster", "ranks", "mean", "medoid"}) table.column(title, text::Align::right);
  table.column("which", text::Align::left);
  for (std::size_t c = 0; c < clusters.medoids.size(); ++c) {
    const std::vector<std::int32_t> ranks = members(clusters, c);
    table.row({std::to_string(c), text::format_count(ranks.size()), value_text(words.metric, clusters.mean_s[c]),
               std::to_string(clusters.medoids[c]), text::compact_ranks(ranks, list_width)});
  }
  for (std::string& line : table.lines(width)) lines.push_back(std::move(line));
  // The tree, from the leaves.
  for (std::size_t i = 0; i < clusters.merges.size(); ++i) {
    const Clusters::Merge& m = clusters.merges[i];
    lines.push_back(std::to_string(m.a) + " + " + std::to_string(m.b) + " = " +
                    std::to_string(clusters.medoids.size() + i) + ", apart " +
                    value_text(words.metric, apart_s(m.distance)));
  }
  return lines;
}

int show_clusters(const InspectWords& words, InspectedRun& run) {
  const auto stored = read_phases(words, run);
  if (!stored) return fail(stored.error());
  const auto phase = phase_asked(words, *stored);
  if (!phase) return fail(could_not, "no phases: no messages or collectives of this period are stored");
  const logical::Phase& of = stored->time.phases[*phase];
  logical::ClusterOptions options;
  options.clusters = words.clusters.value_or(std::clamp(of.parts / 3, 1u, options.clusters));
  options.metric = words.metric;
  const Clusters clusters = logical::clusters_of(stored->time, of, options);
  const logical::Pattern pattern = logical::pattern_of(stored->time, of);
  const auto rows = [&] {
    std::vector<Json> objects;
    for (std::size_t c = 0; c < clusters.medoids.size(); ++c) objects.push_back(cluster_json(words, clusters, c));
    return views::rows_of(objects, cluster_json(words, {}, 0));
  };
  return show(
      words, run, stored->why_partial,
      [&](const views::PageOptions& page) { return lines_of(words, clusters, *phase, pattern, page.width); }, rows,
      [&] { return all_json(words, clusters, *phase, pattern); });
}

}  // namespace

extern const Topic clusters_topic;
const Topic clusters_topic{"clusters", takes::tables | takes::rank | takes::period | takes::phase | takes::clusters,
                           show_clusters};

}  // namespace pclscope::commands
