// Silence is a finding: for a time no message came between nodes that usually talk, and those that were under way came
// when it was over.
#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "analysis/attribute/findings.hpp"
#include "analysis/attribute/intervals.hpp"
#include "analysis/attribute/words.hpp"

namespace pclscope::attribute {
namespace {

constexpr std::int64_t least_silence_ns = 1'000'000'000;
constexpr double usually_per_s = 4;    // messages between the two nodes, both ways
constexpr double much_longer = 20;     // times what the link's transfers take on average
constexpr double nearly_silent = 0.1;  // of the usual messages, in the slices that lie wholly in the silence

struct Stuck {  // a message that was under way all the time
  std::int32_t from = 0, to = 0;
  std::int64_t begin_ns = 0, end_ns = 0;
};

struct Traffic {  // of two nodes, both ways
  double messages = 0, transfer_s = 0;
};
using Pair = std::pair<std::int32_t, std::int32_t>;
Pair between(std::int32_t a, std::int32_t b) { return {std::min(a, b), std::max(a, b)}; }

double messages_within(const Evidence& e, const Pair& nodes, std::int64_t from_ns, std::int64_t to_ns) {
  double messages = 0;
  for (const Slice& s : e.slices)
    if (s.begin_ns >= from_ns && s.end_ns <= to_ns)
      for (const TransferCell& c : s.cells)
        if (between(c.from, c.to) == nodes) messages += static_cast<double>(c.messages);
  return messages;
}

std::vector<Stuck> stuck_messages(const Evidence& e) {
  std::map<Pair, Traffic> usual;
  for (const Slice& s : e.slices)
    for (const TransferCell& c : s.cells) {
      Traffic& t = usual[between(c.from, c.to)];
      t.messages += static_cast<double>(c.messages);
      t.transfer_s += c.transfer_s - static_cast<double>(c.longest_ns) * 1e-9;
    }
  const double run_s = static_cast<double>(e.slices.back().end_ns - e.slices.front().begin_ns) * 1e-9;
  std::vector<Stuck> stuck;
  for (const Slice& s : e.slices)
    for (const TransferCell& c : s.cells) {
      if (c.longest_ns < least_silence_ns) continue;
      const double length_s = static_cast<double>(c.longest_ns) * 1e-9;
      const Traffic& t = usual[between(c.from, c.to)];
      const double per_s = t.messages / std::max(run_s - length_s, 1e-3);
      if (per_s < usually_per_s || length_s < much_longer * std::max(t.transfer_s, 0.0) / t.messages) continue;
      const std::int64_t begin_ns = c.longest_end_ns - c.longest_ns;
      // Whole slices in between: one at the most is cut at either end.
      if (messages_within(e, between(c.from, c.to), begin_ns, c.longest_end_ns) > nearly_silent * per_s * length_s)
        continue;
      stuck.push_back({c.from, c.to, begin_ns, c.longest_end_ns});
    }
  std::sort(stuck.begin(), stuck.end(), [](const Stuck& a, const Stuck& b) { return a.begin_ns < b.begin_ns; });
  return stuck;
}

// Which nodes every call that stood still had messages with: a call that waits for several nodes stands still for one
// of them. All when nothing is known of calls.
std::set<std::int32_t> suspects(const Evidence& e, const std::set<Pair>& links, std::int64_t begin, std::int64_t end) {
  std::set<std::int32_t> nodes;
  for (const auto& [from, to] : links) nodes.insert({from, to});
  std::map<std::pair<std::int32_t, std::int64_t>, std::set<std::int32_t>> calls;  // by rank and end
  for (const Slice& s : e.slices)
    for (const StuckCall& call : s.stuck)
      if (call.begin_ns >= begin && call.end_ns <= end)
        calls[{call.rank, call.end_ns}].insert(call.nodes.begin(), call.nodes.end());
  std::set<std::int32_t> common = nodes;
  for (const auto& [call, its] : calls)
    std::erase_if(common, [&, &of = its](std::int32_t n) { return !of.contains(n); });
  return common.empty() ? nodes : common;
}

// Those at one time.
Finding outage(const Evidence& e, const std::vector<Stuck>& at_once) {
  Finding f;
  f.cause = Cause::outage;
  f.detail = "silence";
  std::int64_t begin = INT64_MAX, end = INT64_MIN;
  std::set<Pair> links;
  for (const Stuck& s : at_once) {
    begin = std::min(begin, s.begin_ns);
    end = std::max(end, s.end_ns);
    links.emplace(s.from, s.to);
  }
  const std::set<std::int32_t> nodes = suspects(e, links, begin, end);
  const bool one = nodes.size() == 1;
  std::erase_if(links, [&](const Pair& l) {
    const auto known = nodes.count(l.first) + nodes.count(l.second);
    return known < (one ? 1u : 2u);
  });
  std::string names;
  for (const std::int32_t node : nodes)
    names += (names.empty() ? "" : nodes.size() == 2 ? " and " : ", ") + words::node(e.node_names, node);
  for (const auto& [from, to] : links) f.nodes.insert(f.nodes.end(), {from, to});
  if (f.nodes.size() > 64) f.nodes.resize(64);
  f.begin_s = static_cast<double>(begin) * 1e-9;
  f.end_s = static_cast<double>(end) * 1e-9;
  const double length = f.end_s - f.begin_s;
  for (const Slice& s : e.slices) {
    const double meanwhile_s = static_cast<double>(std::min(end, s.end_ns) - std::max(begin, s.begin_ns)) * 1e-9;
    if (meanwhile_s > 0)
      f.lost_s += (s.waits_s() + s.exposed_s() + s.intra_exposed_s) * meanwhile_s / std::max(s.seconds(), 1e-9);
  }
  f.lost_s = std::min(f.lost_s, length * e.ranks);
  f.score = f.lost_s / std::max(length * e.ranks, 1e-9);
  f.confidence = 0.95 * ramp(length, 0.5, 1.5) * ramp(f.score, 0.02, 0.1);
  const std::string who = (one ? "with " : "between ") + names;
  f.evidence = {"no traffic " + who + " from " + words::number(f.begin_s) + " s to " + words::number(f.end_s) + " s",
                "messages that were under way came when it was over, on " + std::to_string(links.size()) +
                    " links (from node, to node)",
                "that cost " + words::number(f.lost_s) + " rank-seconds, " + words::percent(f.score) +
                    " of the time of all ranks"};
  f.advice =
      "Look at the network " + (one ? "of " + names : who) + " in that time (link, switch, driver, its system's log).";
  return f;
}

}  // namespace

// One message that is long under way may be one that its sender does not help along; two links of a node are not.
std::vector<Finding> find_outages(const Evidence& e) {
  std::vector<Finding> findings;
  if (e.slices.empty()) return findings;
  const std::vector<Stuck> stuck = stuck_messages(e);
  for (std::size_t i = 0; i < stuck.size();) {
    std::vector<Stuck> at_once;
    std::set<Pair> links;
    std::int64_t end = stuck[i].end_ns;
    for (; i < stuck.size() && (at_once.empty() || stuck[i].begin_ns < end); ++i) {
      at_once.push_back(stuck[i]);
      links.emplace(stuck[i].from, stuck[i].to);
      end = std::max(end, stuck[i].end_ns);
    }
    if (links.size() >= 2) findings.push_back(outage(e, at_once));
  }
  return findings;
}

}  // namespace pclscope::attribute
