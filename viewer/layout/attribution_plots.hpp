// The measures behind findings as pictures over time (PCLVis, Figure 10): rates of messages inside and between nodes,
// load balance, transfer times by size. From slices of unequal length to pixels; whatever is not a number is left
// out.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "analysis/values/attribution.hpp"
#include "viewer/layout/geometry.hpp"
#include "viewer/layout/time_range.hpp"

namespace pclscope::layout {

// A slice that can be drawn.
struct UsableSlice {
  std::size_t index = 0;  // in Attribution::slices, and in TransferLine::normalised
  TimeRange time;         // finite, longer than nothing
};

// Ascending, without overlap (of two that overlap the first stays), the newest 1,024 at most.
std::vector<UsableSlice> usable_slices(const Attribution& attribution);
// From the first's begin to the last's end; nothing without slices.
std::optional<TimeRange> time_range(const std::vector<UsableSlice>& slices);
// The slice at a moment; null: none.
const UsableSlice* slice_at(const std::vector<UsableSlice>& slices, double at_s);

// A moment and a value to pixels. Logarithmic when `low` is above 0 and `logarithmic`.
struct Plot {
  Rect area;
  TimeRange time;
  double low = 0;
  double high = 1;
  bool logarithmic = false;

  float x(double at_s) const;
  float y(double value) const;   // within the area: what is beyond the axis lies on its end
  double moment(float x) const;  // within `time`
};

using Polyline = std::vector<Point>;

enum class Between { ranks_of_a_node, nodes };
// Messages per second in a slice.
double message_rate(const AttributionSlice& slice, Between between);
// The axis: from 0 to the highest rate of both kinds (1 without messages).
double highest_rate(const Attribution& attribution, const std::vector<UsableSlice>& slices);
// Through the middles of slices, begun at the first's begin and ended at the last's end; a gap in time makes two
// pieces.
std::vector<Polyline> rate_lines(const Plot& plot, const Attribution& attribution,
                                 const std::vector<UsableSlice>& slices, Between between);

// Load balance AD / mc_avg is 0 when all ranks have as many messages, 1 is drawn in the reddest colour.
double highest_balance(const Attribution& attribution, const std::vector<UsableSlice>& slices);  // at least 0.5
struct BalanceBar {
  Rect area;  // from the value down to 0
  double value = 0;
};
// One per slice with a value above 0.
std::vector<BalanceBar> balance_bars(const Plot& plot, const Attribution& attribution,
                                     const std::vector<UsableSlice>& slices);

// Transfer times over the usual: the axis is logarithmic from 1/2 to the highest value, at least 4 times.
inline constexpr double lowest_transfer = 0.5;
double highest_transfer(const Attribution& attribution, const std::vector<UsableSlice>& slices);
// Pieces of slices with messages; 0 and what is not a number make gaps.
std::vector<Polyline> transfer_lines(const Plot& plot, const TransferLine& line,
                                     const std::vector<UsableSlice>& slices);
// The largest usable value; 0: none.
double peak_of(const TransferLine& line, const std::vector<UsableSlice>& slices);
// Round values for a logarithmic axis: powers of two, or of larger steps when more than `most` would fall on it.
std::vector<double> doublings(double low, double high, int most);

// How far a point is from a polyline, pixels; infinite for fewer than two points.
float distance_to(const Polyline& line, Point at);

}  // namespace pclscope::layout
