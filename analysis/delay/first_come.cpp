#include "analysis/delay/first_come.hpp"

#include <algorithm>

namespace pclscope {
namespace {

using Kind = RankCall::Kind;

constexpr std::ptrdiff_t most_calls = 256;  // looked at, of one rank
constexpr double negligible = 0.01;         // of the wait

// What the receiver did between this wait and the next of its kind: did it hand anything on?
bool serves_only(const CallsOfRanks::Rank& receiver, const RankCall& wait) {
  const auto first = receiver.calls.begin() + (&wait - receiver.calls.data()) + 1;
  const auto end = receiver.calls.begin() + static_cast<std::ptrdiff_t>(receiver.settled);
  std::int32_t served = wait.peer;  // the newest it had something of: probes that need not wait leave only the receive
  for (auto it = first; it != end && it - first < most_calls; ++it) {
    if (it->kind == Kind::collective) return false;
    if (it->kind == Kind::send && it->peer != wait.peer && it->peer != served) return false;
    if (it->kind != Kind::completion || it->of_send) continue;
    if (it->first_come) return true;
    served = it->peer;
  }
  return true;
}

// Of the time from `begin` to `end`, what was not spent in calls.
double computed(const CallsOfRanks::Rank& rank, std::int64_t begin, std::int64_t end) {
  if (rank.settled == 0) return 0;
  std::size_t i = rank.first_from(begin);
  if (i > 0) --i;
  std::int64_t free_from = begin, sum = 0;
  for (std::ptrdiff_t seen = 0; i < rank.settled && rank.calls[i].begin < end && seen < most_calls; ++i, ++seen) {
    sum += std::max<std::int64_t>(0, rank.calls[i].begin - free_from);
    free_from = std::max(free_from, rank.calls[i].end);
  }
  sum += std::max<std::int64_t>(0, end - free_from);
  return static_cast<double>(sum) / static_cast<double>(end - begin);
}

std::uint32_t site_of_next_send(const CallsOfRanks::Rank& rank, std::int32_t to, std::int64_t from) {
  const std::size_t first = rank.first_from(from), end = std::min(rank.settled, first + 16);
  for (std::size_t i = first; i < end; ++i)
    if (rank.calls[i].kind == Kind::send && rank.calls[i].peer == to) return rank.calls[i].site;
  return 0;
}

}  // namespace

void FirstCome::came(std::int32_t receiver, std::int32_t sender) {
  std::vector<std::int32_t>& senders = senders_[receiver];
  auto it = std::find(senders.begin(), senders.end(), sender);
  if (it == senders.end()) {
    if (senders.size() < most) senders.push_back(sender);
    it = senders.end() - 1;
    *it = sender;
  }
  std::rotate(senders.begin(), it, it + 1);
}

std::span<const FirstCome::Candidate> FirstCome::others(const CallsOfRanks& calls, std::int32_t receiver,
                                                        const RankCall& call) {
  others_.clear();
  const auto known = senders_.find(receiver);
  if (known == senders_.end() || call.wait_end <= call.begin) return others_;
  const auto rank_of = [&](std::int32_t rank) -> const CallsOfRanks::Rank& {
    return calls.ranks()[static_cast<std::size_t>(rank)];
  };
  if (!serves_only(rank_of(receiver), call)) return others_;
  double sum = 1;  // call.peer's
  for (const std::int32_t rank : known->second) {
    if (rank == call.peer || rank == receiver) continue;
    const double share = computed(rank_of(rank), call.begin, call.wait_end);
    if (share < negligible) continue;
    others_.push_back({rank, site_of_next_send(rank_of(rank), receiver, call.wait_end), share});
    sum += share;
  }
  for (Candidate& c : others_) c.share /= sum;
  return others_;
}

}  // namespace pclscope
