// What a run comes to, in plain sentences: the one place where they are made (docs/sentences.md has the wording).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "analysis/values/snapshot.hpp"
#include "viewer/views/site_text.hpp"

namespace pclscope::views {

// At most three: where the time goes, whom most of the waiting is for, what it would bring to change that. Fewer where
// nothing is known, or there is nothing to gain. Safe for a terminal.
std::vector<std::string> sentences(const Snapshot& snapshot, const Sites& sites);

// The same in lines of `width` columns (0: one each), as many whole sentences as `most` lines hold.
std::vector<std::string> sentence_lines(const Snapshot& snapshot, const Sites& sites, std::size_t width,
                                        std::size_t most);

// Its ranks have ended, or nothing more of them will come.
bool is_over(const Snapshot& snapshot);
// "not known yet" while it runs, then "not known": `words` are without the last one.
std::string so_far(const Snapshot& snapshot, std::string words);

// "a", "a and b", "a, b and c".
std::string in_words(const std::vector<std::string>& words);
// "rank 5", "ranks 4 and 5", "ranks 4, 5, 6 and 37 others": the first three, in the order given.
std::string ranks_in_words(const std::vector<std::int32_t>& ranks);

}  // namespace pclscope::views
