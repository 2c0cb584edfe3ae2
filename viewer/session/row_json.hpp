// A row as a JSON object: its columns by the names that they have in dumps and on the wire (analysis/rows). Whoever
// shows more, or something else instead (a node by its name), says so after it.
#pragma once

#include <array>
#include <cstring>
#include <nlohmann/json.hpp>
#include <string>
#include <type_traits>

#include "analysis/rows/snapshot_rows.hpp"
#include "viewer/session/summary_json.hpp"

namespace pclscope::session {

const char* name_of(PeriodKind kind);
const char* name_of(Keep keep);

template <class T>
Json cell(const T& value) {
  if constexpr (std::is_floating_point_v<T>) return finite(value);
  else if constexpr (requires { name_of(value); }) return name_of(value);
  else if constexpr (std::is_enum_v<T>) return static_cast<std::underlying_type_t<T>>(value);
  else return value;
}
template <std::size_t n>
Json cell(const std::array<char, n>& text) {
  return std::string(text.data(), ::strnlen(text.data(), n));
}

// The columns of `Row` that are members of `value`: not those that lead to rows of other tables.
template <class Row, class Value>
Json row_json(const Value& value) {
  Json json = Json::object();
  describe(
      [&]<class Base, class T>(const char* name, const char*, T Base::*member, const char*) {
        if constexpr (std::is_base_of_v<Base, Value>) json[name] = cell(value.*member);
      },
      static_cast<const Row*>(nullptr));
  return json;
}

}  // namespace pclscope::session
