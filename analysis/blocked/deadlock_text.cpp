#include "analysis/blocked/deadlock_text.hpp"

#include <algorithm>

#include "analysis/blocked/call_kind.hpp"
#include "analysis/values/deadlock_sides.hpp"
#include "interpose/record/functions.hpp"

namespace pclscope::blocked {
namespace {

constexpr std::size_t most_spelled = 4;  // ranks somebody waits for

std::string member_text(const DeadlockMember& member, const SiteText& site_text) {
  const std::string site = site_text(member);
  return "rank " + std::to_string(member.rank) + " in " + std::string(record::function_name(member.function)) +
         (site.empty() ? "" : " (" + site + ")");
}

// Each waits for the next one only.
bool simple_cycle(const std::vector<DeadlockMember>& members) {
  for (std::size_t i = 0; i < members.size(); ++i) {
    const auto& waits_for = members[i].waits_for;
    if (waits_for.size() != 1 || waits_for[0] != members[(i + 1) % members.size()].rank) return false;
  }
  return true;
}

// Of calls that are no wait for a rank, or whose waits are not followed.
std::string work_of(std::string_view function) {
  if (function.starts_with("MPI_File_")) return "the file, or not known";
  if (function.starts_with("MPI_Win_")) return "its target, or the transfer";
  if (function == "MPI_Mrecv") return "a message on its way";
  for (const char* with : {"MPI_Comm_spawn", "MPI_Comm_accept", "MPI_Comm_connect", "MPI_Comm_join"})
    if (function.starts_with(with)) return "another program";
  return "not known";
}

}  // namespace

std::string waits_text(const std::vector<std::int32_t>& ranks, bool any) {
  if (ranks.empty()) return "nobody";
  std::string text = any && ranks.size() > 1 ? "any of " : "";
  text += ranks.size() == 1 ? "rank " : "ranks ";
  const std::size_t spelled = ranks.size() > most_spelled ? most_spelled - 1 : ranks.size();
  for (std::size_t i = 0; i < spelled; ++i) {
    if (i > 0) text += i + 1 == ranks.size() ? " and " : ", ";
    text += std::to_string(ranks[i]);
  }
  if (spelled < ranks.size()) text += " and " + std::to_string(ranks.size() - spelled) + " more";
  return text;
}

std::string waits_text(const RankSummary& rank) {
  if (!rank.waits_for.empty()) return waits_text(rank.waits_for, rank.waits_for_any);
  switch (call_kind(rank.call_function)) {
    case CallKind::receive: return "a message on its way";
    case CallKind::send:
    case CallKind::exchange: return "the transfer";
    case CallKind::wait_all:
    case CallKind::wait_any: return "a transfer, or not known";
    case CallKind::polling: return "not known: it asks";
    case CallKind::lock: return "the lock, or not known";
    case CallKind::finalize: return "others in MPI_Finalize";
    case CallKind::other: return work_of(record::function_name(rank.call_function));
    default: return "the operation, or not known";
  }
}

// "MPI_Bcast of ranks 0 and 1 (a.c:10) against MPI_Barrier of ranks 2 and 3 (a.c:12)"; empty: it is another deadlock.
static std::string sides_text(const Deadlock& deadlock, const SiteText& site_text) {
  std::string text;
  for (const CollectiveSide& side : sides_of(deadlock)) {
    const auto first = std::find_if(deadlock.members.begin(), deadlock.members.end(),
                                    [&](const DeadlockMember& m) { return m.rank == side.ranks.front(); });
    const std::string site = side.site != 0 ? site_text(*first) : "";
    text += (text.empty() ? "" : " against ") + std::string(record::function_name(side.function)) + " of " +
            waits_text(side.ranks, false) + (site.empty() ? "" : " (" + site + ")");
  }
  return text;
}

std::string deadlock_text(const Deadlock& deadlock, const SiteText& site_text, std::size_t most_members) {
  const auto& members = deadlock.members;
  const std::size_t spelled = std::min(members.size(), most_members);
  const std::size_t left_out = members.size() - spelled;
  const std::string more =
      left_out > 0 ? std::to_string(left_out) + (left_out == 1 ? " more rank" : " more ranks") : "";
  std::string text;
  if (const std::string sides = sides_text(deadlock, site_text); !sides.empty())
    text = "collectives that do not match, " + sides + ": ";
  if (!deadlock.on_finished && simple_cycle(members)) {
    for (std::size_t i = 0; i < spelled; ++i) text += member_text(members[i], site_text) + " waits for ";
    if (left_out > 0) text += more + ", the last of which waits for ";
    return members.empty() ? text : text + "rank " + std::to_string(members[0].rank);
  }
  for (std::size_t i = 0; i < spelled; ++i) {
    if (i > 0) text += "; ";
    text +=
        member_text(members[i], site_text) + " waits for " + waits_text(members[i].waits_for, members[i].waits_for_any);
    if (deadlock.on_finished) text += members[i].waits_for.size() == 1 ? ", which has left MPI" : ", who have left MPI";
  }
  if (left_out > 0) text += "; and " + more;
  return text;
}

}  // namespace pclscope::blocked
