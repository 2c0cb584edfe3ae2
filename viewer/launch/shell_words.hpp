// Words of a command line, as a POSIX shell reads and writes them.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace pclscope::launch {

// Splits at blanks; quotes and backslashes protect. Nothing is expanded. Nothing when a quote stays open.
std::optional<std::vector<std::string>> split_words(std::string_view line);

// The word, quoted where a shell would need it.
std::string quote_word(const std::string& word);
std::string join_words(const std::vector<std::string>& words);

}  // namespace pclscope::launch
