// A dump without content. To make its structure piece by piece, a thousand datasets, takes 46 ms of a core, in which an
// aggregator reads no event; so it is made when pclscope is built, by blank/make_blank.cpp, and is a part of every
// program that writes dumps. Private to analysis/store.
#pragma once

#include <cstddef>
#include <span>

namespace pclscope::store {

// What Writer::make_blank() writes. Lives as long as the program. Empty in the program that makes it.
std::span<const std::byte> blank_dump();

}  // namespace pclscope::store
