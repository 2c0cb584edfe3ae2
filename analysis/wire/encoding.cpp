#include "analysis/wire/encoding.hpp"

namespace pclscope::wire {

std::vector<fb::Run> as_runs(const std::vector<std::int32_t>& numbers) {
  std::vector<fb::Run> runs;
  for (std::size_t i = 0; i < numbers.size();) {
    std::size_t end = i + 1;
    while (end < numbers.size() && std::int64_t{numbers[end]} == std::int64_t{numbers[end - 1]} + 1) end++;
    runs.emplace_back(numbers[i], static_cast<std::uint32_t>(end - i));
    i = end;
  }
  return runs;
}

template <class T>
void TableEncoder::add(const char* name, const std::vector<T>& values) {
  const auto label = to_.CreateSharedString(name);
  const auto finish = [&](auto put) {
    fb::ColumnBuilder column(to_);
    column.add_name(label);
    put(column);
    columns_.push_back(column.Finish());
  };
  if constexpr (std::is_same_v<T, std::string>) {
    const auto texts = to_.CreateVectorOfStrings(values);
    return finish([&](auto& column) { column.add_texts(texts); });
  } else if constexpr (std::is_same_v<T, std::int32_t>) {
    const std::vector<fb::Run> runs = as_runs(values);
    if (runs.size() * sizeof(fb::Run) < values.size() * sizeof(T)) {
      const auto vector = to_.CreateVectorOfStructs(runs);
      return finish([&](auto& column) { column.add_runs(vector); });
    }
    const auto vector = to_.CreateVector(values);
    finish([&](auto& column) { column.add_i32(vector); });
  } else {
    const auto vector = to_.CreateVector(values);
    finish([&](auto& column) {
      if constexpr (std::is_same_v<T, std::uint8_t>) column.add_u8(vector);
      else if constexpr (std::is_same_v<T, std::uint16_t>) column.add_u16(vector);
      else if constexpr (std::is_same_v<T, std::uint32_t>) column.add_u32(vector);
      else if constexpr (std::is_same_v<T, std::uint64_t>) column.add_u64(vector);
      else if constexpr (std::is_same_v<T, std::int64_t>) column.add_i64(vector);
      else if constexpr (std::is_same_v<T, float>) column.add_f32(vector);
      else column.add_f64(vector);
    });
  }
}

template void TableEncoder::add(const char*, const std::vector<std::uint8_t>&);
template void TableEncoder::add(const char*, const std::vector<std::uint16_t>&);
template void TableEncoder::add(const char*, const std::vector<std::uint32_t>&);
template void TableEncoder::add(const char*, const std::vector<std::uint64_t>&);
template void TableEncoder::add(const char*, const std::vector<std::int32_t>&);
template void TableEncoder::add(const char*, const std::vector<std::int64_t>&);
template void TableEncoder::add(const char*, const std::vector<float>&);
template void TableEncoder::add(const char*, const std::vector<double>&);
template void TableEncoder::add(const char*, const std::vector<std::string>&);

Offset<fb::RowTable> TableEncoder::finish(const char* name, std::size_t rows) {
  const auto label = to_.CreateString(name);
  const auto columns = to_.CreateVector(columns_);
  return fb::CreateRowTable(to_, label, static_cast<std::uint32_t>(rows), columns);
}

}  // namespace pclscope::wire
