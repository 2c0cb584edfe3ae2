// What the network costs: transfers that take longer than usual for a time (background), and ranks that talk much but
// sit on different nodes (mapping).
#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <tuple>

#include "analysis/attribute/better_mapping.hpp"
#include "analysis/attribute/findings.hpp"
#include "analysis/attribute/intervals.hpp"
#include "analysis/attribute/slow_links.hpp"
#include "analysis/attribute/words.hpp"

namespace pclscope::attribute {
namespace {

constexpr double least_excess = 0.02;   // of all ranks' time
constexpr double slower = 0.4;          // ln: 1.5 times the usual, before it counts as excess
constexpr double clearly_slower = 0.7;  // ln: twice, for a slice to be active
constexpr double other_links = 1.1;     // ln: a link may be three times slower than others
constexpr std::uint64_t enough = 3;     // samples of a cell in a slice
constexpr std::size_t enough_slices = 3;
constexpr double low_quantile = 0.25;  // over time: the usual
constexpr double least_gain = 0.15;    // of the messages between nodes

using Line = std::tuple<std::int32_t, std::int32_t, std::uint32_t>;  // from, to, octave

double quantile(std::vector<double>& values, double q) {
  const auto at = values.begin() + static_cast<std::ptrdiff_t>(q * static_cast<double>(values.size() - 1));
  std::nth_element(values.begin(), at, values.end());
  return *at;
}

struct Usual {
  std::map<Line, double> line;             // ln(ns)
  std::map<std::uint32_t, double> octave;  // median of the lines
};

Usual usual_of(const Evidence& e) {
  std::map<Line, std::vector<double>> seen;
  for (const Slice& s : e.slices)
    for (const TransferCell& c : s.cells)
      if (c.samples >= enough) seen[{c.from, c.to, c.octave}].push_back(c.mean_log());
  Usual usual;
  std::map<std::uint32_t, std::vector<double>> of_octave;
  for (auto& [line, values] : seen) {
    if (values.size() < enough_slices) continue;
    const double low = usual.line[line] = quantile(values, low_quantile);
    of_octave[std::get<2>(line)].push_back(low);
  }
  for (auto& [octave, values] : of_octave)
    if (values.size() >= 3) usual.octave[octave] = quantile(values, 0.5);
  return usual;
}

double usual_for(const Usual& usual, const TransferCell& c) {
  const auto line = usual.line.find({c.from, c.to, c.octave});
  if (line == usual.line.end()) return 0;
  const auto octave = usual.octave.find(c.octave);
  if (octave != usual.octave.end() && line->second > octave->second + other_links) return octave->second;
  return line->second;
}

}  // namespace

Excess excess_of(const Evidence& e) {
  const Usual usual = usual_of(e);
  Excess excess;
  for (const Slice& s : e.slices) {
    double sum = 0;
    std::vector<double>& of = excess.usual.emplace_back();
    for (const TransferCell& c : s.cells) {
      const double normal = of.emplace_back(usual_for(usual, c));
      if (normal <= 0 || c.samples == 0) continue;
      const double above = c.mean_log() - normal;
      if (above > slower) sum += c.exposed_s * (1 - std::exp(-above));
    }
    excess.slice_s.push_back(sum);
  }
  return excess;
}

namespace {

struct Network {                                  // over an interval of slow transfers
  Links links;                                    // all of them
  double above = 0, weight = 0;                   // exposed time, and times ln(how much slower)
  double bytes_in = 0, bytes_out = 0, out_s = 0;  // of the job, in the interval and outside
  double computed = 0, inside = 0;                // waits that go back to computation, to transfers
  std::size_t calm = 0;                           // slices outside
  double slowness() const { return std::exp(above / weight); }
  double traffic(const Interval& interval) const {
    return out_s > 0 && bytes_out > 0 ? bytes_in / std::max(interval.seconds(), 1e-9) / (bytes_out / out_s) : 1;
  }
};

Network network_in(const Evidence& e, const Excess& excess, const Interval& interval) {
  Network n;
  for (std::size_t i = 0; i < e.slices.size(); ++i) {
    const Slice& s = e.slices[i];
    if (i < interval.first || i > interval.last) {
      n.bytes_out += static_cast<double>(s.inter_bytes);
      n.out_s += s.seconds();
      n.calm += s.inter_messages > 0;
      continue;
    }
    n.bytes_in += static_cast<double>(s.inter_bytes);
    n.computed += s.attributed_s;
    n.inside += s.inside_mpi_s;
    for (std::size_t k = 0; k < s.cells.size(); ++k) {
      const TransferCell& c = s.cells[k];
      if (excess.usual[i][k] <= 0 || c.samples == 0) continue;
      const double above = c.mean_log() - excess.usual[i][k];
      LinkSeen& link = n.links[{c.from, c.to}];
      link.above += above * static_cast<double>(c.samples);
      link.samples += static_cast<double>(c.samples);
      if (above <= slower) continue;
      link.excess_s += c.exposed_s * (1 - std::exp(-above));
      n.above += c.exposed_s * above;
      n.weight += c.exposed_s;
    }
  }
  return n;
}

Finding slow_transfers(const Evidence& e, const Network& n, const Interval& interval) {
  Finding f;
  f.cause = Cause::background;
  f.detail = "link";
  set_period(f, interval, e.slices, e.threads, e.finished);
  SlowLinks slow = slow_links(n.links, slower, e.node_names);
  f.nodes = std::move(slow.nodes);
  const double traffic = n.traffic(interval), moved = n.inside + n.weight;
  const double compared = n.calm >= enough_slices ? 1 : 0.4;  // else it is not known how it is without
  f.confidence = 0.95 * std::min(ramp(n.slowness(), 1.4, 2.5), ramp(f.score, 0.02, 0.07)) * persistence(interval) *
                 compared * (traffic > 2 ? 0.5 : 1) * ramp(moved / (moved + n.computed), 0.25, 0.55);
  f.evidence = {
      "messages between nodes took " + words::number(n.slowness()) + " times as long as the same sizes usually do",
      "slow from node to node: " + slow.text,
      "that cost " + words::number(interval.cost_s) + " rank-seconds, " + words::percent(f.score) +
          " of the time of all ranks",
      "meanwhile the job itself sent " + words::percent(traffic) + " of its usual bytes per second between nodes"};
  f.advice =
      "Something else uses the network: wait until it is over, or ask for other nodes than those of these links.";
  return f;
}

}  // namespace

std::vector<Finding> find_background(const Evidence& e) {
  std::vector<Finding> findings;
  const Excess excess = excess_of(e);
  std::vector<double> cost(e.slices.size());
  std::vector<char> active(e.slices.size());
  for (std::size_t i = 0; i < e.slices.size(); ++i) {
    const Slice& s = e.slices[i];
    const double exposed = s.exposed_s(), inside = exposed + s.intra_exposed_s;
    // Waits that go back to transfers: to those in excess, by their share.
    cost[i] = excess.slice_s[i] + (inside > 0 ? s.inside_mpi_s * std::min(1.0, excess.slice_s[i] / inside) : 0);
    active[i] = cost[i] >= least_excess * s.seconds() * e.threads &&
                excess.slice_s[i] >= (1 - std::exp(-clearly_slower)) * 0.5 * exposed;
  }
  for (const Interval& interval : intervals_of(e.slices, cost, active)) {
    const Network n = network_in(e, excess, interval);
    if (n.weight > 0) findings.push_back(slow_transfers(e, n, interval));
  }
  return findings;
}

namespace {

// How much longer messages of the same size take between nodes than inside; 0: nothing to compare.
double between_and_inside(const Evidence& e) {
  double log_ratio = 0, weight = 0;
  for (std::uint32_t o = 0; o < Exposure::octaves; ++o) {
    const Exposure::Usual &intra = e.exposure.usual(false, o), &inter = e.exposure.usual(true, o);
    const auto n = static_cast<double>(std::min(intra.samples, inter.samples));
    if (n < 3) continue;
    log_ratio += n * (inter.mean_log() - intra.mean_log());
    weight += n;
  }
  return weight > 0 ? std::exp(log_ratio / weight) : 0;
}

// The whole run, as one interval.
Interval all_of(const std::vector<Slice>& slices, const std::vector<double>& cost) {
  Interval interval;
  interval.last = slices.size() - 1;
  interval.begin_s = static_cast<double>(slices.front().begin_ns) * 1e-9;
  interval.end_s = static_cast<double>(slices.back().end_ns) * 1e-9;
  for (const double c : cost) interval.cost_s += c;
  return interval;
}

}  // namespace

std::vector<Finding> find_mapping(const Evidence& e, const std::vector<Finding>& background) {
  if (e.mapping == nullptr || e.slices.empty()) return {};
  const BetterMapping& m = *e.mapping;
  if (m.messages_before == 0 || m.messages_after >= m.messages_before) return {};
  const double saved = 1 - static_cast<double>(m.messages_after) / static_cast<double>(m.messages_before);
  const double saved_bytes = m.bytes_before > 0 ? std::max(0.0, 1 - m.bytes_after / m.bytes_before) : saved;
  if (saved < least_gain && saved_bytes < least_gain) return {};
  const double ratio = between_and_inside(e);
  const Excess excess = excess_of(e);
  std::vector<double> cost(e.slices.size());
  double intra = 0, inter = 0;
  for (std::size_t i = 0; i < e.slices.size(); ++i) {
    const Slice& s = e.slices[i];
    const double exposed = s.exposed_s(), inside = exposed + s.intra_exposed_s;
    const double usual = std::max(0.0, exposed - (background.empty() ? 0 : excess.slice_s[i]));
    const double all = usual + (inside > 0 ? s.inside_mpi_s * usual / inside : 0);
    cost[i] = all * std::max(saved, saved_bytes) * (ratio > 1 ? 1 - 1 / ratio : ratio > 0 ? 0 : 0.5);
    intra += static_cast<double>(s.intra_messages);
    inter += static_cast<double>(s.inter_messages);
  }
  const Interval interval = all_of(e.slices, cost);
  Finding f;
  f.cause = Cause::mapping;
  f.detail = "placement";
  f.ranks = m.moved;
  if (f.ranks.size() > 64) f.ranks.resize(64);
  set_period(f, interval, e.slices, e.threads, e.finished);
  const double different = ratio > 0 ? ramp(ratio, 1.1, 1.8) : 0.75;
  f.confidence = 0.95 *
                 std::min({ramp(std::max(saved, saved_bytes), 0.1, 0.25), ramp(f.score, 0.015, 0.05), different}) *
                 std::min(1.0, interval.seconds() / 1.5);
  f.evidence = {
      words::percent(intra + inter > 0 ? inter / (intra + inter) : 0) + " of all messages are between nodes (" +
          words::number(inter) + " of " + words::number(intra + inter) + ")",
      "a better placement was found: " + std::to_string(m.messages_before) + " to " + std::to_string(m.messages_after) +
          " messages between nodes (-" + words::percent(saved) + "), bytes -" + words::percent(saved_bytes),
      ratio > 0 ? "messages of the same size take " + words::number(ratio) + " times as long between nodes as inside"
                : std::string("no messages of the same size inside nodes to compare with"),
      "that costs about " + words::number(interval.cost_s) + " rank-seconds, " + words::percent(f.score) +
          " of the time of all ranks"};
  f.advice = "Place ranks that talk much on one node: `pclscope map` writes the placement for the launcher; " +
             std::to_string(m.moved.size()) + " ranks move.";
  return {std::move(f)};
}

std::vector<TransferLine> lines_of(const Evidence& e) {
  struct Sum {
    std::uint64_t messages = 0;
    std::vector<float> values;
    std::vector<double> known;
  };
  std::map<std::uint32_t, Sum> sums;
  for (std::size_t i = 0; i < e.slices.size(); ++i) {
    std::map<std::uint32_t, TransferCell> cells;
    for (const TransferCell& c : e.slices[i].cells) cells[c.octave].add(c);
    for (const auto& [octave, c] : cells) {
      Sum& sum = sums[octave];
      sum.values.resize(e.slices.size());
      sum.messages += c.messages;
      if (c.messages == 0) continue;
      const double mean = c.transfer_s / static_cast<double>(c.messages);
      sum.values[i] = static_cast<float>(mean);
      sum.known.push_back(mean);
    }
  }
  std::vector<TransferLine> lines;
  for (auto& [octave, sum] : sums) {
    if (sum.known.empty()) continue;
    TransferLine& line = lines.emplace_back();
    line.bytes_low = octave == 0 ? 0 : std::uint64_t{1} << (octave - 1);
    line.bytes_high = octave >= 64 ? UINT64_MAX : std::uint64_t{1} << octave;
    line.messages = sum.messages;
    const double usual = quantile(sum.known, 0.5), high = quantile(sum.known, 0.9);
    line.calm = high <= 1.5 * usual;
    line.normalised = std::move(sum.values);
    for (float& v : line.normalised)
      v = usual > 0 ? static_cast<float>(std::min(1e6, static_cast<double>(v) / usual)) : 0;
  }
  std::sort(lines.begin(), lines.end(), [](const TransferLine& a, const TransferLine& b) {
    return a.messages != b.messages ? a.messages > b.messages : a.bytes_low < b.bytes_low;
  });
  if (lines.size() > 16) lines.resize(16);
  return lines;
}

}  // namespace pclscope::attribute
