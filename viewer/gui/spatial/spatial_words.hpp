// What the spatial view's tooltips and head line say. Plain text, no ImGui.
#pragma once

#include <optional>
#include <string>
#include <utility>

#include "viewer/gui/base/view.hpp"
#include "viewer/layout/spatial_values.hpp"

namespace pclscope::gui {

std::string region_words(const layout::SpatialLayout& placed, std::size_t region, const layout::RegionValue& value,
                         const std::optional<SelectedPeriod>& period, bool open);
std::string rank_words(const Snapshot& snapshot, std::int32_t rank, std::int32_t region, const RankSummary* summary,
                       bool of_period);
std::string link_words(const RegionLink& link);
std::string pair_words(std::pair<std::int32_t, std::int32_t> ranks, std::uint64_t messages);

// One line on top: the region that is latest, and when.
std::string worst_words(const layout::SpatialLayout& placed, const std::vector<layout::RegionValue>& values,
                        const std::optional<SelectedPeriod>& period);
// The same by harm: the region that delays others most, or that none stands out.
std::string harm_words(const layout::SpatialLayout& placed, const std::vector<double>& harms);
// What there is to see when nothing can be drawn.
std::string empty_words(const Scene& scene);
// Of the legend and of the help mark.
std::string legend_words(layout::SpatialColouring colouring);
std::string help_words();

}  // namespace pclscope::gui
