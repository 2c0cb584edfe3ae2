// A CallDensity as bytes: what a dump holds, and what travels to viewers and between nodes. Layout, with a reader of
// 20 lines: analysis/store/FORMAT.md, "Density of calls". Two to four bytes per entry.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "analysis/values/call_density.hpp"

namespace pclscope::density {

std::vector<std::uint8_t> pack(const CallDensity& density);  // of nothing: no byte
std::size_t packed_bytes(const CallDensity& density);        // of pack()

// Any bytes may be given to it: nothing when they are not what pack() makes. No byte: nothing was counted. What it
// allocates is at most 16 times the bytes.
std::optional<CallDensity> unpack(std::span<const std::uint8_t> bytes);

}  // namespace pclscope::density
