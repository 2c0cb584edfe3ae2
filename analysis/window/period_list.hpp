// Periods from windows whose kinds are known: neighbouring windows of the same kind are one period. At most `limit`
// periods; beyond, the oldest are merged into one `other` at the front.
#pragma once

#include <cstddef>
#include <deque>
#include <vector>

#include "analysis/values/snapshot.hpp"
#include "analysis/window/halving_sample.hpp"

namespace pclscope {

class PeriodList {
 public:
  struct Entry {  // one window
    double begin_s = 0, end_s = 0;
    RegionWindow sums;  // finite
  };

  explicit PeriodList(std::size_t limit) : limit_(limit < 2 ? 2 : limit) {}

  // `apart`: a growth or steady period begins anew here although the kind is the same.
  void add(const Entry& window, PeriodKind kind, bool apart);
  PeriodKind last_kind() const { return current_.period.kind; }
  bool empty() const { return !any_; }
  // Would the window begin a period?
  bool begins(PeriodKind kind, bool apart) const {
    return !any_ || kind != current_.period.kind || (apart && kind != PeriodKind::other);
  }

  // The newest `count` periods as if `more` windows had followed; those with an undecided window are open, and so is
  // the last one if `open`.
  struct Undecided {
    const Entry* window;
    PeriodKind kind;
    bool apart;
  };
  std::vector<Period> newest(std::size_t count, const std::vector<Undecided>& more, bool open) const;

 private:
  struct Growing {
    Period period;
    double ratio_sum = 0, log_sum = 0, ratio_messages = 0;
    HalvingSample<float> middle{32};
    void start(const Entry& window, PeriodKind kind);
    void add(const Entry& window);
    Period done() const;
  };
  void close();

  std::size_t limit_;
  std::deque<Period> closed_;
  Growing current_;
  bool any_ = false;
};

}  // namespace pclscope
