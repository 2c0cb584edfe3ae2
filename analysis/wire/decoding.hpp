// What all decoders share: the account of what a frame makes its reader do, and values as readers may trust them.
// Private to analysis/wire.
#pragma once

#include <flatbuffers/flatbuffers.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "analysis/rows/stored.hpp"
#include "analysis/values/result.hpp"
#include "analysis/wire/frame.hpp"
#include "analysis/wire/pclscope_generated.h"

namespace pclscope::wire {

inline Error damaged(const char* what) {
  return {ErrorCode::damaged, std::string("a message of the job is damaged (") + what + "); the next one may be whole"};
}

// What decoding has yielded so far against the limits of frame.hpp.
class Budget {
 public:
  // False when `count` more elements of `size` bytes are too much.
  bool take(std::size_t count, std::size_t size) {
    if (count > (limit::decoded_bytes - used_) / size) return exceeded_ = true, false;
    used_ += count * size;
    return true;
  }
  void refuse() { exceeded_ = true; }
  bool exceeded() const { return exceeded_; }

 private:
  std::size_t used_ = 0;
  bool exceeded_ = false;
};

// FlatBuffers' verifier does not look at where the elements of a vector lie. Whoever writes one aligns them, if there
// are any.
template <class Vector>
bool is_aligned(const Vector& vector, std::size_t alignment) {
  return vector.size() == 0 || reinterpret_cast<std::uintptr_t>(vector.Data()) % alignment == 0;
}

inline std::string text(const flatbuffers::String* from, Budget& budget) {
  return from && budget.take(from->size() + sizeof(std::string), 1) ? from->str() : std::string();
}

using Runs = flatbuffers::Vector<const fb::Run*>;
// take(number) for each; refuses what does not fit into 32 bits. `most`: of all runs together.
template <class Take>
void each_number(const Runs& runs, std::uint64_t most, Budget& budget, Take&& take) {
  if (!is_aligned(runs, alignof(fb::Run))) return budget.refuse();
  for (const fb::Run* run : runs) {
    const std::int64_t end = std::int64_t{run->first()} + run->count();
    if (run->count() > most || end - 1 > std::numeric_limits<std::int32_t>::max()) return budget.refuse();
    most -= run->count();
    for (std::int64_t number = run->first(); number < end; number++) take(static_cast<std::int32_t>(number));
  }
}

// The table of this name, null when there is none.
template <class Tables>
const fb::RowTable* find_table(const Tables* tables, const char* name) {
  if (!tables) return nullptr;
  for (const fb::RowTable* table : *tables)
    if (std::strcmp(table->name()->c_str(), name) == 0) return table;
  return nullptr;
}
const fb::Column* find_column(const fb::RowTable& table, const char* name);

// Calls take(row, value) for each row of a column; refuses one that has another type or another number of rows.
template <class T, class Take>
void each_value(const fb::Column& column, std::uint64_t rows, Budget& budget, Take&& take) {
  const auto plain = [&](const auto* values) {
    if (!values || values->size() != rows || !is_aligned(*values, sizeof(T))) return budget.refuse();
    for (std::uint32_t i = 0; i < rows; i++) take(i, values->Get(i));
  };
  if constexpr (std::is_same_v<T, std::string>) {
    const auto* texts = column.texts();
    if (!texts || texts->size() != rows) return budget.refuse();
    for (std::uint32_t i = 0; i < rows && !budget.exceeded(); i++) take(i, text(texts->Get(i), budget));
  } else if constexpr (std::is_same_v<T, std::int32_t>) {
    if (!column.runs()) return plain(column.i32());
    std::uint64_t row = 0;
    each_number(*column.runs(), rows, budget, [&](std::int32_t number) { take(row++, number); });
    if (row != rows) budget.refuse();
  } else if constexpr (std::is_same_v<T, std::uint8_t>) {
    plain(column.u8());
  } else if constexpr (std::is_same_v<T, std::uint16_t>) {
    plain(column.u16());
  } else if constexpr (std::is_same_v<T, std::uint32_t>) {
    plain(column.u32());
  } else if constexpr (std::is_same_v<T, std::uint64_t>) {
    plain(column.u64());
  } else if constexpr (std::is_same_v<T, std::int64_t>) {
    plain(column.i64());
  } else if constexpr (std::is_same_v<T, float>) {
    plain(column.f32());
  } else {
    static_assert(std::is_same_v<T, double>);
    plain(column.f64());
  }
}

// A member from a column.
template <class T>
void take_column(const fb::Column& column, std::uint64_t rows, Budget& budget, auto&& member) {
  if constexpr (requires(T text) { text.front() = 'x'; } && !std::is_same_v<T, std::string>) {  // std::array<char, n>
    each_value<std::string>(column, rows, budget, [&](std::uint64_t row, const std::string& text) {
      std::memcpy(member(row).data(), text.data(), std::min(text.size(), member(row).size()));
    });
  } else if constexpr (std::is_same_v<T, std::string>) {
    each_value<T>(column, rows, budget, [&](std::uint64_t row, std::string&& text) { member(row) = std::move(text); });
  } else {
    each_value<typename StoredAs<T>::Type>(column, rows, budget,
                                           [&](std::uint64_t row, auto value) { member(row) = from_stored<T>(value); });
  }
}

// The rows of a table; columns that are missing have default values.
template <class Row, class Tables>
void decode_table(const Tables* tables, const char* name, std::vector<Row>& to, Budget& budget) {
  const fb::RowTable* table = find_table(tables, name);
  if (!table || budget.exceeded() || !budget.take(table->rows(), sizeof(Row))) return;
  to.resize(table->rows());
  describe(
      [&]<class Base, class T>(const char* column_name, const char*, T Base::*member, const char*) {
        const fb::Column* column = budget.exceeded() ? nullptr : find_column(*table, column_name);
        if (column)
          take_column<T>(*column, to.size(), budget, [&](std::uint64_t row) -> T& { return to[row].*member; });
      },
      static_cast<const Row*>(nullptr));
  if (budget.exceeded()) to.clear();
}

}  // namespace pclscope::wire
