// The column of the table of packed bytes that the density of calls is (analysis/density/packing.hpp). See columns.hpp.
#pragma once

#include <cstdint>

namespace pclscope {

struct DensityByteRow {
  std::uint8_t byte = 0;
};

template <class Column>
void describe(Column&& column, const DensityByteRow*) {
  column("byte", "", &DensityByteRow::byte, "one after the other");
}

}  // namespace pclscope
