#include "analysis/store/window_stages.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

namespace pclscope::store {
namespace {

double finite(double value) { return std::isfinite(value) ? value : 0; }

// As a running mean: no product of large numbers in between.
double mean(double a, std::uint64_t messages_a, double b, std::uint64_t messages_b) {
  const double total = static_cast<double>(messages_a) + static_cast<double>(messages_b);
  return total > 0 ? finite(a + (b - a) * (static_cast<double>(messages_b) / total)) : 0;
}

// The geometric mean of two.
double mean_of_logs(double a, std::uint64_t messages_a, double b, std::uint64_t messages_b) {
  if (!(a > 0)) return b;
  if (!(b > 0)) return a;
  return finite(std::exp(mean(std::log(a), messages_a, std::log(b), messages_b)));
}

void merge(RegionWindow& row, const RegionWindow& later) {
  if (row.typical_ratio > 0 || later.typical_ratio > 0)
    row.typical_ratio = mean_of_logs(row.level(), row.messages, later.level(), later.messages);
  row.mean_ratio = mean(row.mean_ratio, row.messages, later.mean_ratio, later.messages);
  row.mean_transfer_ratio = mean(row.mean_transfer_ratio, row.messages, later.mean_transfer_ratio, later.messages);
  row.messages += later.messages;
  row.bytes += later.bytes;
  row.delayed += later.delayed;
  row.late_sender_s = finite(row.late_sender_s + later.late_sender_s);
  row.late_receiver_s = finite(row.late_receiver_s + later.late_receiver_s);
  row.transfer_s = finite(row.transfer_s + later.transfer_s);
}

}  // namespace

void merge(Window& window, const Window& later) {
  const double end = std::max(window.begin_s + window.length_s, later.begin_s + later.length_s);
  window.length_s = finite(end - window.begin_s);
  merge(window.all, later.all);
  window.shed += later.shed;
  std::map<std::int32_t, RegionWindow> regions;
  for (const Window* part : {&std::as_const(window), &later}) {
    for (const RegionWindow& region : part->regions) {
      const auto [known, added] = regions.try_emplace(region.region, region);
      if (!added) merge(known->second, region);
    }
  }
  window.regions.clear();
  for (const auto& [id, region] : regions) window.regions.push_back(region);
}

std::optional<Window> WindowStages::add(const Window& window) {
  if (gathered_ == 0) open_ = window;
  else merge(open_, window);
  return ++gathered_ >= factor_ ? rest() : std::nullopt;
}

std::optional<Window> WindowStages::rest() {
  if (gathered_ == 0) return std::nullopt;
  gathered_ = 0;
  return std::move(open_);
}

void WindowStages::spent(std::uint64_t bytes) {
  left_ -= std::min(left_, bytes);
  stage_left_ -= std::min(stage_left_, bytes);
  if (stage_left_ > 0) return;
  stage_left_ = std::max<std::uint64_t>(left_ / 8, 1);
  factor_ *= factor_ < (std::uint64_t{1} << 62) ? 2 : 1;
}

}  // namespace pclscope::store
