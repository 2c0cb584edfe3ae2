// What waits in collectives, and in probes.
#include <algorithm>
#include <tuple>
#include <unordered_map>

#include "analysis/values/wait_state.hpp"
#include "analysis/whatif/graph_build.hpp"

namespace pclscope::whatif {

// Probes wait for the send of the message that they find. Which message it is, the ranks and the time tell.
void Graph::Build::wait_aside() {
  std::unordered_multimap<std::int64_t, std::uint32_t> rows;  // by when the sender came
  for (std::uint32_t i = 0; i < collectives.size(); ++i)
    if (aside_call[i] != nobody && collectives[i].shape == CollectiveShape::probe && collectives[i].wait() > 0)
      rows.emplace(collectives[i].awaited_begin, i);
  for (std::uint32_t i = 0; i < messages.size() && !rows.empty(); ++i) {
    const Message& m = messages[i];
    if (send_call[i] == nobody || post_call[i] == nobody) continue;
    const auto [first, last] = rows.equal_range(m.send_begin);
    for (auto it = first; it != last; ++it) {
      const CollectiveCall& c = collectives[it->second];
      if (c.comm != m.comm || c.rank != m.destination || c.awaited != m.source) continue;
      Call& waiting = call(aside_call[it->second]);
      const std::int64_t lag = waiting.end - std::max(waiting.begin, m.send_begin);
      if (lag < 0) continue;
      waiting.own = std::min(waiting.own, lag);
      arrive(aside_call[it->second], {send_call[i], i, lag});
    }
  }
}

std::uint32_t Graph::Build::make_join() {
  g.joins_.emplace_back();
  return static_cast<std::uint32_t>(g.calls_.size() + g.joins_.size() - 1);
}

void Graph::Build::feed(std::uint32_t join, std::uint32_t node) {
  Join& j = g.joins_[join - g.calls_.size()];
  ++j.feeders;
  const std::int64_t begin = node < g.calls_.size() ? call(node).begin : g.joins_[node - g.calls_.size()].begin;
  j.begin = std::max(j.begin, begin);
  fed.push_back(join);
  feeder.push_back(node);
}

// The calls of one operation, by rank.
void Graph::Build::gather() {
  std::vector<std::uint32_t> order;
  for (std::uint32_t i = 0; i < collectives.size(); ++i)
    if (member_call[i] != nobody) order.push_back(i);
  std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
    const CollectiveCall &x = collectives[a], &y = collectives[b];
    return std::tie(x.comm, x.ordinal, x.rank, a) < std::tie(y.comm, y.ordinal, y.rank, b);
  });
  for (std::size_t i = 0; i < order.size();) {
    std::size_t end = i + 1;
    const CollectiveCall& one = collectives[order[i]];
    while (end < order.size() && collectives[order[end]].comm == one.comm &&
           collectives[order[end]].ordinal == one.ordinal)
      ++end;
    operation(std::span(order).subspan(i, end - i));
    i = end;
  }
}

// `member` waits for `node`; after both have come it takes as long as it did.
void Graph::Build::wait_for(std::uint32_t member, std::uint32_t node, std::int64_t came) {
  const std::uint32_t index = collectives[member].nonblocking ? aside_call[member] : member_call[member];
  if (index == nobody) return;
  Call& c = call(index);
  const std::int64_t lag = c.end - std::max(c.begin, came);
  if (lag < 0) return;  // it cannot have waited for that
  c.own = std::min(c.own, lag);
  arrive(index, {node, nobody, lag});
}

void Graph::Build::operation(std::span<const std::uint32_t> members) {
  const CollectiveShape shape = collectives[members[0]].shape;
  const auto begin = [&](std::uint32_t member) { return call(member_call[member]).begin; };
  const auto node_of = [&](std::int32_t rank) -> std::uint32_t {
    for (const std::uint32_t m : members)
      if (collectives[m].rank == rank) return m;
    return nobody;
  };
  if (shape == CollectiveShape::all_to_all || shape == CollectiveShape::to_root) {
    const std::uint32_t join = make_join();
    for (const std::uint32_t m : members) feed(join, member_call[m]);
    const std::int64_t came = g.joins_.back().begin;
    if (shape == CollectiveShape::all_to_all) {
      for (const std::uint32_t m : members) wait_for(m, join, came);
    } else {
      const std::uint32_t root = root_to(members);
      wait_for(root, join, came);
      for (const std::uint32_t m : members)  // seen to wait for one of the others
        if (const std::uint32_t other = node_of(collectives[m].awaited); m != root && other != nobody && other != m)
          wait_for(m, member_call[other], begin(other));
    }
  } else if (shape == CollectiveShape::from_root) {
    const std::uint32_t root = root_from(members);
    for (const std::uint32_t m : members) {
      const std::uint32_t other = node_of(collectives[m].awaited);
      if (other != nobody && other != m && other != root) {  // a relay, and whom that waits for is its own matter
        wait_for(m, member_call[other], begin(other));
      } else if (m != root) {
        wait_for(m, member_call[root], begin(root));
      }
    }
  } else if (shape == CollectiveShape::prefix) {
    std::uint32_t before = nobody;
    for (const std::uint32_t m : members) {
      const std::uint32_t join = make_join();
      feed(join, member_call[m]);
      if (before != nobody) feed(join, before);
      if (before != nobody) wait_for(m, before, g.joins_[before - g.calls_.size()].begin);
      before = join;
    }
  } else {
    for (const std::uint32_t m : members)
      if (const std::uint32_t other = node_of(collectives[m].awaited); other != nobody && other != m)
        wait_for(m, member_call[other], begin(other));
  }
}

// Who was awaited first, and came before anybody left; if nobody was awaited, the root came before all others.
std::uint32_t Graph::Build::root_from(std::span<const std::uint32_t> members) const {
  std::int64_t left = INT64_MAX;  // the first
  for (const std::uint32_t m : members) left = std::min(left, collectives[m].end);
  const CollectiveCall* first = nullptr;
  for (const std::uint32_t m : members)
    if (const CollectiveCall& c = collectives[m]; c.awaited >= 0 && c.awaited_begin <= left)
      if (first == nullptr || c.awaited_begin < first->awaited_begin) first = &c;
  if (first != nullptr)
    for (const std::uint32_t m : members)
      if (collectives[m].rank == first->awaited) return m;
  return *std::min_element(members.begin(), members.end(), [&](std::uint32_t a, std::uint32_t b) {
    return collectives[a].begin < collectives[b].begin;
  });
}

// Who waited for the last; if nobody did, the root came last. Others may have waited for the last, too: then any of
// them stands for it.
std::uint32_t Graph::Build::root_to(std::span<const std::uint32_t> members) const {
  std::uint32_t waited = nobody;
  for (const std::uint32_t m : members)
    if (collectives[m].awaited >= 0 &&
        (waited == nobody || collectives[m].awaited_begin > collectives[waited].awaited_begin))
      waited = m;
  if (waited != nobody) return waited;
  std::uint32_t last = members[0];
  for (const std::uint32_t m : members)
    if (collectives[m].begin > collectives[last].begin) last = m;
  return last;
}

}  // namespace pclscope::whatif
