#include "analysis/wire/decoding.hpp"

namespace pclscope::wire {

const fb::Column* find_column(const fb::RowTable& table, const char* name) {
  if (!table.columns()) return nullptr;
  for (const fb::Column* column : *table.columns())
    if (std::strcmp(column->name()->c_str(), name) == 0) return column;
  return nullptr;
}

}  // namespace pclscope::wire
