#include "viewer/text/printable.hpp"

#include <algorithm>
#include <cstdint>

namespace pclscope::text {
namespace {

struct CodePoint {
  char32_t value = 0;
  std::size_t bytes = 1;
  bool valid = false;
};

// Strict UTF-8: no overlong forms, surrogates, or values beyond U+10FFFF.
CodePoint decode(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char lead = byte(0);
  if (lead < 0x80) return {lead, 1, true};
  const std::size_t bytes = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
  if (lead < 0xC2 || lead > 0xF4 || text.size() < bytes) return {};
  char32_t value = lead & (0x7Fu >> bytes);
  for (std::size_t i = 1; i < bytes; ++i) {
    if ((byte(i) & 0xC0) != 0x80) return {};
    value = (value << 6) | (byte(i) & 0x3Fu);
  }
  const bool overlong = (bytes == 3 && value < 0x800) || (bytes == 4 && value < 0x10000);
  if (overlong || (value >= 0xD800 && value <= 0xDFFF) || value > 0x10FFFF) return {};
  return {value, bytes, true};
}

struct Range {
  char32_t first, last;
};
// Zero-width, direction marks and overrides, line and paragraph separators, tags, private noncharacters.
constexpr Range hidden[] = {{0x00, 0x1F},     {0x7F, 0x9F},     {0xAD, 0xAD},     {0x61C, 0x61C},
                            {0x180E, 0x180E}, {0x200B, 0x200F}, {0x2028, 0x202E}, {0x2060, 0x206F},
                            {0xFE00, 0xFE0F}, {0xFEFF, 0xFEFF}, {0xFFF0, 0xFFFB}, {0xE0000, 0xE0FFF}};
constexpr Range wide[] = {{0x1100, 0x115F}, {0x2E80, 0xA4CF}, {0xAC00, 0xD7A3},   {0xF900, 0xFAFF},  {0xFE30, 0xFE6F},
                          {0xFF00, 0xFF60}, {0xFFE0, 0xFFE6}, {0x1F300, 0x1FAFF}, {0x20000, 0x3FFFD}};
constexpr Range combining[] = {{0x300, 0x36F}, {0x1AB0, 0x1AFF}, {0x20D0, 0x20FF}};

template <std::size_t N>
bool contains(const Range (&ranges)[N], char32_t value) {
  return std::any_of(ranges, ranges + N, [&](const Range& r) { return value >= r.first && value <= r.last; });
}

std::size_t width_of(char32_t value) { return contains(combining, value) ? 0 : contains(wide, value) ? 2 : 1; }

}  // namespace

std::string printable(std::string_view foreign) {
  std::string safe;
  safe.reserve(foreign.size());
  while (!foreign.empty()) {
    const CodePoint point = decode(foreign);
    if (point.valid && !contains(hidden, point.value)) {
      safe.append(foreign.substr(0, point.bytes));
    } else {
      safe += '?';
    }
    foreign.remove_prefix(point.bytes);
  }
  return safe;
}

std::size_t display_width(std::string_view line) {
  std::size_t width = 0;
  while (!line.empty()) {
    const CodePoint point = decode(line);
    width += point.valid ? width_of(point.value) : 1;
    line.remove_prefix(point.bytes);
  }
  return width;
}

std::string clip(std::string_view line, std::size_t width) {
  if (display_width(line) <= width) return std::string(line);
  if (width == 0) return "";
  std::size_t columns = 0;
  std::size_t bytes = 0;
  while (bytes < line.size()) {
    const CodePoint point = decode(line.substr(bytes));
    const std::size_t next = point.valid ? width_of(point.value) : 1;
    if (columns + next > width - 1) break;
    columns += next;
    bytes += point.bytes;
  }
  return std::string(line.substr(0, bytes)) + "~";
}

std::string pad_right(std::string_view text, std::size_t width) {
  const std::size_t taken = display_width(text);
  return std::string(text) + std::string(taken < width ? width - taken : 0, ' ');
}

std::string pad_left(std::string_view text, std::size_t width) {
  const std::size_t taken = display_width(text);
  return std::string(taken < width ? width - taken : 0, ' ') + std::string(text);
}

std::string ascii_only(std::string_view text) {
  std::string safe;
  while (!text.empty()) {
    const CodePoint point = decode(text);
    safe += point.valid && point.value < 0x7F ? static_cast<char>(point.value) : '?';
    text.remove_prefix(point.bytes);
  }
  return safe;
}

std::vector<std::string> wrapped(std::string_view line, std::size_t width, std::size_t indent) {
  std::vector<std::string> lines;
  std::string current;
  while (!line.empty()) {
    const std::size_t word_begin = std::min(line.find_first_not_of(' '), line.size());
    const std::size_t word_end = std::min(line.find(' ', word_begin), line.size());
    const std::string_view piece = line.substr(0, word_end);
    const bool first_word = current.find_first_not_of(' ') == std::string::npos;
    if (!first_word && display_width(current) + display_width(piece) > width) {
      lines.push_back(std::move(current));
      current.assign(indent, ' ');
      current += line.substr(word_begin, word_end - word_begin);
    } else {
      current += piece;
    }
    line.remove_prefix(word_end);
  }
  lines.push_back(std::move(current));
  return lines;
}

}  // namespace pclscope::text
