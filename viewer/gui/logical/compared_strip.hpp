// Between two runs, or two periods, on the same steps: by how much the second is behind at each step, and what a line
// says of both.
#pragma once

#include <string>

#include "viewer/gui/base/view.hpp"
#include "viewer/layout/compared_runs.hpp"
#include "viewer/layout/logical_picture.hpp"

namespace pclscope::gui {

struct ComparedNames {
  std::string first, second;  // of the upper one and the lower one
};
ComparedNames compared_names(const Scene& scene, const Selection& selection);

// "24 us more", "the same".
std::string more_or_less(double seconds);
// Who is above and who below, how they are put beside each other, and what the phases in sight took.
std::string compared_words(const layout::ComparedRuns& runs, const ComparedNames& names,
                           const layout::LogicalSight& sight);
// Bars upwards where the second is behind, downwards where it is ahead; the scale ends at the largest in sight. Marks
// "behind N": steps in sight that differ.
void draw_compared_strip(const Scene& scene, const layout::ComparedRuns& runs, const layout::LogicalSight& sight,
                         const layout::Rect& area, std::vector<Mark>& marks);

}  // namespace pclscope::gui
