// Pies: shares as angles, and their outlines as convex pieces that any renderer can fill.
#pragma once

#include <span>
#include <vector>

#include "viewer/layout/geometry.hpp"

namespace pclscope::layout {

// Radians, clockwise on the screen (y downwards), from 12 o'clock.
struct PieSector {
  double begin = 0;
  double end = 0;
  double share = 0;  // of the whole, 0 .. 1
};

// One sector per value; what is not finite or below zero counts as nothing. They end at 2 pi exactly. Empty when
// there is nothing to share out.
std::vector<PieSector> pie_sectors(std::span<const double> values);

// The sector as convex polygons, clockwise, each at most a quarter of the pie; points on the rim are within 0.25
// pixels of it.
std::vector<std::vector<Point>> pie_pieces(const PieSector& sector, Point middle, float radius);

// Which sector a point lies in, -1: none.
int sector_at(std::span<const PieSector> sectors, Point middle, float radius, Point at);

}  // namespace pclscope::layout
