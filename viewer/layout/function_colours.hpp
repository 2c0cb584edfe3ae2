// A colour for each MPI function, the same in all views and runs. Hue tells what kind of call it is, lightness the
// functions of a kind apart: sends orange, receives blue, waits green, collectives purple (barriers vermilion),
// one-sided yellow, files brown, starting and ending grey-blue.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "viewer/layout/geometry.hpp"
#include "viewer/layout/palette.hpp"

namespace pclscope::layout {

Rgba function_colour(std::uint16_t function);
// Outside MPI.
Rgba outside_colour(const Palette& palette);

inline constexpr Rgba other_functions_colour{150, 154, 162};

// Where only the ten functions in which ranks spent most time have their colours, and all others are grey. Of two rare
// ones whose colour is the same the one with the larger number is a little darker.
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
