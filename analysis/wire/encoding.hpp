// What all encoders share. Private to analysis/wire.
#pragma once

#include <flatbuffers/flatbuffers.h>

#include <cstdint>
#include <vector>

#include "analysis/wire/pclscope_generated.h"

namespace pclscope::wire {

using Builder = flatbuffers::FlatBufferBuilder;
template <class T>
using Offset = flatbuffers::Offset<T>;

// Regions are mostly runs of neighbours: 4 + 8 bytes per run instead of 4 per rank. Keeps the order as it is.
inline std::vector<fb::RankRange> as_ranges(const std::vector<std::int32_t>& ranks) {
  std::vector<fb::RankRange> ranges;
  for (std::size_t i = 0; i < ranks.size();) {
    std::size_t end = i + 1;
    while (end < ranks.size() && std::int64_t{ranks[end]} == std::int64_t{ranks[end - 1]} + 1) end++;
    ranges.emplace_back(ranks[i], static_cast<std::uint32_t>(end - i));
    i = end;
  }
  return ranges;
}

// A vector of tables; `encode(to, value)` makes one.
template <class Table, class Value, class Encode>
Offset<flatbuffers::Vector<Offset<Table>>> encode_each(Builder& to, const std::vector<Value>& values, Encode encode) {
  std::vector<Offset<Table>> tables;
  tables.reserve(values.size());
  for (const Value& value : values) tables.push_back(encode(to, value));
  return to.CreateVector(tables);
}

}  // namespace pclscope::wire
