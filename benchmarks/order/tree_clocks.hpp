// Tree clocks (Mathur, Tunc, Pavlogiannis, Viswanathan: A Tree Clock Data Structure for Causal Orderings in
// Concurrent Executions, ASPLOS 2022), kept for all events as RegionClocks keeps its vectors. A join visits only what
// is news.
//
// One tree per rank follows its events; a send takes a snapshot (monotone copy into a used one of the same sender,
// shared by the sends between two receives). Of each receiving call the news are kept, and a whole vector every 32
// calls of a rank. Unlike RegionClocks it needs all messages at once: a send that is told later cannot be given a
// snapshot.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "analysis/order/event_order.hpp"
#include "analysis/values/message.hpp"

namespace pclscope::benchmark {

class TreeClock {
 public:
  struct News {
    std::uint32_t process;
    Position position;
  };

  TreeClock(std::uint32_t processes, std::uint32_t root);
  Position of(std::uint32_t process) const { return nodes_[process].known; }
  void set_own(Position position) { nodes_[root_].known = position; }
  // Everything `other` knows, whose owner is at `position`. Appends to `news` what was not known here.
  void join(const TreeClock& other, Position position, std::vector<News>& news);
  // This is an older state of the same owner.
  void become(const TreeClock& newer);
  std::size_t bytes() const { return sizeof *this + nodes_.capacity() * sizeof(Node); }

 private:
  struct Node {
    Position known = before_everything;
    Position attached = before_everything;  // the parent's time when this became known to it
    std::int32_t parent = -1, first_child = -1, next = -1, previous = -1;
  };
  void collect(const TreeClock& other, std::uint32_t from);
  void detach(std::uint32_t node);
  void attach(std::uint32_t node, std::uint32_t parent, Position attached);
  void move_collected(const TreeClock& other, bool with_root);

  std::uint32_t root_;
  std::vector<Node> nodes_;
  static std::vector<std::uint32_t> collected_;  // children before parents
};

class TreeClocks {
 public:
  explicit TreeClocks(int ranks);
  void add(std::span<const Message> messages);                                             // once, all; ranks 0..
  bool happened_before(std::uint32_t a, Side a_side, std::uint32_t b, Side b_side) const;  // indices of messages
  std::size_t bytes() const;

 private:
  struct Snapshot {
    TreeClock clock;
    std::uint32_t users = 0;
  };
  struct Call {  // that completed receives
    Position position;
    std::size_t news_end;  // in Kept::news
  };
  struct Kept {  // of one rank
    std::vector<Call> calls;
    std::vector<std::uint32_t> processes;  // of the news
    std::vector<Position> positions;
    std::vector<Position> whole;  // a vector for every 32nd call
  };
  std::uint32_t snapshot(std::uint32_t process);
  void receive(std::uint32_t process, Position position, std::uint32_t snapshot, Position sent);
  Position known(std::uint32_t process, Position at, std::uint32_t about) const;

  std::uint32_t ranks_;
  std::span<const Message> messages_;
  std::vector<TreeClock> clocks_;
  std::vector<Snapshot> snapshots_;
  std::vector<std::vector<std::uint32_t>> used_;  // free snapshots by owner
  std::vector<std::int64_t> current_;             // snapshot of each rank's state now, -1
  std::vector<Kept> kept_;
  std::vector<TreeClock::News> news_;
};

}  // namespace pclscope::benchmark
