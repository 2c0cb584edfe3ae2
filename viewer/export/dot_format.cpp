// pclscope export --to dot: who sends how much to whom, for Graphviz; of many ranks region by region.
#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "viewer/export/format.hpp"
#include "viewer/export/output.hpp"
#include "viewer/text/quantities.hpp"
#include "viewer/text/rank_list.hpp"

namespace pclscope::exporting {
namespace {

constexpr std::size_t most_ranks_drawn = 128;  // of more, regions

struct Sent {
  std::uint64_t messages = 0, bytes = 0;
  std::int64_t time_ns = 0;
};

class DotSink final : public Sink {
 public:
  DotSink(const Run& run, const std::string& path) : file_(path) {
    for (const Region& region : run.snapshot.regions)
      for (const std::int32_t rank : region.ranks) region_of_.try_emplace(rank, &region);
  }

  // Each message in the slice in which it is sent.
  Status add(const Slice& slice) override {
    for (const Message& m : slice.messages) {
      if (!slice.holds(m.send_begin)) continue;
      Sent& sent = sent_[{m.source, m.destination}];
      ++sent.messages;
      sent.bytes += m.bytes;
      if (!(m.flags & message_flag::no_latency)) sent.time_ns += m.time();
    }
    return {};
  }
  Status finish() override;
  std::string wrote() const override {
    return text::format_count(nodes_) + (by_region_ ? " regions, " : " ranks, ") + text::format_count(edges_) +
           " edges (dot -Tsvg)";
  }

 private:
  void add_ranks(std::string& text, const std::set<std::int32_t>& ranks);
  std::int32_t region(std::int32_t rank) const {
    const auto at = region_of_.find(rank);
    return at == region_of_.end() ? -1 : at->second->id;
  }

  OutputFile file_;
  std::map<std::int32_t, const Region*> region_of_;
  std::map<std::pair<std::int32_t, std::int32_t>, Sent> sent_;
  std::size_t nodes_ = 0, edges_ = 0;
  bool by_region_ = false;
};

std::string region_label(const Region& region) {
  return "region " + std::to_string(region.id) + "\\nranks " + text::compact_ranks(region.ranks, 40);
}

std::string dot_edge(const std::string& from, const std::string& to, const Sent& sent, std::uint64_t most_bytes) {
  const double part = most_bytes > 0 ? static_cast<double>(sent.bytes) / static_cast<double>(most_bytes) : 0;
  char line[160];
  std::snprintf(line, sizeof line, "penwidth=%.2f, messages=%llu, bytes=%llu, time_s=%.9f", 0.5 + 4.5 * std::sqrt(part),
                static_cast<unsigned long long>(sent.messages), static_cast<unsigned long long>(sent.bytes),
                static_cast<double>(sent.time_ns) / 1e9);
  return "  " + from + " -> " + to + " [" + line + ", tooltip=\"" + text::format_count(sent.messages) + " messages, " +
         text::format_bytes(static_cast<double>(sent.bytes)) + "\"];\n";
}

void DotSink::add_ranks(std::string& text, const std::set<std::int32_t>& ranks) {
  std::map<std::int32_t, std::vector<std::int32_t>> regions;
  for (const std::int32_t rank : ranks) regions[region(rank)].push_back(rank);
  for (const auto& [id, members] : regions) {
    const bool is_region = id >= 0;
    if (is_region)
      text += "  subgraph cluster_" + std::to_string(id) + " {\n    label=\"" +
              region_label(*region_of_.at(members.front())) + "\";\n";
    for (const std::int32_t rank : members)
      text += (is_region ? "    r" : "  r") + std::to_string(rank) + " [label=\"" + std::to_string(rank) + "\"];\n";
    if (is_region) text += "  }\n";
  }
  nodes_ = ranks.size();
}

Status DotSink::finish() {
  std::set<std::int32_t> ranks;
  for (const auto& [pair, sent] : sent_) ranks.insert({pair.first, pair.second});
  by_region_ = ranks.size() > most_ranks_drawn;
  std::string text = "digraph pclscope {\n  graph [tooltip=\"messages between " +
                     std::string(by_region_ ? "regions" : "ranks") + "\"];\n  node [shape=circle];\n";
  std::map<std::pair<std::int32_t, std::int32_t>, Sent> edges = sent_;
  std::string prefix = "r";
  if (by_region_) {
    prefix = "region";
    edges.clear();
    std::map<std::int32_t, std::string> labels;
    for (const std::int32_t rank : ranks) {
      const std::int32_t id = region(rank);
      labels[id] = id < 0 ? "ranks in no region" : region_label(*region_of_.at(rank));
    }
    for (const auto& [pair, sent] : sent_) {
      Sent& sum = edges[{region(pair.first), region(pair.second)}];
      sum.messages += sent.messages;
      sum.bytes += sent.bytes;
      sum.time_ns += sent.time_ns;
    }
    for (const auto& [id, label] : labels)
      text += "  region" + (id < 0 ? std::string("_none") : std::to_string(id)) + " [shape=box, label=\"" + label +
              "\"];\n";
    nodes_ = labels.size();
  } else {
    add_ranks(text, ranks);
  }
  std::uint64_t most = 0;
  for (const auto& [pair, sent] : edges) most = std::max(most, sent.bytes);
  const auto name = [&](std::int32_t id) { return prefix + (id < 0 ? std::string("_none") : std::to_string(id)); };
  for (const auto& [pair, sent] : edges) text += dot_edge(name(pair.first), name(pair.second), sent, most);
  edges_ = edges.size();
  file_.write(text + "}\n");
  return file_.close();
}

Result<std::unique_ptr<Sink>> open_dot(const Run& run, const std::string& path, const Progress&) {
  return std::unique_ptr<Sink>(std::make_unique<DotSink>(run, path));
}

}  // namespace

extern const FileFormat dot_format;
const FileFormat dot_format{"dot",   "who sends how much to whom, for Graphviz", ".dot", false, needs::messages,
                            open_dot};

}  // namespace pclscope::exporting
