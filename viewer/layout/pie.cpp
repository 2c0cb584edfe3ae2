#include "viewer/layout/pie.hpp"

#include <cmath>
#include <numbers>

namespace pclscope::layout {
namespace {

constexpr double turn = 2 * std::numbers::pi;
constexpr double largest_piece = turn / 4;
constexpr double rim_error = 0.25;  // pixels

double counted(double value) { return std::isfinite(value) && value > 0 ? value : 0; }

// Angles from 12 o'clock, clockwise.
Point on_rim(Point middle, float radius, double angle) {
  return {middle.x + radius * static_cast<float>(std::sin(angle)),
          middle.y - radius * static_cast<float>(std::cos(angle))};
}

}  // namespace

std::vector<PieSector> pie_sectors(std::span<const double> values) {
  double most = 0, sum = 0;
  for (const double v : values) most = std::max(most, counted(v));
  if (most <= 0) return {};
  for (const double v : values) sum += counted(v) / most;  // no overflow with numbers like 1e308
  std::vector<PieSector> sectors;
  double at = 0, so_far = 0;
  for (const double v : values) {
    so_far += counted(v) / most;
    const double end = turn * std::min(1.0, so_far / sum);
    sectors.push_back({at, end, counted(v) / most / sum});
    at = end;
  }
  sectors.back().end = turn;
  return sectors;
}

std::vector<std::vector<Point>> pie_pieces(const PieSector& sector, Point middle, float radius) {
  std::vector<std::vector<Point>> pieces;
  if (!(sector.end > sector.begin) || !(radius > 0) || !std::isfinite(radius)) return pieces;
  // A chord of angle a is at most r (1 - cos(a / 2)) off the rim.
  const double step =
      std::min(0.3, 2 * std::acos(std::max(0.0, 1 - rim_error / std::max(static_cast<double>(radius), rim_error))));
  for (double from = sector.begin; from < sector.end - 1e-12; from += largest_piece) {
    const double to = std::min(from + largest_piece, sector.end);
    const int chords = std::max(1, static_cast<int>(std::ceil((to - from) / step)));
    std::vector<Point>& piece = pieces.emplace_back();
    piece.push_back(middle);
    for (int i = 0; i <= chords; ++i) piece.push_back(on_rim(middle, radius, from + (to - from) * i / chords));
  }
  return pieces;
}

int sector_at(std::span<const PieSector> sectors, Point middle, float radius, Point at) {
  if (!(distance(middle, at) <= radius)) return -1;
  double angle = std::atan2(static_cast<double>(at.x - middle.x), static_cast<double>(middle.y - at.y));
  if (angle < 0) angle += turn;
  for (std::size_t i = 0; i < sectors.size(); ++i) {
    if (angle >= sectors[i].begin && angle < sectors[i].end) return static_cast<int>(i);
  }
  return sectors.empty() ? -1 : static_cast<int>(sectors.size()) - 1;
}

}  // namespace pclscope::layout
