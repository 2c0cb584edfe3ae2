#include "viewer/layout/top_functions.hpp"

#include <algorithm>
#include <cstdlib>

#include "viewer/layout/function_colours.hpp"

namespace pclscope::layout {
namespace {

// For those whose own colour is taken: lighter than most, and apart from each other.
constexpr std::array<Rgba, density::named_functions> spares{{{175, 225, 190},
                                                             {190, 185, 255},
                                                             {240, 228, 66},
                                                             {150, 95, 60},
                                                             {255, 160, 160},
                                                             {120, 200, 220},
                                                             {200, 200, 120},
                                                             {230, 230, 230},
                                                             {110, 120, 200},
                                                             {90, 160, 60}}};
constexpr int least_apart = 40;  // sum of the three differences

int apart(Rgba a, Rgba b) { return std::abs(a.red - b.red) + std::abs(a.green - b.green) + std::abs(a.blue - b.blue); }

}  // namespace

FunctionColours::FunctionColours(std::span<const std::uint16_t> functions)
    : functions_(functions.begin(),
                 functions.begin() + static_cast<std::ptrdiff_t>(std::min(functions.size(), density::named_functions))),
      colours_(functions_.size()) {
  // By number, so that a new order by time changes no colour.
  std::vector<std::size_t> by_number(functions_.size());
  for (std::size_t i = 0; i < by_number.size(); ++i) by_number[i] = i;
  std::sort(by_number.begin(), by_number.end(),
            [&](std::size_t a, std::size_t b) { return functions_[a] < functions_[b]; });
  std::vector<Rgba> taken{other_functions_colour};
  const auto is_free = [&](Rgba colour) {
    return std::all_of(taken.begin(), taken.end(), [&](Rgba t) { return apart(t, colour) >= least_apart; });
  };
  std::vector<std::size_t> later;
  for (const std::size_t i : by_number) {
    colours_[i] = function_colour(functions_[i]);
    if (is_free(colours_[i])) taken.push_back(colours_[i]);
    else later.push_back(i);
  }
  for (const std::size_t i : later) {
    const auto spare = std::find_if(spares.begin(), spares.end(), is_free);
    if (spare != spares.end()) colours_[i] = *spare;
    taken.push_back(colours_[i]);
  }
}

std::size_t FunctionColours::index(std::uint16_t function) const {
  return static_cast<std::size_t>(std::find(functions_.begin(), functions_.end(), function) - functions_.begin());
}

}  // namespace pclscope::layout
