#include "analysis/collect/global_clock.hpp"

namespace pclscope::collect {
namespace {

constexpr std::int64_t slew_ns = 200'000'000;
constexpr double fastest_slew = 0.25;
constexpr double unknown_ns = 1e18;

}  // namespace

bool GlobalClock::apply(const nodes::ClockUpdate& update, std::int64_t now_ns) {
  if (role_ == Role::root || !believable(update)) return false;
  if (!records_.empty() && update.at_ns <= records_.back().update.at_ns) return false;
  if (knots_.empty()) {
    knots_.push_back({update.at_ns, update.at_ns + std::llround(update.offset_ns), update.drift});
  } else {
    slew_to(update, std::clamp(std::max(now_ns, update.at_ns), -farthest_ns, farthest_ns));
  }
  remember(update);
  return true;
}

void GlobalClock::slew_to(const nodes::ClockUpdate& update, std::int64_t now_ns) {
  // The end of the last slew may lie ahead; nobody has been told of it yet. The first knot stays, it holds backwards
  // too.
  while (knots_.size() > 1 && knots_.back().local_ns > now_ns) knots_.pop_back();
  now_ns = std::max(now_ns, knots_.back().local_ns);
  const std::int64_t applied = on(knots_.back(), now_ns);
  const double behind = offset_at(update, now_ns) - static_cast<double>(applied - now_ns);
  const std::int64_t duration = std::max(slew_ns, static_cast<std::int64_t>(std::abs(behind) / fastest_slew));
  const std::int64_t end = std::min(now_ns + duration, farthest_ns);
  if (knots_.size() > 1 && knots_.back().local_ns == now_ns) knots_.pop_back();
  if (end - now_ns < duration) return;  // a century ahead: times are garbage
  const double drift = update.drift + behind / static_cast<double>(duration);
  if (knots_.back().local_ns == now_ns) {
    knots_.back().drift = drift;
  } else {
    knots_.push_back({now_ns, applied, drift});
  }
  knots_.push_back({end, end + std::llround(offset_at(update, end)), update.drift});
  if (knots_.size() > max_knots) knots_.erase(knots_.begin(), knots_.begin() + max_knots / 2);
  recent_ = 0;
}

void GlobalClock::remember(const nodes::ClockUpdate& update) {
  if (records_.size() >= max_records) {  // of the older three quarters every second one goes
    const std::size_t older = max_records / 4 * 3;
    std::size_t kept = 0;
    for (std::size_t i = 0; i < records_.size(); ++i)
      if (i >= older || i % 2 == 0) records_[kept++] = records_[i];
    records_.resize(kept);
  }
  records_.push_back({update, static_cast<double>(to_global(update.at_ns) - update.at_ns)});
}

std::vector<std::int64_t> GlobalClock::bends() const {
  std::vector<std::int64_t> times;
  for (const Knot& knot : knots_) times.push_back(knot.local_ns);
  return times;
}

const GlobalClock::Knot& GlobalClock::search(std::int64_t local) const {
  if (recent_ + 1 < knots_.size() && knots_[recent_].local_ns <= local && local < knots_[recent_ + 1].local_ns)
    return knots_[recent_];
  const auto after = std::upper_bound(knots_.begin(), knots_.end(), local,
                                      [](std::int64_t t, const Knot& knot) { return t < knot.local_ns; });
  recent_ = after == knots_.begin() ? 0 : static_cast<std::size_t>(after - knots_.begin()) - 1;
  return knots_[recent_];
}

std::int64_t GlobalClock::to_local(std::int64_t global_ns) const {
  if (knots_.empty()) return global_ns;
  const std::int64_t global = std::clamp(global_ns, -farthest_ns, farthest_ns);
  auto knot = std::upper_bound(knots_.begin(), knots_.end(), global,
                               [](std::int64_t t, const Knot& k) { return t < k.global_ns; });
  if (knot != knots_.begin()) --knot;
  const std::int64_t passed = global - knot->global_ns;
  // passed / (1 + drift), without losing digits of large times
  return knot->local_ns + passed - std::llround(knot->drift / (1 + knot->drift) * static_cast<double>(passed));
}

double GlobalClock::error_by(const nodes::ClockUpdate& update, std::int64_t local, double applied_ns) const {
  const nodes::ClockUpdate there = moved_to(update, local, limits_);
  return there.error_ns + std::abs(applied_ns - there.offset_ns) + 1;
}

double GlobalClock::error_ns(std::int64_t local_ns) const {
  if (role_ == Role::root) return 0;
  if (records_.empty()) return unknown_ns;
  const std::int64_t local = std::clamp(local_ns, -farthest_ns, farthest_ns);
  const double applied = static_cast<double>(to_global(local) - local);
  if (local >= records_.back().update.at_ns) return error_by(records_.back().update, local, applied);
  const auto after = std::upper_bound(records_.begin(), records_.end(), local,
                                      [](std::int64_t t, const ClockRecord& r) { return t < r.update.at_ns; });
  double error = error_by(after->update, local, applied);
  if (after != records_.begin()) error = std::min(error, error_by(std::prev(after)->update, local, applied));
  return error;
}

}  // namespace pclscope::collect
