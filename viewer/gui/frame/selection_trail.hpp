// What was selected, one after the other: back and forward as in a browser. A value.
#pragma once

#include <cstddef>
#include <vector>

#include "viewer/gui/base/selection.hpp"

namespace pclscope::gui {

class SelectionTrail {
 public:
  // Once per frame. While a button is down nothing is remembered: a drag is one step. Several changes of the steps in
  // sight alone (zoom) are one, too.
  void note(const Selection& selection, bool dragging);
  // False: there is nothing before, or behind.
  bool back(Selection& selection);
  bool forward(Selection& selection);

 private:
  struct Entry {
    Selection selection;
    bool steps_only = false;  // it differs from the one before in the steps alone
  };
  static constexpr std::size_t most = 200;
  std::vector<Entry> entries_;
  std::size_t at_ = 0;  // the one that is shown
};

}  // namespace pclscope::gui
