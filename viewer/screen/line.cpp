#include "viewer/screen/line.hpp"

#include <algorithm>

#include "viewer/text/printable.hpp"

namespace pclscope::screen {

Line line_of(std::string text, Style style) { return {{{std::move(text), style}}, false}; }

Line labelled(std::string label, Style style, std::string rest) {
  return {{{std::move(label), style}, {std::move(rest), Style::plain}}, false};
}

std::size_t width_of(const Line& line) {
  std::size_t width = 0;
  for (const Span& span : line.spans) width += text::display_width(span.text);
  return width;
}

std::string text_of(const Line& line) {
  std::string text;
  for (const Span& span : line.spans) text += span.text;
  return text;
}

Line fitted(const Line& line, std::size_t width, bool ascii) {
  Line safe{{}, line.bar};
  for (const Span& span : line.spans) {
    const std::string printable = text::printable(span.text);
    safe.spans.push_back({ascii ? text::ascii_only(printable) : printable, span.style});
  }
  if (width_of(safe) <= width) {
    if (safe.bar) safe.spans.push_back({std::string(width - width_of(safe), ' '), Style::plain});
    return safe;
  }
  Line cut{{}, line.bar};
  std::size_t room = width;  // the last column is for the '~'
  for (Span& span : safe.spans) {
    const std::size_t taken = text::display_width(span.text);
    if (taken < room) {
      room -= taken;
      cut.spans.push_back(std::move(span));
      continue;
    }
    // One column more than there is, so that a piece that fits exactly is cut as well: something follows it.
    std::string piece = text::clip(span.text + "  ", room);
    const std::size_t left = room - std::min(room, text::display_width(piece));
    cut.spans.push_back({std::move(piece), span.style});
    if (cut.bar && left > 0) cut.spans.push_back({std::string(left, ' '), Style::plain});
    break;
  }
  return cut;
}

void append(std::vector<Line>& lines, std::vector<Line> more) {
  for (Line& line : more) lines.push_back(std::move(line));
}

std::vector<Line> wrapped(std::string_view text, std::size_t width, std::size_t indent, Style style) {
  std::vector<Line> lines;
  for (std::string& part : text::wrapped(text::printable(text), width, indent)) {
    lines.push_back(line_of(text::clip(part, width), style));
  }
  return lines;
}

Style style_of_ratio(double ratio) {
  if (!(ratio > 0)) return Style::plain;
  return ratio < 0.6   ? Style::cold
         : ratio < 0.9 ? Style::cool
         : ratio < 1.5 ? Style::plain
         : ratio < 3   ? Style::warm
                       : Style::hot;
}

}  // namespace pclscope::screen
