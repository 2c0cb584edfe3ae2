#include "analysis/logical/layers.hpp"

namespace pclscope::logical {

// A layer belongs to the phases before it that it connects, unless it repeats something of one. Then these are over,
// and each set of ranks that the layer connects begins one. So are phases that it has no event of.
void Layers::join_or_close() {
  for (const std::int32_t rank : active_) joined_.unite(open_.find(rank), open_.find(pieces_.find(rank)));
  for (const std::int32_t rank : active_) {
    const std::size_t set = at(joined_.find(open_.find(rank)));
    goes_on_[set] = true;
    if (std::exchange(repeats_[at(rank)], false)) closes_.push_back(set);
  }
  for (const std::size_t set : closes_) repeats_[set] = true;
  over_.clear();
  for (const auto* ranks : {&active_, &before_})
    for (const std::int32_t rank : *ranks)
      if (const std::size_t set = at(joined_.find(open_.find(rank))); repeats_[set] || !goes_on_[set])
        over_.push_back(open_.find(rank));
  for (const std::size_t set : closes_) repeats_[set] = false;
  closes_.clear();
  for (const auto* ranks : {&active_, &before_})
    for (const std::int32_t rank : *ranks) {
      const std::int32_t set = open_.find(rank);
      goes_on_[at(joined_.find(set))] = false;
      unjoined_.push_back(set);
    }
  for (const std::int32_t set : unjoined_) joined_.reset(set);
  unjoined_.clear();
  for (const std::int32_t set : over_) close(set);
  for (const std::int32_t rank : active_)
    if (const std::int32_t other = pieces_.find(rank); open_.unite(rank, other) >= 0)
      std::swap(state(rank).next, state(other).next);  // two circles become one
  for (const std::int32_t rank : active_) pieces_.reset(rank), state(rank).layer = state(rank).done;
  before_.swap(active_);
  ++layer_;
}

void Layers::close(std::int32_t set) {
  if (open_.find(set) != set) return;
  parts_.clear();
  for (std::int32_t rank = set, next = set;; rank = next) {
    RankState& s = state(rank);
    next = std::exchange(s.next, rank);
    if (s.layer > s.phase) parts_.push_back({rank, s.phase, s.layer});
    s.phase = s.layer;
    s.since = layer_;
    open_.reset(rank);
    if (next == set) break;
  }
  if (parts_.empty()) return;
  std::sort(parts_.begin(), parts_.end(), [](const Part& a, const Part& b) { return a.rank < b.rank; });
  stepper_->add_phase(parts_);
}

void sort_phases(LogicalTime& time) {
  const auto key = [&](const Phase& p) { return std::pair(p.first_step, time.parts[p.first_part].rank); };
  std::sort(time.phases.begin(), time.phases.end(), [&](const Phase& a, const Phase& b) { return key(a) < key(b); });
}

}  // namespace pclscope::logical
