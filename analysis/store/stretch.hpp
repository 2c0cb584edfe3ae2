// Stretches of rows, as tables with lists refer to them. Private to analysis/store.
#pragma once

#include <cstddef>
#include <cstdint>

namespace pclscope::store {

// [begin, begin + count) lies inside `rows`, and begins where the stretch before it ended.
inline bool follows(std::uint64_t begin, std::uint64_t count, std::size_t rows, std::uint64_t& next) {
  if (begin != next || begin > rows || count > rows - begin) return false;
  next += count;
  return true;
}

}  // namespace pclscope::store
