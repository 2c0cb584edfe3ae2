// Bytes of what the aggregators tell each other (part.hpp), and back. A frame is one byte of kind, one of version,
// and the values; it stands alone (no state between frames), and the same program reads it that wrote it.
//
// Sizes on ordinary traffic: 4 to 7 bytes per send of a cyclic program, 8 to 13 per message, about 30 per pair of
// ranks (two sums of 8 bytes that stay exact). How: packing_events.cpp, packing_messages.cpp, packing_report.cpp.
//
// What comes back is what was packed, but for
//   - sends and collectives: the order of one rank is kept, ranks come one after the other;
//   - doubles and floats that are not finite: they come back as 0.
// unpack() checks the form, not the meaning (ranks, kinds, functions may be any number), and the frame to its last
// byte. Any bytes may be given to it: false, never a crash, when they are no such frame; what it allocates is at most
// about a hundred times the frame. After false the value is unspecified. Threads: none.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "analysis/values/part.hpp"

namespace pclscope::nodes {

enum class FrameKind : std::uint8_t { sends, report, raw, orders, calls };

std::vector<std::byte> pack(const SendRecords& sends);
std::vector<std::byte> pack(const Report& report);
std::vector<std::byte> pack(const RawMessages& raw);
std::vector<std::byte> pack(const Orders& orders);
std::vector<std::byte> pack(const NewestOfNode& newest);

// Of a frame of this version; nothing else is known of its inside.
std::optional<FrameKind> kind_of(std::span<const std::byte> frame);

bool unpack(std::span<const std::byte> frame, SendRecords& sends);
bool unpack(std::span<const std::byte> frame, Report& report);
bool unpack(std::span<const std::byte> frame, RawMessages& raw);
bool unpack(std::span<const std::byte> frame, Orders& orders);
bool unpack(std::span<const std::byte> frame, NewestOfNode& newest);

}  // namespace pclscope::nodes
