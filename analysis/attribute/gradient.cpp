#include "analysis/attribute/gradient.hpp"

#include <algorithm>

#include "analysis/attribute/gain.hpp"
#include "analysis/attribute/words.hpp"

namespace pclscope::attribute {
namespace {

constexpr std::size_t fewest = 4;
constexpr double in_between = 0.4;  // of the ranks
constexpr double apart = 0.25;      // of the longest wait, between the shortest and the longest of those

}  // namespace

bool is_gradient(const std::vector<RankWait>& others) {
  if (others.size() < fewest) return false;
  std::vector<double> waits;
  for (const RankWait& w : others) waits.push_back(w.waited_s);
  std::sort(waits.begin(), waits.end());
  const double longest = waits.back();
  const auto first = std::lower_bound(waits.begin(), waits.end(), 0.2 * longest);
  const auto last = std::upper_bound(waits.begin(), waits.end(), 0.8 * longest);
  if (!(longest > 0) || static_cast<double>(last - first) < in_between * static_cast<double>(waits.size()))
    return false;
  // Not one that waits for long, and others that all wait as long for something else.
  return *(last - 1) - *first >= apart * longest;
}

void tell_gradient(Finding& f, std::vector<RankWait> others) {
  std::sort(others.begin(), others.end(), [](const RankWait& a, const RankWait& b) {
    return a.waited_s != b.waited_s ? a.waited_s > b.waited_s : a.rank < b.rank;
  });
  const std::vector<std::int32_t> last = std::move(f.ranks);
  std::vector<std::int32_t> least;
  for (std::size_t i = 0; i < std::max<std::size_t>(1, others.size() / 4); ++i) least.push_back(others[i].rank);
  f.ranks.clear();
  f.cause = Cause::load_imbalance;
  f.detail = "over all ranks";
  f.evidence.push_back("ranks wait by what each computes less: " + words::number(others.front().waited_s) +
                       " s at the " + "most, " + words::number(others[others.size() / 2].waited_s) +
                       " s in the middle, " + words::number(others.back().waited_s) + " s at the least");
  f.evidence.push_back("most to compute: " + words::ranks(last) + "; least: " + words::ranks(least));
  f.advice =
      "Share the work more equally over all ranks: speeding up one of them gains little, the next one is nearly "
      "as late" +
      gain_by_sums(f);
}

}  // namespace pclscope::attribute
