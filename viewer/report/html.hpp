// Pieces of HTML and of pictures in it (SVG). Everything that is foreign, such as names of programs and functions, goes
// through escaped().
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "viewer/session/summary_json.hpp"

namespace pclscope::report {

// Text that no browser takes for markup, in elements and in attributes with quotes; without control characters.
std::string escaped(std::string_view text);

// <tag class="classes">content</tag>; `content` is HTML. Without classes: no attribute.
std::string element(std::string_view tag, std::string_view classes, std::string_view content);

// Titles of a table's columns and rows.
std::string column_title(std::string_view classes, std::string_view content);
std::string row_title(std::string_view classes, std::string_view content);

// A number as people read it, and exactly for programs: <data data-field="..." value="...">. `field` is its path in
// `pclscope inspect --json`. What is no number is only shown.
std::string number(const std::string& field, const session::Json& value, std::string_view shown);

// A coordinate with one decimal place at most.
std::string coordinate(double value);

// A picture of fixed size in units of its own. Classes are those of style.hpp. `text` and `tip` are plain text.
class Picture {
 public:
  Picture(double width, double height, std::string_view what_it_shows);
  void line(double x1, double y1, double x2, double y2, std::string_view classes);
  // Shown when the pointer rests on it: `tip`; may be empty.
  void box(double x, double y, double width, double height, std::string_view classes, std::string_view tip = {});
  void circle(double x, double y, double radius, std::string_view classes, std::string_view tip = {});
  void path(std::string_view d, std::string_view classes, std::string_view tip = {});
  void text(double x, double y, std::string_view text, std::string_view classes = {});
  std::string html() const { return head_ + body_ + "</svg>\n"; }

 private:
  void end(std::string_view tip);
  std::string head_, body_;
};

}  // namespace pclscope::report
