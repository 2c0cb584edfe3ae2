// Comma-separated values (RFC 4180): a title line, then a line per row.
#include "viewer/inspect/table_format.hpp"
#include "viewer/text/table.hpp"

namespace pclscope::commands {
namespace {

std::string line(const std::vector<std::string>& cells) { return text::csv_line(cells) + "\n"; }

}  // namespace

extern const TableFormat csv_format;
const TableFormat csv_format{"csv", "As comma-separated values", line, line};

}  // namespace pclscope::commands
