// Which MPI functions pictures of all calls tell apart: the ten in which ranks spent most time. They have the colours
// of function_colours.hpp, but for those that would look alike; what is not among the ten is grey.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "analysis/density/stack.hpp"
#include "viewer/layout/geometry.hpp"

namespace pclscope::layout {

inline constexpr Rgba other_functions_colour{150, 154, 162};

class FunctionColours {
 public:
  FunctionColours() = default;
  explicit FunctionColours(std::span<const std::uint16_t> functions);  // the first ten of them

  std::span<const std::uint16_t> functions() const { return functions_; }  // as given
  std::size_t index(std::uint16_t function) const;                         // in functions(); its size: another one
  Rgba of(std::uint16_t function) const { return at(index(function)); }
  Rgba at(std::size_t index) const { return index < colours_.size() ? colours_[index] : other_functions_colour; }
  bool operator==(const FunctionColours&) const = default;

 private:
  std::vector<std::uint16_t> functions_;
  std::vector<Rgba> colours_;
};

}  // namespace pclscope::layout
