#include "viewer/gui/dag/dag_worst.hpp"

#include <algorithm>
#include <cmath>

#include "viewer/text/quantities.hpp"

namespace pclscope::gui {

void WorstMessage::tell(const Scene& scene, const Dag& dag, std::size_t node) {
  clear();
  message_.reset();
  const auto& received = dag.nodes[node].received;
  const auto ratio = [](const DagMessage& m) { return std::isfinite(m.ratio) ? m.ratio : 0; };
  const auto worst = std::max_element(received.begin(), received.end(),
                                      [&](const DagMessage& a, const DagMessage& b) { return ratio(a) < ratio(b); });
  if (worst == received.end()) return;
  const std::int32_t to = dag.nodes[node].rank;
  message_ = SelectedMessage{worst->peer, to, worst->begin_s};
  told_ = "rank " + std::to_string(worst->peer) + " to rank " + std::to_string(to) + ": " +
          text::format_times(ratio(*worst)) + " as long as usual (" + text::format_seconds(worst->time_s) + ", " +
          text::format_bytes(static_cast<double>(worst->bytes)) + "), sent at " + text::format_moment(worst->begin_s);
  if (!scene.ask || scene.connection.phase != session::Phase::stored) return;
  lines_ = std::make_shared<Lines>();
  scene.ask([lines = lines_, of = *message_, tag = worst->tag](session::Session* session, const auto&) {
    if (session == nullptr) return;
    const auto begin = static_cast<std::int64_t>(std::llround(of.begin_s * 1e9));
    // Its send began then, as exactly as seconds in a double tell.
    (void)session->messages({begin - 1000, begin + 1000}, [&](std::span<const Message> batch) {
      for (const Message& m : batch) {
        if (m.source != of.source || m.destination != of.destination || m.tag != tag) continue;
        const std::lock_guard lock(lines->mutex);
        lines->sent = m.send_site;
        lines->received = m.recv_site;
      }
      return true;
    });
  });
}

std::string WorstMessage::words(const Scene& scene) const {
  if (!lines_ || !scene.snapshot) return told_;
  const std::lock_guard lock(lines_->mutex);
  if (lines_->sent == 0 && lines_->received == 0) return told_;
  const views::Sites sites(scene.snapshot->sites);
  return told_ + ", from " + sites.brief(lines_->sent) + " to " + sites.brief(lines_->received);
}

}  // namespace pclscope::gui
