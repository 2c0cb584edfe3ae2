// Force-directed placing of discs: springs pull linked ones together, all push each other away (Barnes and Hut 1986), a
// weak pull towards the middle keeps unlinked ones near, and at the end discs that overlap are moved apart.
// Deterministic: no clock, no random numbers; the same input gives the same output to the bit. Pure functions.
#pragma once

#include <cstdint>
#include <functional>
#include <span>

#include "viewer/layout/geometry.hpp"

namespace pclscope::layout {

struct Body {
  Point at;            // what is not finite is put onto the start spiral
  float radius = 1;    // kept within 1e-3 .. 1e5, NaN 1
  bool fixed = false;  // pushes and pulls, but is not moved
};

struct Spring {
  std::uint32_t a = 0;  // indices of bodies; springs to none, or to itself, are left out
  std::uint32_t b = 0;
  float weight = 1;  // relative to the other springs; only > 0 and finite pulls
};

struct ForceOptions {
  int steps = 250;
  // The longest move of the first step, in mean diameters; falls linearly to 0. A body moves at most
  // heat * (steps + 1) / 2 mean diameters in `spread`.
  float heat = 0.5f;
  float gap = 1;       // wanted free space between two discs, in units of the positions
  float theta = 0.9f;  // a cell of the tree narrower than theta * its distance counts as one body
};

using Stopping = std::function<bool()>;  // asked now and then; true: give up early (positions stay finite)

// Place `index` of a spiral that fills a disc evenly (Vogel 1979): neighbours about 1.9 * `step` apart, place k at
// step * sqrt(k + 1/2) from the middle.
Point spiral_place(std::size_t index, float step);

// Moves the bodies by the forces.
void spread(std::span<Body> bodies, std::span<const Spring> springs, const ForceOptions& options,
            const Stopping& stopping = {});

// Moves apart what is nearer than `gap`, the smaller of two the farther, in at most `rounds` rounds. Bodies keep inside
// a disc of radius `inside` around the origin (0: no limit). What does not overlap does not move.
void separate(std::span<Body> bodies, float gap, int rounds, float inside = 0, const Stopping& stopping = {});

// Sum of the overlaps of pairs, as the shorter radius' share that is covered, over the number of bodies: 0 when none
// overlaps, 1 when each has another upon it.
double overlap_share(std::span<const Body> bodies);

}  // namespace pclscope::layout
