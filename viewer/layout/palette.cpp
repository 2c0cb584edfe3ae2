#include "viewer/layout/palette.hpp"

#include <array>
#include <cmath>

namespace pclscope::layout {
namespace {

// Okabe and Ito, without black (which the dark theme would hide), then the same set lighter.
constexpr std::array<Rgba, 14> region_colours{{{230, 159, 0},
                                               {86, 180, 233},
                                               {0, 158, 115},
                                               {240, 228, 66},
                                               {0, 114, 178},
                                               {213, 94, 0},
                                               {204, 121, 167},
                                               {255, 208, 115},
                                               {166, 216, 245},
                                               {110, 205, 175},
                                               {180, 170, 50},
                                               {110, 165, 210},
                                               {240, 160, 100},
                                               {230, 180, 210}}};
constexpr Rgba cold{33, 102, 172}, hot{178, 24, 43}, warm{239, 138, 98}, cool{103, 169, 207};

constexpr Palette dark_palette{Theme::dark,     {24, 26, 31},   {36, 39, 46},    {226, 228, 232}, {150, 154, 162},
                               {62, 66, 75},    {96, 101, 112}, {255, 255, 255}, {239, 98, 90},   {92, 164, 232},
                               {120, 124, 132}, {0, 158, 115},  {240, 180, 40},  {226, 70, 60}};
constexpr Palette light_palette{Theme::light,    {252, 252, 252}, {240, 241, 243}, {28, 30, 34},  {105, 110, 118},
                                {208, 211, 216}, {165, 170, 178}, {0, 0, 0},       {200, 30, 40}, {20, 95, 180},
                                {170, 174, 180}, {0, 128, 92},    {190, 120, 0},   {190, 25, 35}};

// Piecewise linear between colours at equal distances.
template <std::size_t N>
Rgba along(const std::array<Rgba, N>& stops, double at) {
  const double scaled = std::clamp(at, 0.0, 1.0) * (N - 1);
  const auto first = std::min(static_cast<std::size_t>(scaled), N - 2);
  return mix(stops[first], stops[first + 1], static_cast<float>(scaled - static_cast<double>(first)));
}

}  // namespace

Rgba Palette::neutral() const { return theme == Theme::dark ? Rgba{176, 178, 184} : Rgba{196, 198, 204}; }

Rgba Palette::harm(double zero_to_one) const {
  return along(std::array<Rgba, 3>{neutral(), warm, hot}, std::isfinite(zero_to_one) ? zero_to_one : 0);
}

Rgba Palette::latency(double ratio, double worst) const {
  const Rgba neutral = this->neutral();
  if (!(ratio > 0) || !std::isfinite(ratio)) return ratio > 0 ? hot : neutral;
  const double top = std::log2(worst > 1 && std::isfinite(worst) ? worst : 8);
  const double l = std::log2(ratio);
  const std::array<Rgba, 3> below{neutral, cool, cold}, above{neutral, warm, hot};
  return l < 0 ? along(below, -l / 2) : along(above, l / top);
}

Rgba Palette::region(std::int32_t id) const {
  if (id < 0) return calm;
  return region_colours[static_cast<std::size_t>(id) % region_colours.size()];
}

Rgba Palette::share(double zero_to_one) const {
  static constexpr std::array<Rgba, 4> stops{{{255, 237, 140}, {254, 178, 76}, {240, 59, 32}, {150, 10, 30}}};
  return along(stops, std::isfinite(zero_to_one) ? zero_to_one : 0);
}

const Palette& palette(Theme theme) { return theme == Theme::dark ? dark_palette : light_palette; }

}  // namespace pclscope::layout
