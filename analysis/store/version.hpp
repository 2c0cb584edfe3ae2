// Of the format of dumps (FORMAT.md).
#pragma once

#include <cstdint>

namespace pclscope::store {

inline constexpr std::int32_t format_major = 2;  // newer: unreadable; 1 can still be read (reader.cpp)
inline constexpr std::int32_t format_minor = 6;  // newer: columns this program does not know

}  // namespace pclscope::store
