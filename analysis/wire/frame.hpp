// The 8 bytes in front of every frame, and the limits within which frames are believed. Layout: FORMAT.md.
#pragma once

#include <cstddef>
#include <cstdint>

namespace pclscope::wire {

inline constexpr char magic[4] = {'P', 'C', 'L', 'W'};
inline constexpr std::size_t header_bytes = 8;     // magic, u16 major, u16 minor, little-endian; keeps 8-byte alignment
inline constexpr std::uint16_t version_major = 2;  // differs: unreadable
inline constexpr std::uint16_t version_minor = 2;  // newer: questions or answers this program does not know

// What a frame may make its reader do. A table of millions of rows that all have default values takes a few bytes, so
// memory is limited by what decoding yields, not by the frame's own size.
namespace limit {
inline constexpr std::size_t frame_bytes = 256u << 20;
inline constexpr std::size_t question_bytes = 16384;  // about 2,000 ranges of ranks
inline constexpr std::uint32_t question_ranks = 1u << 20;
inline constexpr std::uint32_t dag_messages = 200'000;   // that a question may ask for
inline constexpr std::size_t density_bytes = 16u << 20;  // of a part, packed; unpacked at most 16 times that
inline constexpr std::uint32_t calls = 1u << 20;         // that a question may ask for
inline constexpr std::size_t text_bytes = 1000;          // of an answer
inline constexpr std::uint32_t depth = 16;
inline constexpr std::uint32_t tables = 4'000'000;
inline constexpr std::size_t decoded_bytes = 256u << 20;
inline constexpr std::size_t strangers =
    512;  // at most a quarter of the descriptors: TCP connections of peers that have not shown yet who they are
}  // namespace limit

}  // namespace pclscope::wire
