#include "analysis/blocked/across.hpp"

#include <algorithm>
#include <numeric>

#include "analysis/blocked/blocked.hpp"

namespace pclscope::blocked {

using nodes::CollectiveNeed;
using nodes::MessagePattern;
using nodes::RankWait;

Across::Across(std::int32_t ranks) : told_(static_cast<std::size_t>(std::max(ranks, 0))) {}

void Across::take(std::int32_t rank, const RankWait& wait) {
  if (rank < 0 || static_cast<std::size_t>(rank) >= told_.size()) return;
  Told& told = told_[static_cast<std::size_t>(rank)];
  if (!wait.blocked || !told.wait.blocked || std::abs(told.wait.since_ns - wait.since_ns) > across_clocks_ns)
    told.first_looked_ns = wait.looked_ns;
  told.wait = wait;
}

void Across::forget(std::int32_t node) {
  for (Told& told : told_)
    if (told.wait.node == node) told = {};
}

const RankWait* Across::blocked(std::int32_t rank) const {
  if (rank < 0 || static_cast<std::size_t>(rank) >= told_.size()) return nullptr;
  const RankWait& wait = told_[static_cast<std::size_t>(rank)].wait;
  return wait.blocked ? &wait : nullptr;
}

// A blocking send of a blocked rank may be the message, on its way already. Of others anything may come.
bool Across::may_be_sent(std::int32_t from, std::int32_t to, const MessagePattern& receive) const {
  const RankWait* sender = blocked(from);
  return sender != nullptr && std::any_of(sender->sending.begin(), sender->sending.end(), [&](const MessagePattern& s) {
           return s.peer == to && s.comm == receive.comm && (receive.tag == record::any_tag || receive.tag == s.tag);
         });
}

bool Across::may_be_taken(std::int32_t from, const MessagePattern& send) const {
  const RankWait* receiver = blocked(send.peer);
  if (receiver == nullptr) return false;  // it may go on anyway
  return !receiver->all_taken_known ||
         std::any_of(receiver->takes.begin(), receiver->takes.end(), [&](const MessagePattern& t) {
           return t.comm == send.comm && (t.peer == record::any_source || t.peer == from) &&
                  (t.tag == record::any_tag || t.tag == send.tag);
         });
}

std::vector<std::int32_t> Across::not_begun(const CollectiveNeed& need, bool& all_known) const {
  std::vector<std::int32_t> ranks;
  std::uint64_t members = 0, known = 0;
  for (std::size_t r = 0; r < told_.size(); ++r) {
    if (!told_[r].wait.blocked) continue;
    for (const nodes::CollectivesBegun& b : told_[r].wait.begun) {
      if (b.comm != need.comm) continue;
      members = b.members;
      ++known;
      if (b.count <= need.number) ranks.push_back(static_cast<std::int32_t>(r));
    }
  }
  all_known = members > 0 && known == members;
  return ranks;
}

void Across::add_waiter(WaitGraph& graph, std::int32_t rank) const {
  const RankWait& wait = told_[static_cast<std::size_t>(rank)].wait;
  Waiter w;
  w.rank = rank;
  const auto need = [&](std::vector<std::int32_t> ranks) {
    w.needs.push_back(static_cast<std::uint32_t>(graph.sets.size()));
    graph.sets.push_back(std::move(ranks));
  };
  std::vector<std::int32_t> sources;
  for (const MessagePattern& receive : wait.receives) {
    if (receive.peer == record::any_source) {
      sources.resize(told_.size());
      std::iota(sources.begin(), sources.end(), 0);
    } else {
      sources = {receive.peer};
    }
    if (std::none_of(sources.begin(), sources.end(), [&](std::int32_t s) { return may_be_sent(s, rank, receive); }))
      need(sources);
  }
  for (const MessagePattern& send : wait.sends)
    if (!may_be_taken(rank, send)) need({send.peer});
  for (const CollectiveNeed& collective : wait.collectives) {
    bool all_known = false;
    const std::vector<std::int32_t> missing = not_begun(collective, all_known);
    if (collective.every) {
      for (const std::int32_t m : missing) need({m});
    } else if (all_known && !missing.empty()) {
      need(missing);
    }
  }
  graph.waiters.push_back(std::move(w));
}

bool Across::proven(const Knot& knot) const {
  std::int64_t since = INT64_MIN, first = INT64_MIN, looked = INT64_MAX, read = INT64_MAX;
  bool nodes = false;
  for (const std::int32_t rank : knot.ranks) {
    const Told& told = told_[static_cast<std::size_t>(rank)];
    nodes = nodes || told.wait.node != told_[static_cast<std::size_t>(knot.ranks[0])].wait.node;
    since = std::max(since, told.wait.since_ns);
    first = std::max(first, told.first_looked_ns);
    looked = std::min(looked, told.wait.looked_ns);
    read = std::min(read, told.wait.read_ns);
  }
  return nodes && first + across_clocks_ns <= looked && read > since + across_clocks_ns &&
         looked - since >= deadlock_after_ns;
}

std::vector<Across::Found> Across::find() const {
  WaitGraph graph;
  graph.ranks = static_cast<std::int32_t>(told_.size());
  graph.finished.assign(told_.size(), 0);
  for (std::int32_t rank = 0; rank < graph.ranks; ++rank)
    if (blocked(rank) != nullptr) add_waiter(graph, rank);
  std::vector<Found> found;
  if (graph.waiters.size() < 2) return found;
  for (const Knot& knot : find_knots(graph)) {
    if (knot.on_finished || !proven(knot)) continue;
    Found& one = found.emplace_back();
    for (const std::int32_t rank : knot.ranks) {
      const RankWait& wait = told_[static_cast<std::size_t>(rank)].wait;
      const auto at = std::lower_bound(graph.waiters.begin(), graph.waiters.end(), rank,
                                       [](const Waiter& w, std::int32_t r) { return w.rank < r; });
      one.members.push_back({rank, wait.since_ns, waits_of(graph, *at)});
      one.looked_ns = std::max(one.looked_ns, wait.looked_ns);
    }
  }
  return found;
}

}  // namespace pclscope::blocked
