// What the user may mean by a few letters: a rank, a region, a function, a line of the source. Functions of a snapshot.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "viewer/gui/base/selection.hpp"
#include "viewer/gui/base/view.hpp"

namespace pclscope::gui {

struct SearchHit {
  std::string text;  // "rank 17", "halo.c:42 (exchange, MPI_Recv)"
  std::string why;   // what a choice selects, or why it selects nothing
  bool selects = false;
  Selection selection;  // what it is then
};

// Numbers first, then lines by the time that was lost at them; at most `most`. `now`: what is selected, and stays so
// where a hit says nothing of it.
std::vector<SearchHit> search(const Snapshot& snapshot, std::string_view words, const Selection& now,
                              std::size_t most = 10);

}  // namespace pclscope::gui
