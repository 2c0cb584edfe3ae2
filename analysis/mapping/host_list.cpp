// Lists of hosts as Slurm writes them.
#include <charconv>

#include "analysis/mapping/input_checks.hpp"
#include "analysis/mapping/named_graph.hpp"

namespace pclscope::mapping {
namespace {

constexpr std::size_t most_hosts = std::size_t{1} << 20;

// "01-03" or "7": both ends, and how many digits at least.
bool parse_range(std::string_view text, std::uint64_t& first, std::uint64_t& last, std::size_t& digits) {
  const std::size_t dash = text.find('-');
  const std::string_view low = text.substr(0, dash), high = dash == text.npos ? low : text.substr(dash + 1);
  const auto number = [](std::string_view word, std::uint64_t& value) {
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
    return error == std::errc() && end == word.data() + word.size();
  };
  digits = low.size();
  return number(low, first) && number(high, last) && first <= last && last - first < most_hosts;
}

// All names of one item; what stands before its first bracket is in `begun`. False: malformed, or too many.
bool expand_item(std::string_view item, const std::string& begun, std::vector<std::string>& names) {
  const std::size_t open = item.find('[');
  if (open == item.npos) {
    if (item.find(']') != item.npos || names.size() >= most_hosts) return false;
    names.push_back(begun + std::string(item));
    return !names.back().empty();
  }
  const std::size_t close = item.find(']', open);
  if (close == item.npos || item.substr(0, open).find(']') != item.npos) return false;
  const std::string_view rest = item.substr(close + 1);
  std::string_view ranges = item.substr(open + 1, close - open - 1);
  while (true) {
    const std::size_t comma = ranges.find(',');
    std::uint64_t first = 0, last = 0;
    std::size_t digits = 0;
    if (!parse_range(ranges.substr(0, comma), first, last, digits)) return false;
    for (std::uint64_t n = first; n <= last; ++n) {
      std::string number = std::to_string(n);
      if (number.size() < digits) number.insert(0, digits - number.size(), '0');
      if (!expand_item(rest, begun + std::string(item.substr(0, open)) + number, names)) return false;
    }
    if (comma == ranges.npos) return true;
    ranges.remove_prefix(comma + 1);
  }
}

}  // namespace

Result<std::vector<std::string>> expand_hosts(const std::string& list) {
  std::vector<std::string> names;
  if (list.empty()) return names;
  std::size_t begin = 0;
  int depth = 0;
  for (std::size_t at = 0; at <= list.size(); ++at) {
    const char c = at < list.size() ? list[at] : ',';
    if (c == '[') ++depth;
    if (c == ']') --depth;
    if (depth < 0 || depth > 1 || (at == list.size() && depth != 0)) return bad("brackets do not match");
    if (c != ',' || depth > 0) continue;
    if (!expand_item(std::string_view(list).substr(begin, at - begin), "", names))
      return bad("'" + list.substr(begin, std::min<std::size_t>(at - begin, 60)) +
                 "' is no list of hosts as in n[01-16,20], or names more than " + std::to_string(most_hosts));
    begin = at + 1;
  }
  return names;
}

}  // namespace pclscope::mapping
