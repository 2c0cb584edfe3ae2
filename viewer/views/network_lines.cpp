#include "viewer/views/network_lines.hpp"

#include <algorithm>
#include <cmath>

#include "viewer/text/printable.hpp"
#include "viewer/text/quantities.hpp"
#include "viewer/views/node_rows.hpp"

namespace pclscope::views {
namespace {

using Lines = std::vector<std::string>;
constexpr std::size_t most_clocks = 8, most_names = 4;

// "n3", "n3, n4", "n1, n2, n3, n4 and 7 more".
std::string dead_names(const Snapshot& s) {
  const auto& dead = s.network.dead_nodes;
  std::string line;
  for (std::size_t i = 0; i < std::min(dead.size(), most_names); ++i) {
    if (i > 0) line += ", ";
    line += node_name(s, dead[i]);
  }
  if (dead.size() > most_names) line += " and " + std::to_string(dead.size() - most_names) + " more";
  return line;
}

std::string dead_text(const Snapshot& s) {
  if (s.application.aggregators > static_cast<std::int32_t>(s.application.nodes.size()))
    return "an aggregator of " + dead_names(s) + " died: its ranks were not recorded from then on";
  if (s.network.dead_nodes.size() == 1)
    return "the aggregator of " + dead_names(s) + " died: its ranks were not recorded from then on";
  return "the aggregators of " + dead_names(s) + " died: their ranks were not recorded from then on";
}

// What is not finite counts as the largest.
double error_of(const ClockState& clock) { return std::isfinite(clock.error_s) ? clock.error_s : HUGE_VAL; }

bool larger_error(const ClockState& a, const ClockState& b) { return error_of(a) > error_of(b); }

std::string drift_text(double drift) { return std::isfinite(drift) ? text::format_ratio(drift * 1e6) + " ppm" : "-"; }

Lines clock_lines(const Snapshot& s) {
  std::vector<ClockState> clocks = s.network.clocks;
  const std::size_t shown = std::min(clocks.size(), most_clocks);
  if (clocks.size() > shown) std::stable_sort(clocks.begin(), clocks.end(), larger_error);
  Lines lines;
  for (std::size_t i = 0; i < shown; ++i) {
    const ClockState& c = clocks[i];
    lines.push_back(node_name(s, c.node) + ": offset " + text::format_seconds(c.offset_s) + ", drift " +
                    drift_text(c.drift) + ", error at most " + text::format_seconds(c.error_s));
  }
  if (clocks.size() > shown)
    lines.push_back(std::to_string(clocks.size() - shown) + " more, error at most " +
                    text::format_seconds(clocks[shown].error_s));
  if (!s.network.corrections.empty())
    lines.push_back("estimated anew at the end of the run: stored messages' times are corrected");
  return lines;
}

}  // namespace

std::string network_line(const Snapshot& s) {
  Lines parts;
  if (const std::string slow = slow_node_line(s); !slow.empty()) parts.push_back(slow);
  if (!s.network.dead_nodes.empty()) parts.push_back(dead_text(s));
  if (s.network.messages_left_out > 0)
    parts.push_back(text::format_count(s.network.messages_left_out) + " messages were counted on their nodes only");
  if (s.messages.clock_unclear > 0)
    parts.push_back(text::format_count(s.messages.clock_unclear) + " received before sent within the clocks' error");
  const auto& clocks = s.network.clocks;
  const auto worst = std::min_element(clocks.begin(), clocks.end(), larger_error);
  if (worst != clocks.end()) parts.push_back("clocks agree within " + text::format_seconds(worst->error_s));
  std::string line;
  for (const std::string& part : parts) {
    if (!line.empty()) line += "; ";
    line += part;
  }
  return line;
}

std::vector<std::string> network_lines(const Snapshot& s) {
  Lines lines = clock_lines(s);
  for (std::size_t i = 0; i < lines.size(); ++i) lines[i].insert(0, i == 0 ? "clocks     " : "           ");
  if (const std::string slow = slow_node_line(s); !slow.empty()) lines.push_back("network    " + slow);
  if (!s.network.dead_nodes.empty()) lines.push_back("dead       " + dead_text(s));
  const Network& n = s.network;
  if (n.messages_left_out + n.collectives_left_out > 0) {
    lines.push_back("left out   " + text::format_count(n.messages_left_out) + " messages and " +
                    text::format_count(n.collectives_left_out) +
                    " collective calls: counted on their nodes, not sent to the root");
  }
  return lines;
}

}  // namespace pclscope::views
