// Latency ratios of stored messages: by a run's final criteria, looked up by class and size.
#pragma once

#include <optional>
#include <vector>

#include "analysis/values/message.hpp"
#include "analysis/values/snapshot.hpp"

namespace pclscope::session {

class Criteria {
 public:
  explicit Criteria(std::vector<Criterion> criteria);
  // Time of the message / its criterion; nothing without a criterion or a completion time.
  std::optional<double> ratio(const Message& message) const;
  // The same of its transfer alone; nothing where the dump does not tell what a transfer takes.
  std::optional<double> transfer_ratio(const Message& message) const;

 private:
  const Criterion* find(const Message& message) const;

  std::vector<Criterion> sorted_;
};

}  // namespace pclscope::session
