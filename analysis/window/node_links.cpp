#include "analysis/window/node_links.hpp"

#include <algorithm>

namespace pclscope {

void NodeLinks::advance(std::int64_t now_ns) {
  if (now_ns - begin_ns_ < interval_ns) return;
  for (auto& [nodes, link] : links_) {
    if (link.now.timed >= enough && link.now.mean_transfer_ratio() > link.peak_ratio) {
      link.peak_ratio = link.now.mean_transfer_ratio();
      link.peak_ns = begin_ns_;
    }
    link.before = link.now;
    link.now = {};
  }
  begin_ns_ = now_ns;
}

std::vector<NodeLink> NodeLinks::list(std::size_t most, const NodeRatios& ratios) const {
  std::vector<NodeLink> list;
  for (const auto& [nodes, link] : links_) {
    LatencySums newest = link.before;
    newest += link.now;
    NodeLink& out = list.emplace_back();
    out.source = nodes.first;
    out.destination = nodes.second;
    out.messages = link.total.messages;
    out.bytes = link.total.bytes;
    out.delayed = link.total.delayed;
    if (const auto judged = ratios.find(nodes); judged != ratios.end()) {
      out.mean_latency_ratio = judged->second.mean_time();
      out.mean_transfer_ratio = judged->second.mean_transfer();
    }
    out.late_sender_s = static_cast<double>(link.total.blocked.late_sender) * 1e-9;
    out.late_receiver_s = static_cast<double>(link.total.blocked.late_receiver) * 1e-9;
    out.transfer_s = static_cast<double>(link.total.blocked.transfer()) * 1e-9;
    out.mean_transfer_s = link.total.timed == 0 ? 0
                                                : static_cast<double>(link.total.transfer_time_ns) * 1e-9 /
                                                      static_cast<double>(link.total.timed);
    out.newest_messages = newest.messages;
    out.newest_transfer_ratio = newest.mean_transfer_ratio();
    out.peak_transfer_ratio = std::max(link.peak_ratio, link.now.timed >= enough ? link.now.mean_transfer_ratio() : 0);
    out.peak_s = static_cast<double>(out.peak_transfer_ratio > link.peak_ratio ? begin_ns_ : link.peak_ns) * 1e-9;
  }
  std::sort(list.begin(), list.end(), [](const NodeLink& a, const NodeLink& b) {
    return a.messages != b.messages ? a.messages > b.messages
                                    : std::pair(a.source, a.destination) < std::pair(b.source, b.destination);
  });
  if (list.size() > most) list.resize(most);
  return list;
}

}  // namespace pclscope
