#include "analysis/window/evolution.hpp"

#include <algorithm>
#include <cmath>

#include "analysis/window/trend_labels.hpp"

namespace pclscope {

namespace {

constexpr std::size_t typical_windows = 32;
constexpr double least_weight = 1e-6;
constexpr double largest_ratio = 1e12;

double usable(double v, double limit) { return std::isfinite(v) ? std::clamp(v, -limit, limit) : 0; }

// Sums that stay finite however often they are added up.
RegionWindow sane(RegionWindow w) {
  w.mean_ratio = std::max(0.0, usable(w.mean_ratio, largest_ratio));
  w.typical_ratio = std::max(0.0, usable(w.typical_ratio, largest_ratio));
  w.late_sender_s = usable(w.late_sender_s, 1e15);
  w.late_receiver_s = usable(w.late_receiver_s, 1e15);
  w.transfer_s = usable(w.transfer_s, 1e15);
  return w;
}

}  // namespace

double EvolutionRules::least_growth() { return std::log(1.2); }
double EvolutionRules::live_growth() { return std::log(1.05); }
double EvolutionRules::rise_above() { return std::log(1.15); }
double EvolutionRules::stay_above() { return std::log(1.05); }
double EvolutionRules::level_room() { return std::log(1.2); }

Evolution::Evolution(std::size_t periods) : list_(periods) {}

double Evolution::typical_messages(std::uint64_t messages) {
  counts_.push_back(static_cast<std::uint32_t>(std::min<std::uint64_t>(messages, UINT32_MAX)));
  if (counts_.size() > typical_windows) counts_.pop_front();
  if (counts_.size() >= typical_windows && seen_ % 8 != 0) return typical_;
  std::vector<std::uint32_t> sorted(counts_.begin(), counts_.end());
  std::nth_element(sorted.begin(), sorted.begin() + static_cast<std::ptrdiff_t>(sorted.size() / 2), sorted.end());
  return typical_ = sorted[sorted.size() / 2];
}

void Evolution::push_value(double ratio, std::uint64_t messages) {
  const double n = static_cast<double>(messages);
  ++seen_;
  double weight = least_weight, y = values_.empty() ? 0 : values_.back();
  if (ratio > 0) {
    weight = std::max(least_weight, 2 * n / (n + typical_messages(messages)));
    y = std::log(ratio);
    noise_.add(y, weight);
    average_sum_ += ratio * n;
    average_messages_ += n;
  }
  fit_.push(y, noise_.sigma() / std::sqrt(weight));
  if (values_.size() >= PieceFit::reach) {  // as the fit does; what is pending is always shorter
    values_.pop_front();
    weights_.pop_front();
    averages_.pop_front();
    decided_.pop_front();
  }
  values_.push_back(y);
  weights_.push_back(weight);
  averages_.push_back(average() > 0 ? std::log(average()) : y);
}

void Evolution::add(const RegionWindow& window, double begin_s, double length_s, std::uint64_t number) {
  verdicts_.clear();
  if (!(std::isfinite(length_s) && length_s > 0 && length_s < 1e12)) length_s = 1;
  if (!(std::isfinite(begin_s) && std::fabs(begin_s) < 1e15) || (any_ && begin_s < last_end_s_)) begin_s = last_end_s_;
  if (window.messages == 0) return silent(begin_s + length_s, length_s);
  silent(begin_s, length_s);
  any_ = true;
  last_end_s_ = begin_s + length_s;
  pending_.push_back({{begin_s, last_end_s_, sane(window)}, number, after_silence_});
  after_silence_ = false;
  push_value(pending_.back().entry.sums.level(), window.messages);
  if (pending_.size() <= EvolutionRules::decided_after) return;
  const std::size_t next = decided_.size();
  decide(1, label(next, next, true));
}

void Evolution::silent(double now_s, double length_s) {
  if (!any_ || after_silence_ || !(now_s - last_end_s_ > (EvolutionRules::silence + 0.5) * length_s)) return;
  break_off();
}

void Evolution::finish() {
  verdicts_.clear();
  break_off();
}

void Evolution::break_off() {
  after_silence_ = true;
  promised_ = 0;
  if (!pending_.empty()) decide(pending_.size(), label(0, fit_.size(), false));
  fit_.clear();
  values_.clear();
  weights_.clear();
  averages_.clear();
  decided_.clear();
}

std::vector<PeriodKind> Evolution::label(std::size_t focus_begin, std::size_t focus_end, bool live) const {
  std::vector<double> level;
  std::vector<char> begins;
  fit_.fitted(level, begins);
  const std::vector<double> value(values_.begin(), values_.end()), weight(weights_.begin(), weights_.end()),
      average(averages_.begin(), averages_.end());
  const std::vector<PeriodKind> before(decided_.begin(), decided_.end());
  std::vector<PeriodKind> kinds;
  label_trends(
      {level, begins, value, weight, average, noise_.sigma(), before.size(), before, live, focus_begin, focus_end},
      kinds);
  for (std::size_t i = 0; i < promised_ && decided_.size() + i < kinds.size(); ++i)
    kinds[decided_.size() + i] = decided_.back();
  return kinds;
}

void Evolution::decide(std::size_t count, const std::vector<PeriodKind>& kinds) {
  for (std::size_t i = 0; i < count; ++i) {
    const Pending& p = pending_.front();
    const PeriodKind kind = kinds[decided_.size()];
    verdicts_.push_back({p.number, kind, list_.begins(kind, p.first_after_silence)});
    list_.add(p.entry, kind, p.first_after_silence);
    if (promised_ > 0) {
      --promised_;
    } else if (kind != PeriodKind::other && verdicts_.back().first) {
      std::size_t end = decided_.size() + 1;
      while (end < kinds.size() && kinds[end] == kind) ++end;
      // The newest windows may still be revised: nothing is promised about them.
      promised_ = std::min(end - decided_.size() - 1, EvolutionRules::promised_windows);
    }
    decided_.push_back(kind);
    pending_.pop_front();
  }
}

std::vector<Period> Evolution::newest(std::size_t count) const {
  std::vector<PeriodList::Undecided> more;
  if (!pending_.empty()) {
    const std::vector<PeriodKind> kinds = label(0, values_.size(), true);
    for (std::size_t i = 0; i < pending_.size(); ++i)
      more.push_back({&pending_[i].entry, kinds[decided_.size() + i], pending_[i].first_after_silence});
  }
  return list_.newest(count, more, !after_silence_);
}

PeriodKind Evolution::provisional(std::uint64_t window) const {
  for (std::size_t i = 0; i < pending_.size(); ++i)
    if (pending_[i].number == window) return label(0, 0, true)[decided_.size() + i];
  return PeriodKind::other;
}

}  // namespace pclscope
