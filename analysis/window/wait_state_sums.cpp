#include "analysis/window/wait_state_sums.hpp"

#include <algorithm>

namespace pclscope {
namespace {

constexpr std::size_t most_sums = 4096;  // beyond, one of no communicator and site for each state and function
constexpr std::size_t most_told = 256;

}  // namespace

void WaitStateSums::add(const CollectiveCall& c) {
  const std::int64_t ns = c.wait();
  if (ns <= 0 || group_of(c) == WaitGroup::point_to_point) return;
  Key key{state_of(c), c.function, c.comm, static_cast<std::uint32_t>(c.site)};
  if (sums_.size() >= most_sums && !sums_.contains(key)) std::get<2>(key) = std::get<3>(key) = 0;
  Sum& sum = sums_[key];
  const double wait_s = static_cast<double>(ns) * 1e-9;
  ++sum.row.waits;
  sum.row.wait_s += wait_s;
  sum.row.worst_s = std::max(sum.row.worst_s, wait_s);
  if (c.awaited < 0 || c.awaited >= ranks_) return;
  if (sum.awaited_s.empty()) sum.awaited_s.resize(static_cast<std::size_t>(ranks_));
  sum.awaited_s[static_cast<std::size_t>(c.awaited)] += wait_s;
}

std::vector<WaitStateSum> WaitStateSums::list() const {
  std::vector<WaitStateSum> rows;
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
  return rows;
}

}  // namespace pclscope
