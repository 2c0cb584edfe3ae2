// Stacked activity (after Muelder et al.): how many of the ranks are inside which MPI function, over time. What is not
// covered is computation.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "analysis/values/call_density.hpp"

namespace pclscope::density {

inline constexpr std::size_t named_functions = 10;  // that pictures tell apart

// Most time inside first; at equal time most calls.
std::vector<std::uint16_t> functions_by_time(const CallDensity& density);

struct Stack {
  std::vector<std::uint16_t> functions;    // of the layers, from the lowest; one layer more is all other functions
  std::vector<std::vector<float>> shares;  // by layer, of each column: of the ranks, inside
  double begin_s = 0, end_s = 0;           // of all columns, equally wide

  std::size_t columns() const { return shares.empty() ? 0 : shares.front().size(); }
  float height(std::size_t column) const;  // of all layers; above 1 with several threads per rank
};

struct StackQuestion {
  std::span<const std::uint16_t> functions;  // the layers
  std::optional<std::int32_t> region;        // none: the whole job
  double ranks = 1;                          // of it
  double duration_s = 0;                     // of the run: the last slice ends there
  double begin_s = 0, end_s = 1;
  std::size_t columns = 1;
};
// Columns are exact means of slices: time inside is spread evenly over its slice only.
Stack stack_of(const CallDensity& density, const StackQuestion& question);

}  // namespace pclscope::density
