#include "viewer/gui/clocks/clock_words.hpp"

#include <algorithm>

#include "viewer/text/quantities.hpp"
#include "viewer/text/rank_list.hpp"

namespace pclscope::gui {

using layout::ClockEvent;
using layout::ClockPicture;

const char* name_of(ClockRelation relation) {
  switch (relation) {
    case ClockRelation::before: return "before";
    case ClockRelation::after: return "after";
    case ClockRelation::concurrent: return "concurrent";
    case ClockRelation::itself: break;
  }
  return "this event";
}

ClockRelation relation_of(const ClockPicture& picture, std::uint32_t event, std::uint32_t to) {
  if (event == to) return ClockRelation::itself;
  if (layout::happened_before(picture, event, to)) return ClockRelation::before;
  return layout::happened_before(picture, to, event) ? ClockRelation::after : ClockRelation::concurrent;
}

ClockCounts count_relations(const ClockPicture& picture, std::uint32_t event) {
  ClockCounts counts;
  for (std::uint32_t i = 0; i < picture.events.size(); ++i) {
    const ClockRelation relation = relation_of(picture, i, event);
    counts.before += relation == ClockRelation::before;
    counts.after += relation == ClockRelation::after;
    counts.concurrent += relation == ClockRelation::concurrent;
  }
  return counts;
}

std::vector<std::string> clock_lines(const ClockEvent& event, std::size_t per_line, bool others) {
  std::vector<std::string> lines;
  const std::size_t each = std::max<std::size_t>(per_line, 1);
  for (std::size_t i = 0; i < event.clock.size(); ++i) {
    if (i % each == 0) lines.emplace_back(i == 0 ? "(" : "");
    else lines.back() += " ";
    lines.back() += std::to_string(event.clock[i]);
  }
  if (!lines.empty()) lines.back() += ")";
  if (others && event.others > 0) lines.push_back("+" + std::to_string(event.others));
  return lines;
}

std::string clock_header(const ClockPicture& picture) {
  if (picture.events.empty()) return "no events of the selected ranks";
  std::string text = "ranks " + text::compact_ranks(picture.ranks, 40);
  if (picture.ranks_left_out > 0)
    text += " of " + std::to_string(picture.ranks.size() + picture.ranks_left_out) + " selected";
  text += ", steps " + std::to_string(picture.steps.front()) + " to " + std::to_string(picture.steps.back());
  if (picture.steps_left_out > 0)
    text += " (" + text::format_count(picture.steps_left_out) + " more: select a shorter period)";
  text += "; events are counted from step " + std::to_string(picture.first_step) + " on";
  if (picture.knows_others) text += ", + those of other ranks";
  if (picture.contradictions > 0)
    text += "; " + text::format_count(picture.contradictions) + " messages received before they were sent are left out";
  return text;
}

std::string clock_words(const ClockPicture& picture, std::uint32_t event) {
  const ClockEvent& of = picture.events[event];
  std::string known;
  for (std::size_t row = 0; row < picture.ranks.size(); ++row) {
    if (row == of.row || of.clock[row] == 0) continue;
    known +=
        (known.empty() ? "" : ", ") + std::to_string(of.clock[row]) + " of rank " + std::to_string(picture.ranks[row]);
  }
  if (picture.knows_others && of.others > 0)
    known += (known.empty() ? "" : ", ") + std::to_string(of.others) + " of ranks that are not shown";
  std::string words = "its rank's event " + std::to_string(of.clock[of.row]) + " since step " +
                      std::to_string(picture.first_step) +
                      "; happened before it: " + (known.empty() ? "no event of another rank" : known);
  const ClockCounts counts = count_relations(picture, event);
  words += "\nof those shown " + std::to_string(counts.before) + " before, " + std::to_string(counts.after) +
           " after, " + std::to_string(counts.concurrent) + " concurrent";
  return words;
}

}  // namespace pclscope::gui
