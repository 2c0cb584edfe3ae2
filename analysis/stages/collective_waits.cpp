// How long ranks waited in collectives (CollectiveCall::wait), by rank, region and over all. A region's are of the time
// while it was one, by when a change of pattern was recognised: a few windows later than it began.
#include <algorithm>
#include <map>

#include "analysis/stages/stage.hpp"
#include "analysis/values/wait_state.hpp"

namespace pclscope {
namespace {

class CollectiveWaits final : public Stage {
 public:
  explicit CollectiveWaits(std::int32_t ranks)
      : wait_ns_(static_cast<std::size_t>(ranks)), begin_ns_(wait_ns_.size()) {}

  void add(const Input& input) override {
    if (input.pattern != pattern_) {
      pattern_ = input.pattern;
      for (std::size_t rank = 0; rank < region_of_rank_.size(); ++rank)
        if (region_of_rank_[rank] >= 0) before_[region_of_rank_[rank]] += wait_ns_[rank] - begin_ns_[rank];
      begin_ns_ = wait_ns_;
      while (before_.size() > most_regions) before_.erase(before_.begin());
    }
    region_of_rank_.assign(input.region_of_rank.begin(), input.region_of_rank.end());
    for (const CollectiveCall& c : input.calls) {
      if (group_of(c) != WaitGroup::collective) continue;
      ++calls_;
      const std::int64_t ns = c.wait();
      wait_s_ += static_cast<double>(ns) * 1e-9;
      wait_ns_[static_cast<std::size_t>(c.rank)] += ns;
    }
  }

  void fill(Snapshot& snapshot) const override {
    snapshot.collectives.calls = calls_;
    snapshot.collectives.wait_s = wait_s_;
    for (RankSummary& rank : snapshot.ranks) rank.collective_wait_s = seconds(rank.rank);
    for (Region& region : snapshot.regions) {
      std::int64_t wait_ns = before(region.id);
      for (const std::int32_t rank : region.ranks)
        wait_ns += wait_ns_[static_cast<std::size_t>(rank)] - begin_ns_[static_cast<std::size_t>(rank)];
      region.collective_wait_s = static_cast<double>(wait_ns) * 1e-9;
    }
    for (Region& region : snapshot.ended_regions)
      region.collective_wait_s = static_cast<double>(before(region.id)) * 1e-9;
  }

 private:
  static constexpr std::size_t most_regions = 8192;  // whose waits before the present pattern are known

  std::int64_t before(std::int32_t region) const {
    const auto found = before_.find(region);
    return found == before_.end() ? 0 : found->second;
  }
  double seconds(std::int32_t rank) const {
    return static_cast<double>(wait_ns_[static_cast<std::size_t>(rank)]) * 1e-9;
  }

  std::uint64_t calls_ = 0;
  double wait_s_ = 0;
  std::vector<std::int64_t> wait_ns_;   // by rank
  std::vector<std::int64_t> begin_ns_;  // the same, when the present pattern began
  std::vector<std::int32_t> region_of_rank_;
  std::map<std::int32_t, std::int64_t> before_;  // by region, before the present pattern
  std::uint64_t pattern_ = 0;
};

}  // namespace

std::unique_ptr<Stage> make_collective_waits_stage(std::int32_t ranks);
std::unique_ptr<Stage> make_collective_waits_stage(std::int32_t ranks) {
  return std::make_unique<CollectiveWaits>(ranks);
}

}  // namespace pclscope
