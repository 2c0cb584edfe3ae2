// The two bytes in front of a frame: its kind and the version. For frames.cpp and report.cpp.
#pragma once

#include "analysis/packing/bytes.hpp"
#include "analysis/packing/frames.hpp"

namespace pclscope::nodes {

inline constexpr std::uint8_t frame_version = 1;

inline packing::Writer begin_frame(FrameKind kind, std::size_t expected) {
  packing::Writer out(expected + 16);
  out.fixed(static_cast<std::uint64_t>(kind), 1);
  out.fixed(frame_version, 1);
  return out;
}

// Behind them; it has failed when it is another kind's, or another version's.
inline packing::Reader read_frame(std::span<const std::byte> frame, FrameKind kind) {
  packing::Reader in(frame);
  if (kind_of(frame) == kind) in.fixed(2);
  else in.fail();
  return in;
}

}  // namespace pclscope::nodes
