// Numbers of nodes, vertices and links, as containers want them.
#pragma once

#include <cstddef>
#include <cstdint>

namespace pclscope::mapping {

inline std::size_t at(std::int32_t index) { return static_cast<std::size_t>(index); }

}  // namespace pclscope::mapping
