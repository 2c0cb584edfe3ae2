// How long ranks waited in each wait state (values/wait_state.hpp), by function, communicator and call site, and for
// whom most. Point-to-point calls are not among them: their time stands with ranks, regions and call sites.
#include <algorithm>
#include <map>
#include <tuple>

#include "analysis/stages/stage.hpp"
#include "analysis/values/wait_state.hpp"

namespace pclscope {
namespace {

constexpr std::size_t most_sums = 4096;  // beyond, one of no communicator and site for each state and function
constexpr std::size_t most_told = 256;

class WaitStates final : public Stage {
 public:
  explicit WaitStates(std::int32_t ranks) : ranks_(ranks) {}

  void add(const Input& input) override {
    for (const CollectiveCall& c : input.calls) {
      const std::int64_t ns = c.wait();
      if (ns <= 0 || group_of(c) == WaitGroup::point_to_point) continue;
      Key key{state_of(c), c.function, c.comm, static_cast<std::uint32_t>(c.site)};
      if (sums_.size() >= most_sums && !sums_.contains(key)) std::get<2>(key) = std::get<3>(key) = 0;
      Sum& sum = sums_[key];
      const double wait_s = static_cast<double>(ns) * 1e-9;
      ++sum.row.waits;
      sum.row.wait_s += wait_s;
      sum.row.worst_s = std::max(sum.row.worst_s, wait_s);
      if (c.awaited < 0 || c.awaited >= ranks_) continue;
      if (sum.awaited_s.empty()) sum.awaited_s.resize(static_cast<std::size_t>(ranks_));
      sum.awaited_s[static_cast<std::size_t>(c.awaited)] += wait_s;
    }
  }

  void fill(Snapshot& snapshot) const override {
    std::vector<WaitStateSum>& rows = snapshot.wait_states;
    rows.clear();
    for (const auto& [key, sum] : sums_) {
      WaitStateSum& row = rows.emplace_back(sum.row);
      std::tie(row.state, row.function, row.comm, row.site) = key;
      for (std::size_t rank = 0; rank < sum.awaited_s.size(); ++rank) {
        if (sum.awaited_s[rank] <= row.awaited_s) continue;
        row.awaited_rank = static_cast<std::int32_t>(rank);
        row.awaited_s = sum.awaited_s[rank];
      }
    }
    std::stable_sort(rows.begin(), rows.end(),
                     [](const WaitStateSum& a, const WaitStateSum& b) { return a.wait_s > b.wait_s; });
    if (rows.size() > most_told) rows.resize(most_told);
  }

 private:
  using Key = std::tuple<WaitState, std::uint16_t, std::uint64_t, std::uint32_t>;
  struct Sum {
    WaitStateSum row;
    std::vector<double> awaited_s;  // by rank; empty: nobody
  };
  std::int32_t ranks_;
  std::map<Key, Sum> sums_;
};

}  // namespace

std::unique_ptr<Stage> make_wait_states_stage(std::int32_t ranks);
std::unique_ptr<Stage> make_wait_states_stage(std::int32_t ranks) { return std::make_unique<WaitStates>(ranks); }

}  // namespace pclscope
