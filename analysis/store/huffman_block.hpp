// Bytes as one deflate block with codes of their own and no repetitions (RFC 1951, 3.2.7). Private to analysis/store.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

namespace pclscope::store {

using ByteCounts = std::array<std::uint32_t, 256>;

// Lengths of a complete prefix code, at most `longest` bits; 0 for what does not occur. At least two must occur.
void code_lengths(std::span<const std::uint32_t> counts, unsigned longest, std::span<std::uint8_t> lengths);

// Appends the block, and an empty one so that it ends on a byte. `counts` are of `bytes`, which must not be empty.
void append_huffman_block(std::span<const std::uint8_t> bytes, const ByteCounts& counts, std::vector<std::uint8_t>& to);

}  // namespace pclscope::store
