#include "viewer/views/missing_text.hpp"

#include <algorithm>
#include <vector>

#include "viewer/text/quantities.hpp"
#include "viewer/text/rank_list.hpp"

namespace pclscope::views {
namespace {

constexpr std::size_t width_of_ranks = 40;

const char* reason(const Snapshot& s, bool closed, bool one) {
  if (!closed) return "the run was cut off or still goes on";
  if (!s.finished) return "the job or its aggregator was ended";
  return one ? "its record breaks off" : "their records break off";
}

std::string from(double seconds) {
  return seconds > 0 ? "from " + text::format_moment(seconds) + " on" : "from the beginning";
}

}  // namespace

std::string missing_text(const Snapshot& snapshot, bool closed) {
  std::vector<std::int32_t> ranks;
  const RankSummary *first = nullptr, *last = nullptr;
  for (const RankSummary& rank : snapshot.ranks) {
    if (!rank.missing) continue;
    ranks.push_back(rank.rank);
    if (first == nullptr || rank.missing_from_s < first->missing_from_s) first = &rank;
    if (last == nullptr || rank.missing_from_s > last->missing_from_s) last = &rank;
  }
  if (first == nullptr) return "";
  const bool one = ranks.size() == 1;
  std::string line =
      (one ? "rank " : "ranks ") + text::compact_ranks(ranks, width_of_ranks) + (one ? " is" : " are") + " missing";
  if (from(first->missing_from_s) == from(last->missing_from_s)) line += " " + from(first->missing_from_s);
  else line += ", the first (" + std::to_string(first->rank) + ") " + from(first->missing_from_s);
  return line + " (" + reason(snapshot, closed, one) + ")";
}

}  // namespace pclscope::views
