#include "viewer/session/criteria.hpp"

#include <algorithm>
#include <tuple>

namespace pclscope::session {

Criteria::Criteria(std::vector<Criterion> criteria) : sorted_(std::move(criteria)) {
  std::sort(sorted_.begin(), sorted_.end(), [](const Criterion& a, const Criterion& b) {
    return std::tuple(a.inter_node, a.bytes_low) < std::tuple(b.inter_node, b.bytes_low);
  });
}

std::optional<double> Criteria::ratio(const Message& message) const {
  if (message.flags & message_flag::unseen_completion) return std::nullopt;
  const bool inter_node = (message.flags & message_flag::inter_node) != 0;
  auto after = std::upper_bound(sorted_.begin(), sorted_.end(), std::tuple(inter_node, message.bytes),
                                [](const auto& key, const Criterion& c) { return key < std::tuple(c.inter_node, c.bytes_low); });
  if (after == sorted_.begin()) return std::nullopt;
  const Criterion& criterion = *--after;
  const bool fits = criterion.inter_node == inter_node && message.bytes < criterion.bytes_high;
  if (!fits || !(criterion.median_s > 0)) return std::nullopt;
  return static_cast<double>(message.time()) / 1e9 / criterion.median_s;
}

}  // namespace pclscope::session
