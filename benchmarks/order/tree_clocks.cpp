#include "benchmarks/order/tree_clocks.hpp"

namespace pclscope::benchmark {

namespace {
constexpr std::size_t calls_per_whole = 32;
}

std::vector<std::uint32_t> TreeClock::collected_;

TreeClock::TreeClock(std::uint32_t processes, std::uint32_t root) : root_(root), nodes_(processes) {}

// Nodes of other's subtree that this does not know as well. Children are in the order in which they became known,
// newest first: behind one that was known to `from` before the time that this knows of `from`, nothing is news.
void TreeClock::collect(const TreeClock& other, std::uint32_t from) {
  for (std::int32_t child = other.nodes_[from].first_child; child >= 0; child = other.nodes_[child].next) {
    if (nodes_[child].known < other.nodes_[child].known) collect(other, static_cast<std::uint32_t>(child));
    else if (other.nodes_[child].attached <= nodes_[from].known) break;
  }
  collected_.push_back(from);
}

void TreeClock::detach(std::uint32_t node) {
  Node& n = nodes_[node];
  if (n.parent < 0) return;
  if (n.previous >= 0) nodes_[n.previous].next = n.next;
  else nodes_[n.parent].first_child = n.next;
  if (n.next >= 0) nodes_[n.next].previous = n.previous;
  n.parent = n.next = n.previous = -1;
}

void TreeClock::attach(std::uint32_t node, std::uint32_t parent, Position attached) {
  Node& n = nodes_[node];
  n.attached = attached;
  n.parent = static_cast<std::int32_t>(parent);
  n.next = nodes_[parent].first_child;
  if (n.next >= 0) nodes_[n.next].previous = static_cast<std::int32_t>(node);
  nodes_[parent].first_child = static_cast<std::int32_t>(node);
}

void TreeClock::move_collected(const TreeClock& other, bool with_root) {
  const std::size_t count = collected_.size() - (with_root ? 0 : 1);
  for (std::size_t i = 0; i < count; ++i) detach(collected_[i]);
  for (std::size_t i = count; i-- > 0;) {  // parents first, oldest children first
    const std::uint32_t node = collected_[i];
    nodes_[node].known = other.nodes_[node].known;
    if (node != other.root_)
      attach(node, static_cast<std::uint32_t>(other.nodes_[node].parent), other.nodes_[node].attached);
  }
}

void TreeClock::join(const TreeClock& other, Position position, std::vector<News>& news) {
  if (position <= nodes_[other.root_].known) return;
  collected_.clear();
  collect(other, other.root_);
  move_collected(other, true);
  nodes_[other.root_].known = position;
  attach(other.root_, root_, nodes_[root_].known);
  for (const std::uint32_t node : collected_) news.push_back({node, nodes_[node].known});
}

void TreeClock::become(const TreeClock& newer) {
  collected_.clear();
  collect(newer, root_);
  move_collected(newer, false);
  nodes_[root_].known = newer.nodes_[root_].known;
}

TreeClocks::TreeClocks(int ranks)
    : ranks_(static_cast<std::uint32_t>(ranks)), used_(ranks), current_(ranks, -1), kept_(ranks) {
  for (std::uint32_t i = 0; i < ranks_; ++i) clocks_.emplace_back(ranks_, i);
}

std::uint32_t TreeClocks::snapshot(std::uint32_t process) {
  if (current_[process] >= 0) return static_cast<std::uint32_t>(current_[process]);
  std::uint32_t number;
  if (used_[process].empty()) {
    number = static_cast<std::uint32_t>(snapshots_.size());
    snapshots_.push_back({TreeClock(ranks_, process), 0});
  } else {
    number = used_[process].back();
    used_[process].pop_back();
  }
  snapshots_[number].clock.become(clocks_[process]);
  current_[process] = number;
  return number;
}

void TreeClocks::receive(std::uint32_t process, Position position, std::uint32_t snapshot, Position sent) {
  Kept& kept = kept_[process];
  TreeClock& clock = clocks_[process];
  if (kept.calls.empty() || kept.calls.back().position != position) {
    if (!kept.calls.empty() && kept.calls.size() % calls_per_whole == 0)  // as it was after the last call
      for (std::uint32_t i = 0; i < ranks_; ++i) kept.whole.push_back(clock.of(i));
    kept.calls.push_back({position, 0});
    clock.set_own(position);
  }
  news_.clear();
  clock.join(snapshots_[snapshot].clock, sent, news_);
  for (const TreeClock::News& n : news_) {
    kept.processes.push_back(n.process);
    kept.positions.push_back(n.position);
  }
  kept.calls.back().news_end = kept.processes.size();
}

void TreeClocks::add(std::span<const Message> messages) {
  messages_ = messages;
  std::vector<std::uint32_t> snapshot_of(messages.size());
  const LogicalOrder order = logical_order(messages);
  for (const EventOfMessage e : order.events) {
    const Message& m = messages[e.message()];
    const auto from = static_cast<std::uint32_t>(m.source), to = static_cast<std::uint32_t>(m.destination);
    if (e.side() == Side::send) {
      clocks_[from].set_own(send_position(m));
      ++snapshots_[snapshot_of[e.message()] = snapshot(from)].users;
      continue;
    }
    if (current_[to] >= 0 && snapshots_[current_[to]].users == 0)
      used_[to].push_back(static_cast<std::uint32_t>(current_[to]));
    current_[to] = -1;
    const std::uint32_t used = snapshot_of[e.message()];
    receive(to, receive_position(m), used, send_position(m));
    if (--snapshots_[used].users == 0 && current_[from] != used) used_[from].push_back(used);
  }
}

Position TreeClocks::known(std::uint32_t process, Position at, std::uint32_t about) const {
  const Kept& kept = kept_[process];
  auto call = std::upper_bound(kept.calls.begin(), kept.calls.end(), at,
                               [](Position a, const Call& b) { return a < b.position; });
  std::size_t index = static_cast<std::size_t>(call - kept.calls.begin());
  while (index > 0) {
    --index;
    const std::size_t begin = index == 0 ? 0 : kept.calls[index - 1].news_end;
    for (std::size_t i = kept.calls[index].news_end; i-- > begin;)
      if (kept.processes[i] == about) return kept.positions[i];
    if (index > 0 && index % calls_per_whole == 0) return kept.whole[(index / calls_per_whole - 1) * ranks_ + about];
  }
  return before_everything;
}

bool TreeClocks::happened_before(std::uint32_t a, Side a_side, std::uint32_t b, Side b_side) const {
  const auto place = [&](std::uint32_t m, Side side) {
    return side == Side::send ? std::pair(messages_[m].source, send_position(messages_[m]))
                              : std::pair(messages_[m].destination, receive_position(messages_[m]));
  };
  const auto [a_rank, a_position] = place(a, a_side);
  const auto [b_rank, b_position] = place(b, b_side);
  if (a_rank == b_rank) return a_position < b_position;
  return known(static_cast<std::uint32_t>(b_rank), b_position, static_cast<std::uint32_t>(a_rank)) >= a_position;
}

std::size_t TreeClocks::bytes() const {
  std::size_t sum = 0;
  for (const TreeClock& c : clocks_) sum += c.bytes();
  for (const Snapshot& s : snapshots_) sum += s.clock.bytes();
  for (const Kept& k : kept_)
    sum += k.calls.capacity() * sizeof(Call) + k.processes.capacity() * 4 +
           (k.positions.capacity() + k.whole.capacity()) * 8;
  return sum;
}

}  // namespace pclscope::benchmark
