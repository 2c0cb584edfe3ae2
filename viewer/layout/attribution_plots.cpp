#include "viewer/layout/attribution_plots.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace pclscope::layout {
namespace {

constexpr std::size_t most_slices = 1024;
constexpr double furthest_s = 1e9;  // thirty years
constexpr double most_value = 1e12;

bool usable(double value) { return std::isfinite(value) && value > 0; }

double share_of(double value, const Plot& plot) {
  if (!plot.logarithmic || !(plot.low > 0)) return (value - plot.low) / (plot.high - plot.low);
  return std::log(std::max(value, plot.low) / plot.low) / std::log(plot.high / plot.low);
}

// A polyline's points are added slice by slice; `finish` gives it its end.
class PieceBuilder {
 public:
  explicit PieceBuilder(const Plot& plot) : plot_(plot) {}
  void add(const TimeRange& slice, double value) {
    const float y = plot_.y(value);
    if (open_ && slice.begin_s > last_.end_s + 0.5 * std::min(last_.length_s(), slice.length_s())) finish();
    if (!open_) pieces_.push_back({{plot_.x(slice.begin_s), y}});
    open_ = true;
    pieces_.back().push_back({plot_.x(0.5 * (slice.begin_s + slice.end_s)), y});
    last_ = slice;
  }
  void finish() {
    if (open_) pieces_.back().push_back({plot_.x(last_.end_s), pieces_.back().back().y});
    open_ = false;
  }
  std::vector<Polyline> take() {
    finish();
    return std::move(pieces_);
  }

 private:
  const Plot& plot_;
  std::vector<Polyline> pieces_;
  TimeRange last_;
  bool open_ = false;
};

double value_in(const TransferLine& line, const UsableSlice& slice) {
  const double value = slice.index < line.normalised.size() ? static_cast<double>(line.normalised[slice.index]) : 0;
  return usable(value) ? std::min(value, most_value) : 0;
}

}  // namespace

std::vector<UsableSlice> usable_slices(const Attribution& attribution) {
  std::vector<UsableSlice> found;
  double until = -furthest_s;
  for (std::size_t i = 0; i < attribution.slices.size(); ++i) {
    const AttributionSlice& s = attribution.slices[i];
    const double end = s.begin_s + s.length_s;
    if (!(std::fabs(s.begin_s) < furthest_s) || !(std::fabs(end) < furthest_s) || !(end > s.begin_s)) continue;
    if (s.begin_s < until - 1e-6 || end <= until) continue;
    found.push_back({i, {std::max(s.begin_s, until), end}});
    until = end;
  }
  if (found.size() > most_slices) found.erase(found.begin(), found.end() - static_cast<std::ptrdiff_t>(most_slices));
  return found;
}

std::optional<TimeRange> time_range(const std::vector<UsableSlice>& slices) {
  if (slices.empty()) return std::nullopt;
  return TimeRange{slices.front().time.begin_s, slices.back().time.end_s};
}

const UsableSlice* slice_at(const std::vector<UsableSlice>& slices, double at_s) {
  const auto after = std::upper_bound(slices.begin(), slices.end(), at_s,
                                      [](double t, const UsableSlice& s) { return t < s.time.end_s; });
  return after != slices.end() && at_s >= after->time.begin_s ? &*after : nullptr;
}

float Plot::x(double at_s) const {
  const double share = time.length_s() > 0 ? (at_s - time.begin_s) / time.length_s() : 0;
  // Zoomed in, points may lie far outside; beyond some screens they need no more precision.
  return area.low.x + area.width() * static_cast<float>(std::isfinite(share) ? std::clamp(share, -1e3, 1e3) : 0);
}

float Plot::y(double value) const {
  const double share = high > low && std::isfinite(value) ? share_of(value, *this) : 0;
  return area.high.y - area.height() * static_cast<float>(std::clamp(std::isfinite(share) ? share : 0.0, 0.0, 1.0));
}

double Plot::moment(float x) const {
  if (!(area.width() > 0)) return time.begin_s;
  const double share = static_cast<double>((x - area.low.x) / area.width());
  return time.begin_s + time.length_s() * std::clamp(std::isfinite(share) ? share : 0.0, 0.0, 1.0);
}

double message_rate(const AttributionSlice& slice, Between between) {
  const auto messages = static_cast<double>(between == Between::nodes ? slice.inter_messages : slice.intra_messages);
  const double rate = messages / slice.length_s;
  return usable(rate) ? std::min(rate, 1e15) : 0;
}

double highest_rate(const Attribution& attribution, const std::vector<UsableSlice>& slices) {
  double most = 0;
  for (const UsableSlice& s : slices) {
    for (const Between between : {Between::ranks_of_a_node, Between::nodes})
      most = std::max(most, message_rate(attribution.slices[s.index], between));
  }
  return most > 0 ? most : 1;
}

std::vector<Polyline> rate_lines(const Plot& plot, const Attribution& attribution,
                                 const std::vector<UsableSlice>& slices, Between between) {
  PieceBuilder builder(plot);
  for (const UsableSlice& s : slices) builder.add(s.time, message_rate(attribution.slices[s.index], between));
  return builder.take();
}

double highest_balance(const Attribution& attribution, const std::vector<UsableSlice>& slices) {
  double most = 0.5;
  for (const UsableSlice& s : slices) {
    const double value = attribution.slices[s.index].load_balance;
    if (usable(value)) most = std::max(most, std::min(value, most_value));
  }
  return most;
}

std::vector<BalanceBar> balance_bars(const Plot& plot, const Attribution& attribution,
                                     const std::vector<UsableSlice>& slices) {
  std::vector<BalanceBar> bars;
  for (const UsableSlice& s : slices) {
    const double value = attribution.slices[s.index].load_balance;
    if (!usable(value)) continue;
    bars.push_back(
        {{{plot.x(s.time.begin_s), plot.y(value)}, {plot.x(s.time.end_s), plot.y(0)}}, std::min(value, most_value)});
  }
  return bars;
}

double peak_of(const TransferLine& line, const std::vector<UsableSlice>& slices) {
  double most = 0;
  for (const UsableSlice& s : slices) most = std::max(most, value_in(line, s));
  return most;
}

double highest_transfer(const Attribution& attribution, const std::vector<UsableSlice>& slices) {
  double most = 4;
  for (const TransferLine& line : attribution.transfer_lines) most = std::max(most, peak_of(line, slices));
  return most;
}

std::vector<Polyline> transfer_lines(const Plot& plot, const TransferLine& line,
                                     const std::vector<UsableSlice>& slices) {
  PieceBuilder builder(plot);
  for (const UsableSlice& s : slices) {
    const double value = value_in(line, s);
    if (value > 0) builder.add(s.time, value);
    else builder.finish();
  }
  return builder.take();
}

std::vector<double> doublings(double low, double high, int most) {
  if (!(low > 0) || !std::isfinite(high) || !(high > low) || most < 1) return {};
  const double first = std::ceil(std::log2(low) - 1e-9), last = std::floor(std::log2(high) + 1e-9);
  const double step = std::max(1.0, std::ceil((last - first + 1) / most));
  std::vector<double> found;
  // Whole steps from 1 on, so that 1 (the usual) is among them.
  for (double at = std::ceil(first / step) * step; at <= last && found.size() < static_cast<std::size_t>(most) + 1;
       at += step)
    found.push_back(std::exp2(at));
  return found;
}

float distance_to(const Polyline& line, Point at) {
  float nearest = std::numeric_limits<float>::infinity();
  for (std::size_t i = 0; i + 1 < line.size(); ++i) {
    const Point along = line[i + 1] - line[i], to = at - line[i];
    const float square = along.x * along.x + along.y * along.y;
    const float share = square > 0 ? std::clamp((along.x * to.x + along.y * to.y) / square, 0.f, 1.f) : 0.f;
    nearest = std::min(nearest, distance(at, line[i] + along * share));
  }
  return nearest;
}

}  // namespace pclscope::layout
