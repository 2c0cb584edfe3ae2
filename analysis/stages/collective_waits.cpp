// How long ranks waited in collectives (CollectiveCall::wait), by rank, region and over all.
#include "analysis/stages/stage.hpp"

namespace pclscope {
namespace {

class CollectiveWaits final : public Stage {
 public:
  explicit CollectiveWaits(std::int32_t ranks) : wait_ns_(static_cast<std::size_t>(ranks)) {}

  void add(const Input& input) override {
    for (const CollectiveCall& c : input.calls) {
      ++calls_;
      wait_s_ += static_cast<double>(c.wait()) * 1e-9;
      wait_ns_[static_cast<std::size_t>(c.rank)] += c.wait();
    }
  }

  void fill(Snapshot& snapshot) const override {
    snapshot.collectives.calls = calls_;
    snapshot.collectives.wait_s = wait_s_;
    for (RankSummary& rank : snapshot.ranks) rank.collective_wait_s = seconds(rank.rank);
    for (Region& region : snapshot.regions)
      for (const std::int32_t rank : region.ranks) region.collective_wait_s += seconds(rank);
  }

 private:
  double seconds(std::int32_t rank) const {
    return static_cast<double>(wait_ns_[static_cast<std::size_t>(rank)]) * 1e-9;
  }

  std::uint64_t calls_ = 0;
  double wait_s_ = 0;
  std::vector<std::int64_t> wait_ns_;  // by rank
};

}  // namespace

std::unique_ptr<Stage> make_collective_waits_stage(std::int32_t ranks);
std::unique_ptr<Stage> make_collective_waits_stage(std::int32_t ranks) {
  return std::make_unique<CollectiveWaits>(ranks);
}

}  // namespace pclscope
