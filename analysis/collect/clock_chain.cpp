#include "analysis/collect/clock_chain.hpp"

#include <algorithm>
#include <cmath>

namespace pclscope::collect {

double offset_at(const nodes::ClockUpdate& model, std::int64_t at_ns) {
  return model.offset_ns + model.drift * (static_cast<double>(at_ns) - static_cast<double>(model.at_ns));
}

nodes::ClockUpdate moved_to(const nodes::ClockUpdate& model, std::int64_t at_ns, const ClockLimits& limits) {
  const double ns = std::abs(static_cast<double>(at_ns) - static_cast<double>(model.at_ns)), s = ns / 1e9;
  const double any_drift = limits.max_drift + std::abs(model.drift);
  nodes::ClockUpdate moved = model;
  moved.at_ns = at_ns;
  moved.offset_ns = offset_at(model, at_ns);
  moved.error_ns += std::min(model.drift_error + limits.max_wander / 2 * s, any_drift) * ns;
  moved.drift_error = std::min(model.drift_error + limits.max_wander * s, any_drift);
  return moved;
}

nodes::ClockUpdate through_parent(const OffsetEstimate& to_parent, const nodes::ClockUpdate& parent,
                                  const ClockLimits& limits) {
  const std::int64_t parents_time = to_parent.at_ns + std::llround(to_parent.offset_ns);
  const nodes::ClockUpdate there = moved_to(parent, parents_time, limits);
  nodes::ClockUpdate model;
  model.at_ns = to_parent.at_ns;
  model.offset_ns = to_parent.offset_ns + there.offset_ns;
  model.drift = to_parent.drift + there.drift + to_parent.drift * there.drift;
  // The parent's model was asked at a moment that is wrong by the first error.
  model.error_ns = to_parent.error_ns * (1 + std::abs(there.drift) + there.drift_error) + there.error_ns;
  model.drift_error = to_parent.drift_error * (1 + std::abs(there.drift)) +
                      there.drift_error * (1 + std::abs(to_parent.drift)) + to_parent.drift_error * there.drift_error;
  return model;
}

bool believable(const nodes::ClockUpdate& model) {
  return std::abs(model.offset_ns) < 1e18 && std::abs(model.drift) < 0.01 && model.error_ns >= 0 &&
         model.error_ns < 1e18 && model.drift_error >= 0 && model.drift_error < 1 &&
         std::abs(static_cast<double>(model.at_ns)) < 3e18;
}

}  // namespace pclscope::collect
