// When ranks were runnable but off their core outside MPI, lately: what delays are corrected by. One thread owns an
// OffCoreTimes. Memory: 32 intervals of 24 bytes per rank that was off its core.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace pclscope {

// In [begin, end) the rank was off its core so long.
struct OffCoreSpan {
  std::int32_t rank = 0;
  std::int64_t begin_ns = 0, end_ns = 0;
  std::int64_t off_ns = 0;
};

class OffCoreTimes {
 public:
  explicit OffCoreTimes(std::int32_t ranks) : ranks_(static_cast<std::size_t>(std::max(ranks, 0))) {}

  // In [begin, end) it was off its core for `off_ns`; intervals of a rank come in order.
  void add(std::int32_t rank, std::int64_t begin_ns, std::int64_t end_ns, std::int64_t off_ns) {
    if (rank < 0 || static_cast<std::size_t>(rank) >= ranks_.size() || end_ns <= begin_ns) return;
    std::vector<Part>& parts = ranks_[static_cast<std::size_t>(rank)];
    if (parts.empty() && off_ns <= 0) return;
    if (parts.size() >= most) parts.erase(parts.begin(), parts.begin() + most / 2);
    parts.push_back({begin_ns, end_ns, std::clamp<std::int64_t>(off_ns, 0, end_ns - begin_ns)});
  }

  // How long it was off its core in [from, to), as far as that is known: evenly over an interval; after the newest as
  // in the newest.
  double in(std::int32_t rank, std::int64_t from_ns, std::int64_t to_ns) const {
    if (rank < 0 || static_cast<std::size_t>(rank) >= ranks_.size() || to_ns <= from_ns) return 0;
    const std::vector<Part>& parts = ranks_[static_cast<std::size_t>(rank)];
    if (parts.empty()) return 0;
    double sum = 0;
    const Part& newest = parts.back();
    if (to_ns > newest.end_ns)
      sum += newest.share() *
             static_cast<double>(std::min(to_ns, newest.end_ns + most_ahead_ns) -
                                 std::min(std::max(from_ns, newest.end_ns), newest.end_ns + most_ahead_ns));
    for (std::size_t i = parts.size(); i-- > 0 && parts[i].end_ns > from_ns;) {
      const std::int64_t begin = std::max(from_ns, parts[i].begin_ns), end = std::min(to_ns, parts[i].end_ns);
      if (end > begin) sum += parts[i].share() * static_cast<double>(end - begin);
    }
    return sum;
  }

 private:
  static constexpr std::size_t most = 32;
  static constexpr std::int64_t most_ahead_ns = 2'000'000'000;
  struct Part {
    std::int64_t begin_ns = 0, end_ns = 0, off_ns = 0;
    double share() const { return static_cast<double>(off_ns) / static_cast<double>(end_ns - begin_ns); }
  };
  std::vector<std::vector<Part>> ranks_;
};

}  // namespace pclscope
