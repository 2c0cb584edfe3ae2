#include "analysis/delay/blame_sum.hpp"

#include <algorithm>

namespace pclscope {

void BlameSum::clear() { parts_.clear(); }

void BlameSum::add_new(const Blame& blame, double ns) {
  if (parts_.size() < most_parts || blame.origin >= unknown) return parts_.push_back({blame, ns});
  for (Part& p : parts_)
    if (p.blame.origin == blame.origin) {
      p.ns += ns;
      p.blame.visit_ns = several_visits;
      return;
    }
  add({unknown, 0, 0}, ns);
}

void BlameSum::subtract(const Blame& blame, double ns, bool any_visit) {
  for (Part& p : parts_) {
    if (p.blame.origin != blame.origin || !(any_visit || p.blame.visit_ns == blame.visit_ns)) continue;
    const double less = std::min(p.ns, ns);
    p.ns -= less;
    ns -= less;
  }
}

double BlameSum::sum() const {
  double sum = 0;
  for (const Part& p : parts_) sum += p.ns;
  return sum;
}

void BlameSum::limit(double ns) {
  const double all = sum();
  if (all <= ns) return;
  for (Part& p : parts_) p.ns *= ns / all;
}

void BlameSum::shave(double wait_ns) {
  std::sort(parts_.begin(), parts_.end(), [](const Part& a, const Part& b) {
    if (a.ns != b.ns) return a.ns > b.ns;
    return a.blame.origin != b.blame.origin ? a.blame.origin < b.blame.origin : a.blame.visit_ns < b.blame.visit_ns;
  });
  double kept = 0, less = 0;  // sum of the largest parts; what each of them gives away
  std::size_t count = 0;
  for (; count < parts_.size(); ++count) {
    const double excess = kept + parts_[count].ns - wait_ns;
    const double next = excess > 0 ? excess / static_cast<double>(count + 1) : 0;  // mostly without a division
    if (parts_[count].ns <= next) break;
    kept += parts_[count].ns;
    less = next;
  }
  parts_.resize(count);
  for (Part& p : parts_) p.ns -= less;
  add({unknown, 0, 0}, wait_ns - sum());
  for (Part& p : parts_) p.blame.share = static_cast<float>(p.ns / wait_ns);
}

}  // namespace pclscope
