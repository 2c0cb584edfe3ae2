// Small buttons in a row, as headers of views have them. Each leaves a mark "PREFIX LABEL". What has no room is left
// out.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "viewer/gui/base/view.hpp"

namespace pclscope::gui {

class ControlRow {
 public:
  // From `at` (its top left) to `right`.
  ControlRow(const Scene& scene, std::vector<Mark>& marks, std::string prefix, layout::Point at, float right);
  // True: it was pressed. Lit: what it stands for is on.
  bool button(const char* label, const char* meaning, bool lit = false);
  // A number to type, of that many characters; true: another one was entered.
  bool number(const char* label, const char* meaning, double& value, double least, double most, int characters);
  void words(std::string_view words, layout::Rgba colour);
  void space() { x_ += 8 * scene_.scale; }
  void skip(float pixels) { x_ += pixels; }  // something else is there
  float x() const { return x_; }
  // A new row below.
  void next_row(float left);

 private:
  const Scene& scene_;
  std::vector<Mark>& marks_;
  std::string prefix_;
  float x_, y_, right_;
};

// The view was typed this character to: it is hovered and no field has the keyboard.
bool typed_here(char character);

}  // namespace pclscope::gui
