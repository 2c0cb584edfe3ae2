#include "analysis/region/change.hpp"

#include <algorithm>
#include <cmath>

namespace pclscope {

namespace {

// Share of a pair with that many messages in the noise. Pairs seen a few times say little about those not seen yet.
double spread(double count) { return count <= 0 ? 0 : count <= 4 ? 0.5 : 0.125 + 1.5 / count; }

}  // namespace

void GraphChange::add(std::size_t pair, std::uint64_t messages) {
  if (messages == 0) return;
  if (pair >= pairs_.size()) pairs_.resize(std::max(pair + 1, pairs_.size() + pairs_.size() / 2));
  Pair& p = pairs_[pair];
  const double before = p.now;
  p.now += static_cast<double>(messages);
  now_ += static_cast<double>(messages);
  new_ += static_cast<double>(messages);
  if (p.reference > 0) both_ += std::sqrt(p.now * p.reference) - std::sqrt(before * p.reference);
  spread_ += spread(p.now) - spread(before);
  used_ += before == 0;
}

double GraphChange::distance() const {
  if (now_ <= 0) return 0;
  if (reference_ <= 0) return 1;
  return std::clamp(1 - both_ / std::sqrt(now_ * reference_), 0.0, 1.0);
}

double GraphChange::mean_noise() const {
  if (reference_ <= 0 || now_ <= 0) return 0;
  return spread_ * new_ * (reference_ + new_) / (now_ * now_ * reference_);
}

double GraphChange::noise() const {
  if (used_ == 0) return 0;
  return mean_noise() * (1 + 6 * std::sqrt(2 / static_cast<double>(used_)));
}

bool GraphChange::changed() const {
  if (now_ <= 0) return false;
  return required_ || reference_ <= 0 || distance() > noise() + effect ||
         (new_ > more_evidence * reference_ && mean_noise() > effect);
}

void GraphChange::sum_up() {
  both_ = spread_ = now_ = reference_ = 0;
  used_ = 0;
  for (const Pair& p : pairs_) {
    now_ += p.now;
    reference_ += p.reference;
    both_ += std::sqrt(p.now * p.reference);
    spread_ += spread(p.now);
    used_ += p.now > 0;
  }
}

void GraphChange::forget(double factor) {
  for (Pair& p : pairs_)
    if (p.now > 0) p.now = std::max(p.now * factor, least_weight);
  new_ *= factor;
  sum_up();
}

void GraphChange::restart(std::span<const float> counts) {
  pairs_.assign(std::max(pairs_.size(), counts.size()), {});
  for (std::size_t i = 0; i < counts.size(); ++i) pairs_[i].now = static_cast<double>(counts[i]);
  sum_up();
  new_ = now_;
}

void GraphChange::clustered() {
  required_ = false;
  for (Pair& p : pairs_) p.reference = p.now;
  new_ = 0;
  sum_up();
}

}  // namespace pclscope
