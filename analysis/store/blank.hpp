// A dump without content. Making its structure piece by piece, a thousand datasets, takes as long as everything else
// that an aggregator does before it reads the first event; so it is made when pclscope is built, by make_blank.cpp, and
// a part of every program that writes dumps. Private to analysis/store.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace pclscope::store {

inline constexpr std::uint32_t blank_rows_per_chunk =
    4096;  // of messages and calls; others are made where they are asked for

// What Writer::make_blank() writes. Lives as long as the program. Empty in the program that makes it.
std::span<const std::byte> blank_dump();

}  // namespace pclscope::store
