// A sample of a sequence of unknown length that always has an element near the middle: every `stride`-th element from
// half the present length on; the stride doubles when the sample is full. After n elements the one nearest to the
// middle is at most n / (2 capacity) away, and itself there up to `capacity` elements.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace pclscope {

template <class T>
class HalvingSample {
 public:
  explicit HalvingSample(std::size_t capacity) : capacity_(capacity < 2 ? 2 : capacity) {}

  // The next element: make() is called only when it is taken into the sample.
  template <class Make>
  void add(Make&& make) {
    if (count_ % stride_ == 0) kept_.emplace_back(count_, make());
    ++count_;
    // What lies before the middle now will lie before it later.
    while (kept_.size() > 1 && kept_[1].first <= middle()) kept_.erase(kept_.begin());
    if (kept_.size() > capacity_) thin();
  }
  // Twice the stride: half the sample.
  void thin() {
    if (stride_ < std::uint64_t{1} << 62) stride_ *= 2;
    std::erase_if(kept_, [&](const auto& k) { return k.first % stride_ != 0 && k.first > middle(); });
  }
  void clear() {
    kept_.clear();
    count_ = 0;
    stride_ = 1;
  }

  std::uint64_t count() const { return count_; }
  std::uint64_t middle() const { return count_ == 0 ? 0 : (count_ - 1) / 2; }
  std::size_t held() const { return kept_.size(); }
  // Nearest to the middle, with its number; nullptr when there is none.
  const std::pair<std::uint64_t, T>* nearest() const {
    const std::pair<std::uint64_t, T>* best = nullptr;
    for (const auto& k : kept_)
      if (!best || distance(k.first) < distance(best->first)) best = &k;
    return best;
  }
  std::vector<std::pair<std::uint64_t, T>>& kept() { return kept_; }
  const std::vector<std::pair<std::uint64_t, T>>& kept() const { return kept_; }
  template <class Gone>
  void remove(Gone&& gone) {
    std::erase_if(kept_, [&](const auto& k) { return gone(k.second); });
  }

 private:
  std::uint64_t distance(std::uint64_t i) const { return i > middle() ? i - middle() : middle() - i; }

  std::size_t capacity_;
  std::uint64_t count_ = 0, stride_ = 1;
  std::vector<std::pair<std::uint64_t, T>> kept_;
};

}  // namespace pclscope
