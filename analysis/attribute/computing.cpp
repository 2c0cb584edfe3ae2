#include "analysis/attribute/computing.hpp"

#include <algorithm>
#include <utility>

namespace pclscope::attribute {

void Computing::look(Slices& slices) {
  if (!inside_mpi_ || slices.all().empty()) return;
  const std::int64_t now = slices.all().back().end_ns;
  if (now <= looked_ns_) return;
  const std::int64_t from = std::exchange(looked_ns_, now);
  const bool is_first = until_now_s_.empty();
  until_now_s_.resize(static_cast<std::size_t>(slices.ranks()));
  const double length = is_first ? 0 : static_cast<double>(now - from) * 1e-9;
  for (std::int32_t rank = 0; rank < slices.ranks(); ++rank) {
    double& until_now = until_now_s_[static_cast<std::size_t>(rank)];
    const Inside now_inside = inside_mpi_(rank);
    const double inside =
        (now_inside.seconds - std::exchange(until_now, now_inside.seconds)) / std::max(now_inside.threads, 1u);
    if (is_first) continue;
    const double outside = length - std::clamp(inside, 0.0, length);
    slices.spread(from, now, [&](Slice& s, double share) {
      RankShare* row = Slices::row(s, rank);
      if (row == nullptr) return;
      row->outside_s += share * outside;
      row->looked_at_s += share * length;
    });
  }
}

double Computing::inside_mpi_s(std::int32_t ranks) const {
  double sum = 0;
  for (std::int32_t rank = 0; inside_mpi_ && rank < ranks; ++rank) sum += inside_mpi_(rank).seconds;
  return sum;
}

}  // namespace pclscope::attribute
