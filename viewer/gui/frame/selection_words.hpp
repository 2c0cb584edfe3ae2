// What is selected, as one line for people.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "viewer/gui/base/view.hpp"

namespace pclscope::gui {

// The id of the selected call site; none: nothing of the kind, or of a rank that is no longer selected.
std::optional<std::uint32_t> selected_site(const Selection& selection);

// "rank 5 (region 2, ranks 4-7), 1.25 s to 1.3 s, MPI_Isend at halo.c:42, message 5 -> 6": what there is of it, with
// the job's or the file's name first. Empty: nothing is selected.
std::string selection_line(const Scene& scene, const Selection& selection);

}  // namespace pclscope::gui
