// From one layout of the spatial view to the next: what has moved glides to its new place.
#include <algorithm>
#include <map>
#include <unordered_map>

#include "viewer/gui/spatial/spatial_view.hpp"

namespace pclscope::gui {
namespace {

using layout::Point;

bool same_places(const layout::SpatialLayout& a, const layout::SpatialLayout& b) {
  return std::equal(a.regions.begin(), a.regions.end(), b.regions.begin(), b.regions.end(),
                    [](const layout::PlacedRegion& x, const layout::PlacedRegion& y) {
                      return x.id == y.id && x.at == y.at && x.ranks == y.ranks;
                    });
}

}  // namespace

Point SpatialView::place_of(std::size_t region) const {
  const Point at = placed_->regions[region].at;
  return glide_.active() ? at + regions_from_[region] * glide_.left() : at;
}

Point SpatialView::place_of(std::size_t region, std::size_t rank) const {
  const layout::PlacedRegion& in = placed_->regions[region];
  const Point at = in.at + in.ranks[rank].offset;
  return glide_.active() ? at + ranks_from_[region][rank] * glide_.left() : at;
}

// A region comes from where it was, a new one from where its ranks were; a rank from where it was.
void SpatialView::take_layout(std::shared_ptr<const layout::SpatialLayout> answer, bool glides) {
  if (placed_ && answer && same_places(*placed_, *answer)) {
    placed_ = std::move(answer);
    return;
  }
  std::map<std::int32_t, Point> region_was;
  std::unordered_map<std::int32_t, Point> rank_was;
  for (std::size_t i = 0; glides && placed_ && i < placed_->regions.size(); ++i) {
    const layout::PlacedRegion& region = placed_->regions[i];
    region_was.emplace(region.id, place_of(i));
    for (std::size_t k = 0; k < region.ranks.size(); ++k) rank_was.emplace(region.ranks[k].rank, place_of(i, k));
  }
  placed_ = std::move(answer);
  glide_.stop();
  regions_from_.clear();
  ranks_from_.clear();
  if (!placed_ || region_was.empty()) return;
  for (const layout::PlacedRegion& region : placed_->regions) {
    std::vector<Point>& from = ranks_from_.emplace_back();
    Point sum;
    for (const layout::PlacedRank& rank : region.ranks) {
      const auto was = rank_was.find(rank.rank);
      from.push_back(was != rank_was.end() ? was->second - (region.at + rank.offset) : Point{});
      sum = sum + from.back();
    }
    const auto was = region_was.find(region.id);
    const float share = from.empty() ? 0 : 1 / static_cast<float>(from.size());
    regions_from_.push_back(was != region_was.end() ? was->second - region.at : sum * share);
  }
  glide_.start();
  if (!camera_.moved()) camera_.glide();
}

}  // namespace pclscope::gui
