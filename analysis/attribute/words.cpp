#include "analysis/attribute/words.hpp"

#include <cmath>
#include <cstdio>

namespace pclscope::attribute::words {
namespace {

constexpr std::size_t shown_ranks = 6;

}  // namespace

std::string number(double value) {
  if (!std::isfinite(value)) return "?";
  const double size = std::abs(value);
  const int digits = size >= 100 || size == 0 ? 0 : size >= 10 ? 1 : size >= 1 ? 2 : size >= 0.1 ? 3 : 4;
  char text[400];
  std::snprintf(text, sizeof text, "%.*f", digits, value);
  std::string out = text;
  if (out.find('.') == std::string::npos) return out;
  out.erase(out.find_last_not_of('0') + 1);
  if (out.back() == '.') out.pop_back();
  return out;
}

std::string percent(double share) {
  return number(share >= 0.0995 ? std::round(100 * share) : std::round(1000 * share) / 10) + " %";
}

std::string ranks(const std::vector<std::int32_t>& ranks) {
  if (ranks.empty()) return "no rank";
  std::string text = ranks.size() == 1 ? "rank " : "ranks ";
  for (std::size_t i = 0; i < ranks.size() && i < shown_ranks; ++i)
    text += (i > 0 ? ", " : "") + std::to_string(ranks[i]);
  if (ranks.size() > shown_ranks) text += " and " + std::to_string(ranks.size() - shown_ranks) + " more";
  return text;
}

std::string node(NodeNames names, std::int32_t node) {
  const auto index = static_cast<std::size_t>(node);
  return node >= 0 && index < names.size() && !names[index].empty() ? names[index] : "node " + std::to_string(node);
}

}  // namespace pclscope::attribute::words
