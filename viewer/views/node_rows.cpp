#include "viewer/views/node_rows.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>

#include "viewer/text/printable.hpp"
#include "viewer/text/quantities.hpp"
#include "viewer/text/table.hpp"
#include "viewer/views/json_rows.hpp"

namespace pclscope::views {
namespace {

using session::Json;
using text::Align;

constexpr std::uint64_t enough_messages = 8;

// The ratio to judge by; nothing when there are too few messages.
std::optional<double> judged(const Snapshot& s, const NodeLink& l) {
  if (s.finished) return l.messages >= enough_messages ? std::optional(l.peak_transfer_ratio) : std::nullopt;
  return l.newest_messages >= enough_messages ? std::optional(l.newest_transfer_ratio) : std::nullopt;
}

double median(std::vector<double> values) {
  if (values.empty()) return 0;
  std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>((values.size() - 1) / 2), values.end());
  return values[(values.size() - 1) / 2];
}

}  // namespace

std::string node_name(const Snapshot& s, std::int32_t node) {
  const auto& names = s.application.nodes;
  const bool known = node >= 0 && static_cast<std::size_t>(node) < names.size();
  if (known) return text::printable(names[static_cast<std::size_t>(node)]);
  return node >= 0 ? std::string("node ").append(std::to_string(node)) : "a node";
}

Rows node_link_rows(const Snapshot& snapshot) {
  std::vector<Json> objects;
  for (const NodeLink& link : snapshot.network.links)
    objects.push_back(session::node_link_json(link, snapshot.application));
  return rows_of(objects, session::node_link_json({}, snapshot.application));
}

std::vector<std::string> node_link_lines(const Snapshot& snapshot, std::size_t width) {
  if (snapshot.network.links.empty()) return {"no messages between nodes were matched"};
  std::vector<NodeLink> links = snapshot.network.links;
  const auto worst = [](const NodeLink& l) { return std::max(l.newest_transfer_ratio, l.peak_transfer_ratio); };
  std::stable_sort(links.begin(), links.end(),
                   [&](const NodeLink& a, const NodeLink& b) { return worst(a) > worst(b); });
  text::Table table;
  table.column("from", Align::left);
  table.column("to", Align::left);
  for (const char* title : {"messages", "bytes", "ratio", "transfer", "xfer ratio", "newest", "worst", "at",
                            "late send", "late recv", "exposed"})
    table.column(title, Align::right);
  for (const NodeLink& l : links) {
    table.row({node_name(snapshot, l.source), node_name(snapshot, l.destination), text::format_short_count(l.messages),
               text::format_bytes(static_cast<double>(l.bytes)), text::format_ratio(l.mean_latency_ratio),
               text::format_seconds(l.mean_transfer_s), text::format_ratio(l.mean_transfer_ratio),
               text::format_ratio(l.newest_transfer_ratio), text::format_ratio(l.peak_transfer_ratio),
               text::format_seconds(l.peak_s), text::format_seconds(l.late_sender_s),
               text::format_seconds(l.late_receiver_s), text::format_seconds(l.transfer_s)});
  }
  std::vector<std::string> lines = table.lines(width);
  if (const std::string line = slow_node_line(snapshot); !line.empty()) lines.push_back(line);
  return lines;
}

std::optional<SlowNode> slow_node(const Snapshot& s) {
  struct Side {
    double least = std::numeric_limits<double>::max();  // over its links: all of them are slow
    double at_s = 0;
    int links = 0;
  };
  std::map<std::pair<std::int32_t, bool>, Side> sides;
  for (const NodeLink& l : s.network.links) {
    const auto ratio = judged(s, l);
    if (!ratio) continue;
    for (const auto& [node, sends] : {std::pair(l.source, true), std::pair(l.destination, false)}) {
      Side& side = sides[{node, sends}];
      if (*ratio < side.least) side.at_s = l.peak_s;
      side.least = std::min(side.least, *ratio);
      ++side.links;
    }
  }
  std::optional<SlowNode> slowest;
  for (const auto& [key, side] : sides) {
    if (side.links < 2 || side.least < slow_ratio || (slowest && side.least <= slowest->ratio)) continue;
    std::vector<double> others;
    for (const NodeLink& l : s.network.links)
      if (const auto ratio = judged(s, l); ratio && l.source != key.first && l.destination != key.first)
        others.push_back(*ratio);
    const double usual = median(others);
    if (!others.empty() && side.least >= slow_ratio * std::max(usual, 1.0))
      slowest = SlowNode{key.first, key.second, side.least, usual, side.at_s};
  }
  return slowest;
}

std::string slow_node_line(const Snapshot& s) {
  const auto slow = slow_node(s);
  if (!slow) return {};
  const std::string name = node_name(s, slow->node), ratio = text::format_ratio(slow->ratio);
  const std::string others = " (between other nodes " + text::format_ratio(slow->others) + ")";
  const std::string what =
      slow->sends ? "messages from " + name + " to other nodes" : "messages to " + name + " from other nodes";
  if (!s.finished) return what + " take " + ratio + " times the usual transfer time" + others;
  return what + " took up to " + ratio + " times the usual transfer time, worst at " +
         text::format_seconds(slow->at_s) + others;
}

}  // namespace pclscope::views
