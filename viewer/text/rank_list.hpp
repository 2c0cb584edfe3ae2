// Lists of ranks as people write them: "0-3,8".
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace pclscope::text {

// Runs of three or more become a range; any order and repetitions are accepted. "-" for no ranks.
std::string compact_ranks(std::vector<std::int32_t> ranks);

// The same, at most `width` columns: cut after a whole item and ended with ",+N" for the N ranks left out.
std::string compact_ranks(std::vector<std::int32_t> ranks, std::size_t width);

// "0-3,8" -> {0,1,2,3,8}: ascending, without repetitions. Nothing when malformed, descending or absurdly long.
std::optional<std::vector<std::int32_t>> parse_ranks(std::string_view list);

}  // namespace pclscope::text
