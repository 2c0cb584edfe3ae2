// Times of a job on several nodes, corrected by the clocks' re-estimation at the end of the run, and their error bars.
// Private to analysis/store.
#pragma once

#include <cstdint>
#include <vector>

#include "analysis/values/collective_call.hpp"
#include "analysis/values/message.hpp"
#include "analysis/values/mpi_call.hpp"
#include "analysis/values/snapshot.hpp"

namespace pclscope::store {

class CorrectedTimes {
 public:
  CorrectedTimes() = default;
  explicit CorrectedTimes(const Snapshot& summary);

  // Also sets Message::clock_error_ns between nodes, and judges anew whether the corrected times are a clock_violation
  // or clock_unclear. Where nothing was corrected, flags stay: they were judged with the error of that moment.
  void apply(Message& message) const;
  void apply(CollectiveCall& call) const;
  void apply(MpiCall& call) const;
  bool empty() const { return nodes_.empty(); }
  // No time moves by more.
  std::int64_t most_ns() const;

 private:
  struct Node {
    std::vector<ClockCorrection> points;  // ascending; none: its clock was not re-estimated
    double error_s = 0;                   // then
  };
  const Node* of(std::int32_t rank) const;
  static bool moves(const Node* node) { return node != nullptr && !node->points.empty(); }
  static double at(const Node& node, double time_s, double ClockCorrection::*value);
  static std::int64_t corrected(const Node* node, std::int64_t ns);
  static double error_ns(const Node* node, std::int64_t ns);

  std::vector<std::int32_t> node_of_rank_;
  std::vector<Node> nodes_;  // empty: a job on one node
};

}  // namespace pclscope::store
