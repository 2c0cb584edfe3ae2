#include "analysis/mapping/torus.hpp"

#include <algorithm>
#include <cstdlib>
#include <numeric>

namespace pclscope::mapping {
namespace {

constexpr std::int32_t most_in_block = 64;  // a table of 64 x 64 stays in the first cache

std::int32_t distance(std::int32_t a, std::int32_t b, std::int32_t size, Wiring wiring) {
  const std::int32_t straight = std::abs(a - b);
  if (wiring == Wiring::all) return straight != 0;
  return wiring == Wiring::line ? straight : std::min(straight, size - straight);
}

// Where a message that is at `at` and goes to `goal` (another place) is next. At equal length upwards from an even
// place, downwards from an odd one: so do all published routes of Blue Gene/Q (docs/mapping.md).
std::int32_t next_place(std::int32_t at, std::int32_t goal, const Dimension& dimension, bool upwards_at_equal) {
  const std::int32_t size = dimension.size, up = (goal - at + size) % size;
  if (dimension.wiring == Wiring::all) return goal;
  if (dimension.wiring == Wiring::line) return goal > at ? at + 1 : at - 1;
  const bool upwards = 2 * up < size || (2 * up == size && upwards_at_equal);
  return (at + (upwards ? 1 : size - 1)) % size;
}

}  // namespace

Torus::Torus(std::vector<Dimension> dimensions, std::vector<std::size_t> order)
    : dimensions_(std::move(dimensions)), strides_(dimensions_.size(), 1), order_(std::move(order)), vertices_(1) {
  if (order_.empty()) {
    order_.resize(dimensions_.size());
    std::iota(order_.begin(), order_.end(), std::size_t{0});
  }
  for (std::size_t d = dimensions_.size(); d-- > 0;) {
    strides_[d] = vertices_;
    vertices_ *= dimensions_[d].size;
  }
  for (std::size_t begin = 0; begin < dimensions_.size();) {
    std::size_t end = begin + 1;
    for (std::int32_t size = dimensions_[begin].size;
         end < dimensions_.size() && size * std::int64_t{dimensions_[end].size} <= most_in_block; ++end)
      size *= dimensions_[end].size;
    add_block(begin, end);
    begin = end;
  }
}

std::int32_t Torus::along(std::size_t dimension, std::int32_t a, std::int32_t b) const {
  return distance(coordinate(dimension, a), coordinate(dimension, b), dimensions_[dimension].size,
                  dimensions_[dimension].wiring);
}

void Torus::add_block(std::size_t begin, std::size_t end) {
  Block block;
  const std::int32_t stride = strides_[end - 1];
  for (std::size_t d = begin; d < end; ++d) block.size *= dimensions_[d].size;
  block.wiring = dimensions_[begin].wiring;
  if (block.size == 1) return;
  for (std::int32_t v = 0; v < vertices_; ++v) block.place.push_back(v / stride % block.size);
  for (std::int32_t a = 0; block.size <= most_in_block && a < block.size; ++a) {
    for (std::int32_t b = 0; b < block.size; ++b) {
      std::int32_t sum = 0;
      for (std::size_t d = begin; d < end; ++d) sum += along(d, a * stride, b * stride);
      block.table.push_back(static_cast<std::uint16_t>(sum));
    }
  }
  blocks_.push_back(std::move(block));
}

std::int32_t Torus::hops(std::int32_t from, std::int32_t to) const {
  std::int32_t sum = 0;
  for (const Block& block : blocks_) {
    const std::int32_t a = block.place[static_cast<std::size_t>(from)], b = block.place[static_cast<std::size_t>(to)];
    sum += block.table.empty() ? distance(a, b, block.size, block.wiring)
                               : block.table[static_cast<std::size_t>(a * block.size + b)];
  }
  return sum;
}

std::int32_t Torus::diameter() const {
  std::int32_t sum = 0;
  for (const Dimension& d : dimensions_)
    sum += d.wiring == Wiring::all ? d.size > 1 : d.wiring == Wiring::line ? d.size - 1 : d.size / 2;
  return sum;
}

std::vector<std::int32_t> Torus::coordinates(std::int32_t vertex) const {
  std::vector<std::int32_t> result;
  for (std::size_t d = 0; d < dimensions_.size(); ++d) result.push_back(coordinate(d, vertex));
  return result;
}

std::int32_t Torus::vertex(const std::vector<std::int32_t>& coordinates) const {
  if (coordinates.size() != dimensions_.size()) return -1;
  std::int32_t result = 0;
  for (std::size_t d = 0; d < dimensions_.size(); ++d) {
    if (coordinates[d] < 0 || coordinates[d] >= dimensions_[d].size) return -1;
    result += coordinates[d] * strides_[d];
  }
  return result;
}

std::vector<std::int32_t> Torus::route(std::int32_t from, std::int32_t to) const {
  std::vector<std::int32_t> result{from};
  for (const std::size_t d : order_) {
    const std::int32_t goal = coordinate(d, to);
    std::int32_t at = coordinate(d, from);
    const bool upwards_at_equal = at % 2 == 0;
    while (at != goal) {
      const std::int32_t next = next_place(at, goal, dimensions_[d], upwards_at_equal);
      result.push_back(result.back() + (next - at) * strides_[d]);
      at = next;
    }
  }
  return result;
}

std::vector<std::int32_t> Torus::neighbours(std::int32_t vertex) const {
  std::vector<std::int32_t> result;
  for (std::size_t d = 0; d < dimensions_.size(); ++d) {
    const auto [size, wiring] = dimensions_[d];
    const std::int32_t at = coordinate(d, vertex), first = vertex - at * strides_[d];
    for (const std::int32_t place : {at - 1, at + 1}) {
      if (wiring == Wiring::all || size == 1 || (wiring == Wiring::line && (place < 0 || place >= size))) continue;
      result.push_back(first + (place + size) % size * strides_[d]);
    }
    for (std::int32_t place = 0; wiring == Wiring::all && place < size; ++place) {
      if (place != at) result.push_back(first + place * strides_[d]);
    }
  }
  std::sort(result.begin(), result.end());
  result.erase(std::unique(result.begin(), result.end()), result.end());
  return result;
}

}  // namespace pclscope::mapping
