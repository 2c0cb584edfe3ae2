#include "viewer/views/held_up_text.hpp"

#include "viewer/text/quantities.hpp"

namespace pclscope::views {

std::string held_up_text(const Snapshot& snapshot) {
  double sum_s = 0;
  for (const RankSummary& rank : snapshot.ranks) sum_s += rank.held_up_s;
  if (!(sum_s > 0)) return "";
  return "ranks were held up by the tool for " + text::format_seconds(sum_s) + " in all: their buffers were full";
}

}  // namespace pclscope::views
