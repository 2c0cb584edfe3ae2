#include "viewer/text/rank_list.hpp"

#include <algorithm>
#include <charconv>

namespace pclscope::text {
namespace {

struct Item {
  std::string text;
  std::size_t ranks = 0;
};

std::vector<Item> items_of(std::vector<std::int32_t>& ranks) {
  std::sort(ranks.begin(), ranks.end());
  ranks.erase(std::unique(ranks.begin(), ranks.end()), ranks.end());
  std::vector<Item> items;
  for (std::size_t first = 0; first < ranks.size();) {
    std::size_t last = first;
    while (last + 1 < ranks.size() && ranks[last + 1] == ranks[last] + 1) ++last;
    const std::size_t count = last - first + 1;
    if (count >= 3) {
      items.push_back({std::to_string(ranks[first]) + "-" + std::to_string(ranks[last]), count});
    } else {
      for (std::size_t i = first; i <= last; ++i) items.push_back({std::to_string(ranks[i]), 1});
    }
    first = last + 1;
  }
  return items;
}

std::string join(const std::vector<Item>& items, std::size_t count) {
  std::string text;
  for (std::size_t i = 0; i < count; ++i) text += (i > 0 ? "," : "") + items[i].text;
  return text;
}

}  // namespace

std::string compact_ranks(std::vector<std::int32_t> ranks) {
  const auto items = items_of(ranks);
  return items.empty() ? "-" : join(items, items.size());
}

std::string compact_ranks(std::vector<std::int32_t> ranks, std::size_t width) {
  const auto items = items_of(ranks);
  if (items.empty()) return "-";
  // As many items as fit with the number of those left out; only what fits is looked at.
  std::size_t left_out = ranks.size();
  std::string begin, best = std::to_string(left_out);
  best.insert(best.begin(), '+');
  for (std::size_t i = 0; i < items.size() && begin.size() <= width; ++i) {
    if (i > 0) begin += ',';
    begin += items[i].text;
    left_out -= items[i].ranks;
    const std::string text = left_out == 0 ? begin : begin + ",+" + std::to_string(left_out);
    if (text.size() <= width) best = text;
  }
  return best.substr(0, width);
}

std::optional<std::vector<std::int32_t>> parse_ranks(std::string_view list) {
  constexpr std::size_t most = 10'000'000;
  std::vector<std::int32_t> ranks;
  while (true) {
    const auto comma = list.find(',');
    const std::string_view item = list.substr(0, comma);
    const char* const end = item.data() + item.size();
    std::int32_t first = 0;
    auto [at, error] = std::from_chars(item.data(), end, first);
    if (error != std::errc{} || first < 0) return std::nullopt;
    std::int32_t last = first;
    if (at != end && *at == '-') {
      const auto result = std::from_chars(at + 1, end, last);
      if (result.ec != std::errc{} || last < first) return std::nullopt;
      at = result.ptr;
    }
    if (at != end || static_cast<std::size_t>(last - first) + ranks.size() >= most) return std::nullopt;
    for (std::int64_t rank = first; rank <= last; ++rank) ranks.push_back(static_cast<std::int32_t>(rank));
    if (comma == std::string_view::npos) break;
    list.remove_prefix(comma + 1);
  }
  std::sort(ranks.begin(), ranks.end());
  ranks.erase(std::unique(ranks.begin(), ranks.end()), ranks.end());
  return ranks;
}

}  // namespace pclscope::text
