#include "viewer/views/missing_text.hpp"

#include <algorithm>
#include <vector>

#include "interpose/record/functions.hpp"
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

std::string ranks_text(const std::vector<std::int32_t>& ranks) {
  return (ranks.size() == 1 ? "rank " : "ranks ") + text::compact_ranks(ranks, width_of_ranks);
}

constexpr std::size_t few = 8;  // of those outside MPI: the fourth part of all ranks, and no more

// Who made the job end, as far as that can be seen: those that called MPI_Abort, ended by themselves without
// MPI_Finalize, or were outside MPI while all others were inside calls. Empty: nobody stands out.
std::string who_ended_it(const Snapshot& s) {
  std::vector<std::int32_t> aborting, left, outside;
  std::size_t inside = 0;
  for (const RankSummary& r : s.ranks) {
    if (r.call_function == static_cast<std::uint16_t>(record::Function::Abort)) aborting.push_back(r.rank);
    else if (r.call_function != 0) ++inside;
    else if (!r.finished && !r.missing && r.threads > 0) left.push_back(r.rank);
    else if (!r.finished && r.missing && r.threads > 0) outside.push_back(r.rank);
  }
  if (!aborting.empty()) return ranks_text(aborting) + " called MPI_Abort";
  if (!left.empty()) return ranks_text(left) + " ended without MPI_Finalize";
  if (outside.empty() || outside.size() > few || 4 * outside.size() > s.ranks.size() ||
      inside + outside.size() < s.ranks.size())
    return {};
  return ranks_text(outside) + (outside.size() == 1 ? " was" : " were") +
         " outside MPI at the end, all others inside MPI calls";
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
  if (first == nullptr) {
    const std::string who = closed && snapshot.ended && !snapshot.finished ? who_ended_it(snapshot) : "";
    return who.empty() ? "" : "the job ended before MPI_Finalize (" + who + ")";
  }
  const bool one = ranks.size() == 1;
  std::string line = ranks_text(ranks) + (one ? " is" : " are") + " missing";
  if (from(first->missing_from_s) == from(last->missing_from_s)) line += " " + from(first->missing_from_s);
  else line += ", the first (" + std::to_string(first->rank) + ") " + from(first->missing_from_s);
  const std::string who = closed && !snapshot.finished ? who_ended_it(snapshot) : "";
  return line + " (" + reason(snapshot, closed, one) + (who.empty() ? "" : "; " + who) + ")";
}

}  // namespace pclscope::views
