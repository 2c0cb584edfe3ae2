#include "viewer/gui/frame/selection_trail.hpp"

namespace pclscope::gui {

void SelectionTrail::note(const Selection& selection, bool dragging) {
  if (dragging) return;
  if (entries_.empty()) {
    entries_.push_back({selection});
    return;
  }
  if (entries_[at_].selection == selection) return;
  Selection before = entries_[at_].selection;
  before.steps = selection.steps;
  const bool steps_only = before == selection;
  entries_.resize(at_ + 1);
  if (steps_only && entries_[at_].steps_only) {
    entries_[at_].selection = selection;
    return;
  }
  entries_.push_back({selection, steps_only});
  if (entries_.size() > most) entries_.erase(entries_.begin());
  at_ = entries_.size() - 1;
}

bool SelectionTrail::back(Selection& selection) {
  if (at_ == 0 || entries_.empty()) return false;
  selection = entries_[--at_].selection;
  return true;
}

bool SelectionTrail::forward(Selection& selection) {
  if (at_ + 1 >= entries_.size()) return false;
  selection = entries_[++at_].selection;
  return true;
}

}  // namespace pclscope::gui
