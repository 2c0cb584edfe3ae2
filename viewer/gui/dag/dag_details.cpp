#include "viewer/gui/dag/dag_details.hpp"

#include <algorithm>
#include <cmath>

#include "viewer/text/printable.hpp"
#include "viewer/text/quantities.hpp"
#include "viewer/views/sentences.hpp"

namespace pclscope::gui {
namespace {

double sane_ratio(const DagMessage& m) { return std::isfinite(m.ratio) ? m.ratio : 0; }

std::string bytes_text(std::uint64_t bytes) { return text::format_bytes(static_cast<double>(bytes)); }

std::string message_line(const DagMessage& m, bool sent) {
  std::string line = std::string(sent ? "to rank " : "from rank ").append(std::to_string(m.peer));
  line += ", " + bytes_text(m.bytes) + " in " + text::format_seconds(m.time_s);
  if (m.ratio > 0) line += ", L " + text::format_times(m.ratio);
  return line;
}

std::string side_line(const char* what, const std::vector<DagMessage>& messages) {
  std::string line = std::string(what).append(text::format_count(messages.size()));
  line += messages.size() == 1 ? " message" : " messages";
  double bytes = 0;
  for (const DagMessage& m : messages) bytes += static_cast<double>(m.bytes);
  if (!messages.empty()) line += ", " + text::format_bytes(bytes);
  return line + "\n";
}

std::string worst_line(const DagNode& node) {
  const DagMessage* worst = nullptr;
  bool sent = false;
  for (const auto* side : {&node.received, &node.sent}) {
    for (const DagMessage& m : *side) {
      if (sane_ratio(m) <= (worst ? sane_ratio(*worst) : 0)) continue;
      worst = &m;
      sent = side == &node.sent;
    }
  }
  return worst ? std::string("largest L: ").append(message_line(*worst, sent)) + "\n" : std::string();
}

double largest_ratio(const DagNode& node) {
  double most = 0;
  for (const auto* side : {&node.received, &node.sent})
    for (const DagMessage& m : *side) most = std::max(most, sane_ratio(m));
  return most;
}

}  // namespace

std::string node_details(const layout::DagPicture& picture, std::size_t node, std::span<const std::string> names) {
  const DagNode& n = picture.dag.nodes[node];
  const std::int32_t row = picture.rank_row[node];
  const DagRank* rank = row < 0 ? nullptr : &picture.dag.ranks[static_cast<std::size_t>(row)];
  std::string lines = std::string("rank ").append(std::to_string(n.rank));
  if (rank && rank->compute_node >= 0) {
    const auto at = static_cast<std::size_t>(rank->compute_node);
    lines += " on node " + (at < names.size() ? text::printable(names[at]) : std::to_string(rank->compute_node));
  }
  lines += ", layer " + std::to_string(picture.layout.layer[node]) + "\n";
  lines += text::format_moment(n.begin_s) + ", for " + text::format_seconds(n.end_s - n.begin_s) + "\n";
  lines += side_line("received ", n.received) + side_line("sent ", n.sent) + worst_line(n);
  if (rank) {
    lines += std::string("messages of the rank in the period: ").append(text::format_count(rank->messages)) + "\n";
    const double balance = layout::significant_balance(picture.dag, *rank);
    lines += balance > 0 ? std::string("load imbalance LB: ").append(text::format_ratio(balance)) + "\n"
                         : std::string("about as many as other ranks\n");
    const double ratio = layout::ellipse_ratio(picture, node);
    lines += std::string(picture.one_node ? "mean L of what it received here: " : "mean L of its compute node: ")
                 .append(ratio > 0 ? text::format_times(ratio) : "not known") +
             "\n";
  }
  if (picture.is_fold(node))
    return lines + "stands for " + text::format_count(picture.stands_for[node].size()) + " nodes; double click unfolds";
  return lines +
         (picture.out_of[node].empty() ? "nothing hangs right of it" : "double click folds what hangs right of it");
}

const DagMessage& worst_of(const DagNode& node, const layout::GlyphBar& bar) {
  const auto& side = bar.sent ? node.sent : node.received;
  const auto first = side.begin() + static_cast<std::ptrdiff_t>(bar.first);
  return *std::max_element(first, first + static_cast<std::ptrdiff_t>(bar.count),
                           [](const DagMessage& a, const DagMessage& b) { return sane_ratio(a) < sane_ratio(b); });
}

std::string bar_details(const layout::DagPicture& picture, std::size_t node, const layout::GlyphBar& bar) {
  const DagNode& n = picture.dag.nodes[node];
  const DagMessage& worst = worst_of(n, bar);
  const std::string whose =
      std::string("rank ").append(std::to_string(n.rank)).append(bar.sent ? " sent " : " received ");
  if (bar.count == 1)
    return whose + message_line(worst, bar.sent) + "\ntag " + std::to_string(worst.tag) + ", sent at " +
           text::format_moment(worst.begin_s);
  return whose + text::format_count(bar.count) +
         " messages, drawn as one bar\nlargest L: " + message_line(worst, bar.sent);
}

std::string fold_status(const layout::DagPicture& picture) {
  const std::size_t all = picture.whole().nodes.size(), left = picture.dag.nodes.size();
  if (left == all) return text::format_count(all) + (all == 1 ? " node" : " nodes");
  return std::string("folded to ").append(text::format_count(left)) + " of " + text::format_count(all) +
         " nodes; double click unfolds";
}

std::string graph_title(const Dag& dag) {
  std::string title =
      dag.region >= 0 ? std::string("region ").append(std::to_string(dag.region)) + ", " : std::string();
  title += text::format_moment(dag.from_s) + ", for " + text::format_seconds(dag.to_s - dag.from_s);
  return title + ": " + text::format_count(dag.messages) + (dag.messages == 1 ? " message" : " messages");
}

// Of a dump it is our own limit that cuts a graph: what can be done about it here is to choose a shorter period.
std::string partial_words(const Scene& scene) {
  const Dag& dag = *scene.dag.dag;
  const std::uint64_t all = dag.messages + dag.messages_missing;
  if (scene.connection.phase == session::Phase::stored && all > scene.dag.question.most_messages) {
    return std::string("partial: the earliest ")
        .append(text::format_count(dag.messages))
        .append(" of ")
        .append(text::format_count(all))
        .append(" messages; choose a shorter period to see it whole");
  }
  return std::string("partial: ").append(text::printable(dag.why_partial));
}

std::string not_newest_words(const Scene& scene, const Selection& selection) {
  const session::Phase phase = scene.connection.phase;
  const std::int32_t region = scene.dag.dag ? scene.dag.dag->region : -1;
  const bool other = selection.region && region >= 0 && *selection.region != region && selection.ranks.size() < 2;
  if (phase == session::Phase::finished || phase == session::Phase::lost) {
    const std::string begin = phase == session::Phase::finished ? "the job is over" : "the job is lost";
    return begin + ": this is its last graph" + (other ? ", of region " + std::to_string(region) : "") +
           "; its dump has all others (pclscope view FILE)";
  }
  if (scene.dag.waiting) return "a newer graph is on its way ..";
  return other ? "this is the graph of region " + std::to_string(region) : "";
}

std::string why_empty(const Scene& scene, const Selection& selection) {
  if (scene.dag.dag && !scene.dag.dag->nodes.empty()) return {};
  if (scene.dag.waiting) return "waiting for the messages of the region and period ..";
  if (!scene.dag.problem.empty()) return text::printable(scene.dag.problem);
  if (scene.dag.dag) {
    const std::string why = text::printable(scene.dag.dag->why_partial);
    return std::string("no messages inside the region kept for this period")
        .append(why.empty() ? "" : ": ")
        .append(why);
  }
  if (!scene.snapshot) return "nothing has come from the job yet";
  return selection.region || selection.ranks.size() > 1
             ? views::so_far(*scene.snapshot, "no dependency graph")
             : "pick a region to see which of its messages depended on which";
}

std::optional<std::size_t> worst_node(const Dag& dag) {
  std::optional<std::size_t> worst;
  double most = 1;
  for (std::size_t i = 0; i < dag.nodes.size(); ++i) {
    for (const DagMessage& m : dag.nodes[i].received) {
      if (sane_ratio(m) <= most) continue;
      most = sane_ratio(m);
      worst = i;
    }
  }
  return worst;
}

std::optional<std::size_t> first_look(const Dag& dag, const Selection& selection) {
  const auto& message = selection.message;
  for (std::size_t i = 0; message && i < dag.nodes.size(); ++i) {
    const auto& received = dag.nodes[i].received;
    const auto is_it = [&](const DagMessage& m) {
      return m.peer == message->source && std::abs(m.begin_s - message->begin_s) <= 1e-9;
    };
    if (dag.nodes[i].rank == message->destination && std::any_of(received.begin(), received.end(), is_it)) return i;
  }
  std::optional<std::size_t> worst;
  double most = 1;
  for (std::size_t i = 0; selection.rank && i < dag.nodes.size(); ++i) {
    if (dag.nodes[i].rank != *selection.rank || largest_ratio(dag.nodes[i]) <= most) continue;
    most = largest_ratio(dag.nodes[i]);
    worst = i;
  }
  return worst ? worst : worst_node(dag);
}

std::string first_look_words(const Dag& dag, std::size_t node) {
  return std::string("starts at rank ")
      .append(std::to_string(dag.nodes[node].rank))
      .append(" (largest L ")
      .append(text::format_times(largest_ratio(dag.nodes[node])))
      .append(")");
}

}  // namespace pclscope::gui
