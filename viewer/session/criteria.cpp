#include "viewer/session/criteria.hpp"

#include <algorithm>
#include <tuple>

namespace pclscope::session {

Criteria::Criteria(std::vector<Criterion> criteria) : sorted_(std::move(criteria)) {
  std::sort(sorted_.begin(), sorted_.end(), [](const Criterion& a, const Criterion& b) {
    return std::tuple(a.inter_node, a.bytes_low) < std::tuple(b.inter_node, b.bytes_low);
  });
}

const Criterion* Criteria::find(const Message& message) const {
  if (message.flags & message_flag::no_latency) return nullptr;
  const bool inter_node = (message.flags & message_flag::inter_node) != 0;
  auto after =
      std::upper_bound(sorted_.begin(), sorted_.end(), std::tuple(inter_node, message.bytes),
                       [](const auto& key, const Criterion& c) { return key < std::tuple(c.inter_node, c.bytes_low); });
  if (after == sorted_.begin()) return nullptr;
  const Criterion& criterion = *--after;
  return criterion.inter_node == inter_node && message.bytes < criterion.bytes_high ? &criterion : nullptr;
}

std::optional<double> Criteria::ratio(const Message& message) const {
  const Criterion* criterion = find(message);
  if (criterion == nullptr) return std::nullopt;
  const double usual = criterion->criterion_s > 0 ? criterion->criterion_s : criterion->median_s;
  if (!(usual > 0)) return std::nullopt;
  return static_cast<double>(message.time()) / 1e9 / usual;
}

std::optional<double> Criteria::transfer_ratio(const Message& message) const {
  const Criterion* criterion = find(message);
  if (criterion == nullptr) return std::nullopt;
  const double usual =
      criterion->transfer_criterion_s > 0 ? criterion->transfer_criterion_s : criterion->transfer_median_s;
  if (!(usual > 0)) return std::nullopt;
  return static_cast<double>(wait_split(message).transfer) / 1e9 / usual;
}

}  // namespace pclscope::session
