// Harm: the time that all others lost because of what a rank computed (RankSummary::delay_caused_s), as so many ranks
// that stood still over the whole run: 1.5 means that, on average, one and a half ranks waited for it. A region's is
// the sum over its ranks. Views colour and sort by it once a cause is found; the latency ratio comes second.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "analysis/values/snapshot.hpp"

namespace pclscope::session {

// A finding that names a cause and is more likely right than wrong.
inline constexpr double believed_from = 0.5;
inline bool is_believed(const Finding& finding) {
  return finding.cause > Cause::unknown && finding.confidence > believed_from;
}

// No rank beyond is looked at: a damaged dump may name any number.
inline constexpr std::int32_t most_rank = 1 << 22;

class Harms {
 public:
  explicit Harms(const Snapshot& snapshot);
  // A believed finding exists, and delays are known.
  bool lead() const { return lead_; }
  double of_rank(std::int32_t rank) const;
  double of_region(const Region& region) const;

 private:
  std::vector<double> of_rank_;  // by world rank
  bool lead_ = false;
};

// The regions of now, those of most harm first; as they are while it does not lead.
std::vector<Region> harmful_first(const Snapshot& snapshot);

// What has the full colour: the largest value. But a quarter of a rank at least, and four times what is usual (the
// median): where nobody does much harm, or all do alike, nobody is red.
double harm_top(std::span<const double> values);

// Index of the largest value; none where another one is within 5 % of it, and where all are zero.
std::optional<std::size_t> stands_out(std::span<const double> values);
// All values are within 5 % of the largest; there are two at least.
bool all_alike(std::span<const double> values);

}  // namespace pclscope::session
