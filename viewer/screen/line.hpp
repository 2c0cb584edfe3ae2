// Styled text as a terminal shows it, without a terminal: what the full-screen watch is made of.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace pclscope::screen {

// What a piece of text means. How it looks is the terminal's matter (terminal.cpp); no meaning is in the style alone.
enum class Style : std::uint8_t {
  plain,
  strong,   // job names, titles of pages
  section,  // the title of a section
  dim,      // help, units
  cold,     // latencies well below the usual
  cool,     // below it
  warm,     // above it
  hot,      // far above it
  good,     // connected
  bad,      // lost, deadlock
};

struct Span {
  std::string text;
  Style style = Style::plain;
};

struct Line {
  std::vector<Span> spans;
  bool bar = false;  // shown inverse over the whole width
};

Line line_of(std::string text, Style style = Style::plain);
// "title: rest" with a styled title.
Line labelled(std::string label, Style style, std::string rest);

void append(std::vector<Line>& lines, std::vector<Line> more);

std::size_t width_of(const Line& line);
std::string text_of(const Line& line);

// The line without control characters, at most `width` columns (cut: a final '~'), a bar padded to it.
Line fitted(const Line& line, std::size_t width, bool ascii);

// Broken at blanks into lines of at most `width` columns, continued lines indented. Longer words are cut.
std::vector<Line> wrapped(std::string_view text, std::size_t width, std::size_t indent, Style style = Style::plain);

// Latency ratios: blue below the usual, red above (as the palette of the viewer).
Style style_of_ratio(double ratio);

}  // namespace pclscope::screen
