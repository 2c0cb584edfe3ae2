#include "viewer/text/nearest.hpp"

#include <algorithm>
#include <vector>

namespace pclscope::text {
namespace {

constexpr std::size_t longest = 64;  // no known word is longer
constexpr std::size_t least_beginning = 3;

std::string_view without_dashes(std::string_view word) {
  return word.substr(std::min(word.find_first_not_of('-'), word.size()));
}

}  // namespace

// Optimal string alignment: row by row, the three newest are kept.
std::size_t mistakes(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before(b.size() + 1), last(b.size() + 1), row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    before.swap(last);
    last.swap(row);
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + (a[i - 1] != b[j - 1])});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) row[j] = std::min(row[j], before[j - 2] + 1);
    }
  }
  return row[b.size()];
}

std::string did_you_mean(std::string_view word, std::span<const std::string> known) {
  const std::string_view meant = without_dashes(word);
  if (meant.size() > longest) return "";
  const std::size_t allowed = meant.size() < 5 ? 1 : 2;
  const std::string* nearest = nullptr;
  std::size_t fewest = allowed + 1, beginnings = 0;
  const std::string* begun = nullptr;
  for (const std::string& candidate : known) {
    const std::string_view letters = without_dashes(candidate);
    const std::size_t count = mistakes(meant, letters);
    if (count < fewest && count < letters.size()) {
      fewest = count;
      nearest = &candidate;
    }
    if (meant.size() >= least_beginning && letters.starts_with(meant)) {
      ++beginnings;
      begun = &candidate;
    }
  }
  if (nearest == nullptr && beginnings == 1) nearest = begun;
  return nearest == nullptr ? "" : ", did you mean '" + *nearest + "'?";
}

}  // namespace pclscope::text
