// How the rows of a topic are printed for programs: an option of `pclscope inspect` each. All are listed in
// table_formats.def.
#pragma once

#include <span>
#include <string>
#include <vector>

namespace pclscope::commands {

struct TableFormat {
  const char* name;  // of the option, without --
  const char* help;
  // Text with the ends of its lines: before the rows, and of each. Cells are printable; rows may be many, and go out as
  // they come.
  std::string (*head)(const std::vector<std::string>& titles);
  std::string (*row)(const std::vector<std::string>& cells);
};

std::span<const TableFormat* const> table_formats();

}  // namespace pclscope::commands
