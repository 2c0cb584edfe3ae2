// Rows to tables of a frame. Private to analysis/wire.
#pragma once

#include <flatbuffers/flatbuffers.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "analysis/rows/stored.hpp"
#include "analysis/wire/pclscope_generated.h"

namespace pclscope::wire {

using Builder = flatbuffers::FlatBufferBuilder;
template <class T>
using Offset = flatbuffers::Offset<T>;

// Regions are mostly runs of neighbours: 4 + 8 bytes per run instead of 4 per rank. Keeps the order as it is.
std::vector<fb::Run> as_runs(const std::vector<std::int32_t>& numbers);

// The columns of one table; FlatBuffers wants them before the table itself.
class TableEncoder {
 public:
  explicit TableEncoder(Builder& to) : to_(to) {}
  // One column; T as stored.hpp has it, or std::string.
  template <class T>
  void add(const char* name, const std::vector<T>& values);
  Offset<fb::RowTable> finish(const char* name, std::size_t rows);

 private:
  Builder& to_;
  std::vector<Offset<fb::Column>> columns_;
};

template <class T>
T as_sent(const T& value) requires std::is_same_v<T, std::string> {
  return value;
}
template <std::size_t n>
std::string as_sent(const std::array<char, n>& text) {
  return std::string(text.data(), ::strnlen(text.data(), n));
}
template <class T>
auto as_sent(const T& value) requires std::is_arithmetic_v<T> || std::is_enum_v<T> {
  return static_cast<typename StoredAs<T>::Type>(value);
}

template <class Row>
Offset<fb::RowTable> encode_table(Builder& to, const char* name, const std::vector<Row>& rows) {
  TableEncoder table(to);
  const Row nothing{};
  describe(
      [&]<class Base, class T>(const char* column, const char*, T Base::*member, const char*) {
        if (std::all_of(rows.begin(), rows.end(), [&](const Row& row) { return row.*member == nothing.*member; }))
          return;
        std::vector<decltype(as_sent(nothing.*member))> values;
        values.reserve(rows.size());
        for (const Row& row : rows) values.push_back(as_sent(row.*member));
        table.add(column, values);
      },
      static_cast<const Row*>(nullptr));
  return table.finish(name, rows.size());
}

}  // namespace pclscope::wire
