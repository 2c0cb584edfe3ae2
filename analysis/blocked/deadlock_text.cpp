#include "analysis/blocked/deadlock_text.hpp"

#include <algorithm>

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

std::string deadlock_text(const Deadlock& deadlock, const SiteText& site_text, std::size_t most_members) {
  const auto& members = deadlock.members;
  const std::size_t spelled = std::min(members.size(), most_members);
  const std::size_t left_out = members.size() - spelled;
  const std::string more =
      left_out > 0 ? std::to_string(left_out) + (left_out == 1 ? " more rank" : " more ranks") : "";
  std::string text;
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
