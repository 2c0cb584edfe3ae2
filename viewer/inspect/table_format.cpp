#include "viewer/inspect/table_format.hpp"

namespace pclscope::commands {

#define TABLE_FORMAT(name) extern const TableFormat name##_format;
#include "viewer/inspect/table_formats.def"
#undef TABLE_FORMAT

std::span<const TableFormat* const> table_formats() {
  static constexpr const TableFormat* all[] = {
#define TABLE_FORMAT(name) &name##_format,
#include "viewer/inspect/table_formats.def"
#undef TABLE_FORMAT
  };
  return all;
}

}  // namespace pclscope::commands
