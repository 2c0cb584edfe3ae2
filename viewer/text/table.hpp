// A table of text cells: aligned columns for people, or comma-separated values for programs.
#pragma once

#include <string>
#include <vector>

namespace pclscope::text {

enum class Align { left, right };

class Table {
 public:
  // Column titles; the alignment holds for the title too.
  void column(std::string title, Align align) { columns_.push_back({std::move(title), align}); }
  void row(std::vector<std::string> cells) { rows_.push_back(std::move(cells)); }
  bool empty() const { return rows_.empty(); }

  // Title line, then one line per row, no line longer than `width` columns (0 = no limit).
  std::vector<std::string> lines(std::size_t width = 0) const;

 private:
  struct Column {
    std::string title;
    Align align;
  };
  std::vector<Column> columns_;
  std::vector<std::vector<std::string>> rows_;
};

// One line of comma-separated values, quoted where needed (RFC 4180).
std::string csv_line(const std::vector<std::string>& cells);

}  // namespace pclscope::text
