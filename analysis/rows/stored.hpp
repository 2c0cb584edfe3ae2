// How a member is stored and sent: bool as one byte, enumerations as numbers, all else as it is.
#pragma once

#include <cmath>
#include <cstdint>
#include <type_traits>

namespace pclscope {

template <class T>
struct StoredAs {
  using Type = T;
};
template <>
struct StoredAs<bool> {
  using Type = std::uint8_t;
};
template <class T>
requires std::is_enum_v<T>
struct StoredAs<T> {
  using Type = std::underlying_type_t<T>;
};

// What was read, as a member: nothing that is not finite gets in.
template <class T, class Type>
T from_stored(const Type& stored) {
  if constexpr (std::is_floating_point_v<T>) return std::isfinite(stored) ? stored : T{0};
  else return static_cast<T>(stored);
}

}  // namespace pclscope
