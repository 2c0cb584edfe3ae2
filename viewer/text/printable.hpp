// Foreign text made safe for a terminal, and measured as a terminal shows it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace pclscope::text {

// Control characters (C0, DEL, C1), broken UTF-8, invisible and direction-changing characters become '?': what a
// command is called must not steer the reader's terminal. Line breaks are control characters too.
std::string printable(std::string_view foreign);

// Columns that printable UTF-8 text takes in a terminal.
std::size_t display_width(std::string_view line);

// The text cut to `width` columns; what was cut shows as a final '~'.
std::string clip(std::string_view line, std::size_t width);

// Lines of at most `width` columns, broken at blanks; all but the first indented by `indent`. A word that is longer
// stays whole.
std::vector<std::string> wrapped(std::string_view line, std::size_t width, std::size_t indent);

// Padded with blanks to `width` columns.
std::string pad_right(std::string_view text, std::size_t width);
std::string pad_left(std::string_view text, std::size_t width);

// Only the bytes up to '~' of ASCII survive: block characters and the like become '?'.
std::string ascii_only(std::string_view text);

}  // namespace pclscope::text
