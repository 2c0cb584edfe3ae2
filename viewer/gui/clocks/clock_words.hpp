// What the picture of vector clocks says in words: of an event, of two events, of the whole. Functions.
#pragma once

#include <string>
#include <vector>

#include "viewer/layout/clock_picture.hpp"

namespace pclscope::gui {

// How an event stands to another one.
enum class ClockRelation { before, after, concurrent, itself };
const char* name_of(ClockRelation relation);
ClockRelation relation_of(const layout::ClockPicture& picture, std::uint32_t event, std::uint32_t to);

// Of all other events of the picture, to one of them.
struct ClockCounts {
  std::size_t before = 0, after = 0, concurrent = 0;
};
ClockCounts count_relations(const layout::ClockPicture& picture, std::uint32_t event);

// "(3 1 0", "0 2)", "+12": components in lines, then the events of others, if they are known.
std::vector<std::string> clock_lines(const layout::ClockEvent& event, std::size_t per_line, bool others);
// What the picture is about, and what is not in it.
std::string clock_header(const layout::ClockPicture& picture);
// "knows of 3 events of rank 1, ...", lines for a tooltip.
std::string clock_words(const layout::ClockPicture& picture, std::uint32_t event);

}  // namespace pclscope::gui
