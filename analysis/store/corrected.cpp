#include "analysis/store/corrected.hpp"

#include <algorithm>
#include <cmath>

namespace pclscope::store {

CorrectedTimes::CorrectedTimes(const Snapshot& summary) {
  const Network& network = summary.network;
  if (network.clocks.empty() && network.corrections.empty()) return;
  node_of_rank_ = summary.application.node_of_rank;
  nodes_.resize(summary.application.nodes.size());
  for (const ClockState& clock : network.clocks)  // nodes are in range: read_summary()
    if (std::isfinite(clock.error_s))
      nodes_[static_cast<std::size_t>(clock.node)].error_s = std::max(clock.error_s, 0.0);
  for (const ClockCorrection& c : network.corrections) {
    if (!std::isfinite(c.at_s) || !std::isfinite(c.correction_s) || !std::isfinite(c.error_s)) continue;
    std::vector<ClockCorrection>& points = nodes_[static_cast<std::size_t>(c.node)].points;
    if (points.empty() || points.back().at_s < c.at_s) points.push_back(c);
  }
}

const CorrectedTimes::Node* CorrectedTimes::of(std::int32_t rank) const {
  if (rank < 0 || static_cast<std::size_t>(rank) >= node_of_rank_.size()) return nullptr;
  const std::int32_t node = node_of_rank_[static_cast<std::size_t>(rank)];
  return node < 0 ? nullptr : &nodes_[static_cast<std::size_t>(node)];
}

// Constant before the first and behind the last point.
double CorrectedTimes::at(const Node& node, double time_s, double ClockCorrection::*value) {
  const auto after = std::partition_point(node.points.begin(), node.points.end(),
                                          [&](const ClockCorrection& c) { return c.at_s <= time_s; });
  if (after == node.points.begin()) return (*after).*value;
  const ClockCorrection& before = *(after - 1);
  if (after == node.points.end()) return before.*value;
  const double part = (time_s - before.at_s) / (after->at_s - before.at_s);
  return before.*value + part * ((*after).*value - before.*value);
}

// A damaged file may have any times and corrections: they wrap around.
std::int64_t CorrectedTimes::corrected(const Node* node, std::int64_t ns) {
  if (node == nullptr || node->points.empty()) return ns;
  const double correction = at(*node, static_cast<double>(ns) * 1e-9, &ClockCorrection::correction_s) * 1e9;
  constexpr double most = 1e18;
  const auto whole = std::llround(std::clamp(correction, -most, most));
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(ns) + static_cast<std::uint64_t>(whole));
}

std::int64_t CorrectedTimes::most_ns() const {
  double most_s = 0;
  for (const Node& node : nodes_)
    for (const ClockCorrection& c : node.points) most_s = std::max(most_s, std::abs(c.correction_s));
  return static_cast<std::int64_t>(std::min(most_s * 1e9 + 1, 1e18));
}

double CorrectedTimes::error_ns(const Node* node, std::int64_t ns) {
  if (node == nullptr) return 0;
  const double error =
      node->points.empty() ? node->error_s : at(*node, static_cast<double>(ns) * 1e-9, &ClockCorrection::error_s);
  return std::clamp(error * 1e9, 0.0, 2e9);
}

void CorrectedTimes::apply(Message& m) const {
  const Node *source = of(m.source), *destination = of(m.destination);
  const bool inter_node = m.flags & message_flag::inter_node;
  if (inter_node)
    m.clock_error_ns =
        static_cast<std::uint32_t>(std::ceil(error_ns(source, m.send_begin) + error_ns(destination, m.recv_end)));
  for (std::int64_t* time : {&m.send_begin, &m.send_end}) *time = corrected(source, *time);
  for (std::int64_t* time : {&m.recv_post, &m.recv_wait, &m.recv_end}) *time = corrected(destination, *time);
  if (!inter_node || m.flags & message_flag::unseen_completion || !(moves(source) || moves(destination))) return;
  m.flags &= ~(message_flag::clock_violation | message_flag::clock_unclear);
  if (m.recv_end >= m.send_begin) return;
  const std::uint64_t early = static_cast<std::uint64_t>(m.send_begin) - static_cast<std::uint64_t>(m.recv_end);
  m.flags |= early > m.clock_error_ns ? message_flag::clock_violation : message_flag::clock_unclear;
}

void CorrectedTimes::apply(CollectiveCall& c) const {
  const Node* own = of(c.rank);
  const Node* other = c.awaited >= 0 ? of(c.awaited) : own;
  c.begin = corrected(own, c.begin);
  c.end = corrected(own, c.end);
  c.awaited_begin = corrected(other, c.awaited_begin);
}

void CorrectedTimes::apply(MpiCall& c) const {
  const Node* own = of(c.rank);
  c.begin = corrected(own, c.begin);
  c.end = corrected(own, c.end);
}

}  // namespace pclscope::store
