// JSON objects as rows for CSV: the objects are the one source of names and values.
#pragma once

#include <string>
#include <vector>

#include "viewer/session/summary_json.hpp"
#include "viewer/views/summary_tables.hpp"

namespace pclscope::views {

// One cell: lists separated by blanks, booleans 0 and 1, null empty.
std::string csv_cell(const session::Json& value);
// Columns are the fields of `example`.
Rows rows_of(const std::vector<session::Json>& objects, const session::Json& example);

}  // namespace pclscope::views
