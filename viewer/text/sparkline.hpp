// A history drawn in a few characters.
#pragma once

#include <cstdint>
#include <span>
#include <string>

namespace pclscope::text {

// `width` columns, the newest on the right. Values with weight 0 do not count; a column without any is blank. More
// values than columns: every column is the weighted mean of its share. `full` is the value that fills a column.
// Unicode blocks, or ASCII levels when `ascii`.
std::string sparkline(std::span<const float> values, std::span<const std::uint32_t> weights, std::size_t width,
                      double full, bool ascii);

}  // namespace pclscope::text
