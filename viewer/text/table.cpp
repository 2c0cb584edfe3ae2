#include "viewer/text/table.hpp"

#include <algorithm>

#include "viewer/text/printable.hpp"

namespace pclscope::text {

std::vector<std::string> Table::lines(std::size_t width) const {
  std::vector<std::size_t> widths;
  for (std::size_t c = 0; c < columns_.size(); ++c) {
    widths.push_back(display_width(columns_[c].title));
    for (const auto& row : rows_) {
      if (c < row.size()) widths[c] = std::max(widths[c], display_width(row[c]));
    }
  }
  const auto line_of = [&](auto&& cell) {
    std::string line;
    for (std::size_t c = 0; c < columns_.size(); ++c) {
      if (c > 0) line += "  ";
      line += columns_[c].align == Align::left ? pad_right(cell(c), widths[c]) : pad_left(cell(c), widths[c]);
    }
    while (!line.empty() && line.back() == ' ') line.pop_back();
    return width > 0 ? clip(line, width) : line;
  };
  std::vector<std::string> lines;
  lines.push_back(line_of([&](std::size_t c) { return columns_[c].title; }));
  for (const auto& row : rows_) {
    lines.push_back(line_of([&](std::size_t c) { return c < row.size() ? row[c] : std::string(); }));
  }
  return lines;
}

std::string csv_line(const std::vector<std::string>& cells) {
  std::string line;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    if (i > 0) line += ',';
    if (cells[i].find_first_of(",\"\r\n") == std::string::npos) {
      line += cells[i];
      continue;
    }
    line += '"';
    for (const char c : cells[i]) line += c == '"' ? "\"\"" : std::string(1, c);
    line += '"';
  }
  return line;
}

}  // namespace pclscope::text
