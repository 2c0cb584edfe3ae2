// Lists of rows lie in another table, one list after the other.
#pragma once

#include <cstddef>
#include <cstdint>

namespace pclscope {

// [begin, begin + count) lies inside `rows`, and begins where the list before it ended.
inline bool follows(std::uint64_t begin, std::uint64_t count, std::size_t rows, std::uint64_t& next) {
  if (begin != next || begin > rows || count > rows - begin) return false;
  next += count;
  return true;
}

// take(row) for each row of the list that follows; false, and nothing taken, when it is not there.
template <class Rows, class Take>
bool each_of(std::uint64_t begin, std::uint64_t count, const Rows& rows, std::uint64_t& next, Take&& take) {
  if (!follows(begin, count, rows.size(), next)) return false;
  for (std::uint64_t i = begin; i < begin + count; i++) take(rows[i]);
  return true;
}

}  // namespace pclscope
