// What a mistyped word was meant to be.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace pclscope::text {

// ", did you mean 'inspect'?" when one of the known words is near: one letter wrong, missing, too many, or two
// neighbours exchanged (words of five letters and more: two such mistakes), or the beginning of only one of them. Else
// empty.
std::string did_you_mean(std::string_view word, std::span<const std::string> known);

// How many such mistakes make one word of the other.
std::size_t mistakes(std::string_view a, std::string_view b);

}  // namespace pclscope::text
