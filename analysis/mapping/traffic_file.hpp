// Traffic in text files: the published hop-byte files, with or without a column of hops, and our own (docs/mapping.md).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/mapping/traffic.hpp"
#include "analysis/values/result.hpp"

namespace pclscope::mapping {

inline constexpr std::string_view traffic_heading = "# pclscope traffic 1";

struct TrafficFile {
  Traffic traffic;
  std::vector<std::int64_t> names;  // the file's number of each rank; empty: they are the ranks
  std::vector<std::int32_t> hops;   // of each flow, as the file says; empty: it does not
  bool counts_messages = false;     // else a line is one message
  std::uint64_t self_lines = 0;     // from a rank to itself: left out, they use no link
};

// Lines of one pair add up (of hops, the last counts). Ranks are taken as they are, unless the numbers begin so high or
// lie so far apart that most would not exist (then `names` says who is who). Errors name the line.
Result<TrafficFile> parse_traffic(std::string_view text);
Result<TrafficFile> read_traffic(const std::string& path);
std::string format_traffic(const Traffic& traffic);  // ours; read again it is the same

}  // namespace pclscope::mapping
