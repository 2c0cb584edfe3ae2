// Which period of a long dump is looked at, and whether that is in the part that was read.
#pragma once

#include "viewer/session/part_to_read.hpp"

namespace pclscope::gui {

class LookedAt {
 public:
  void look_at(const session::TimeSpan& wanted) { wanted_ = wanted; }
  // To be read now.
  session::TimeSpan ask() { return asked_for_ = wanted_; }
  // Whether another part has to be read than `read`; the same period is asked for once.
  bool elsewhere(const session::PartToRead& read) const {
    return wanted_ != asked_for_ && wanted_ != session::TimeSpan{} && !read.all && !read.has(wanted_);
  }

 private:
  session::TimeSpan wanted_, asked_for_;
};

}  // namespace pclscope::gui
