// Arithmetic of clock models (nodes::ClockUpdate): a model at another moment, and a model through the parent's to the
// root's.
#pragma once

#include <cstdint>

#include "analysis/collect/offset_estimator.hpp"
#include "analysis/nodes/link.hpp"

namespace pclscope::collect {

// Offset of `model` at at_ns (local axis), without its error.
double offset_at(const nodes::ClockUpdate& model, std::int64_t at_ns);

// `model` at another moment, before or after its own, with the error that it has there:
// error + min(drift_error |dt| + max_wander/2 dt^2, (max_drift + |drift|) |dt|).
nodes::ClockUpdate moved_to(const nodes::ClockUpdate& model, std::int64_t at_ns, const ClockLimits& limits);

// The child's model against the root: `to_parent` measured against the parent's axis, `parent` the parent's model
// against the root (at a moment of the parent's axis near by). Errors add.
nodes::ClockUpdate through_parent(const OffsetEstimate& to_parent, const nodes::ClockUpdate& parent,
                                  const ClockLimits& limits);

// Finite, error not negative, offset below 30 years, |drift| below 1 %.
bool believable(const nodes::ClockUpdate& model);

}  // namespace pclscope::collect
