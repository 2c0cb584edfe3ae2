#include "viewer/layout/function_colours.hpp"

#include <algorithm>

#include "interpose/record/functions.hpp"

namespace pclscope::layout {
namespace {

// Okabe and Ito without black, and three that differ from them by lightness.
constexpr std::array<Rgba, density::named_functions> colours{{{213, 94, 0},
                                                              {86, 180, 233},
                                                              {230, 159, 0},
                                                              {240, 228, 66},
                                                              {0, 158, 115},
                                                              {204, 121, 167},
                                                              {0, 114, 178},
                                                              {175, 225, 190},
                                                              {190, 185, 255},
                                                              {150, 95, 60}}};

// The place of the colour that a function has when it is free.
std::size_t wanted(std::uint16_t function) {
  using enum record::Function;
  switch (static_cast<record::Function>(function)) {
    case Recv:
    case Irecv: return 0;
    case Send:
    case Isend: return 1;
    case Wait: return 2;
    case Waitall:
    case Waitany: return 3;
    case Allreduce: return 4;
    case Reduce:
    case Gather: return 5;
    case Bcast:
    case Scatter: return 6;
    case Barrier: return 7;
    case Alltoall:
    case Alltoallv:
    case Allgather: return 8;
    case Sendrecv: return 9;
    default: return function % density::named_functions;
  }
}

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
  std::array<bool, density::named_functions> taken{};
  std::vector<std::size_t> later;
  for (const std::size_t i : by_number) {
    const std::size_t place = wanted(functions_[i]);
    if (taken[place]) {
      later.push_back(i);
      continue;
    }
    taken[place] = true;
    colours_[i] = colours[place];
  }
  for (const std::size_t i : later) {
    const auto place = static_cast<std::size_t>(std::find(taken.begin(), taken.end(), false) - taken.begin());
    taken[place] = true;
    colours_[i] = colours[place];
  }
}

std::size_t FunctionColours::index(std::uint16_t function) const {
  return static_cast<std::size_t>(std::find(functions_.begin(), functions_.end(), function) - functions_.begin());
}

}  // namespace pclscope::layout
