// Vector clocks of a region's events, computed as windows of matched messages come in, and kept for a while.
//
// A component of a clock is not a counter but the position (local time, event_order.hpp) of the newest event of that
// rank known there. So a message that is matched late changes no clock but those that truly depend on it, and
//   a -> b  iff  component of a's rank in b's clock >= position of a          (a of another rank than b),
//   a -> b  iff  position of a < position of b                                (same rank).
// A vector is stored per receiving call; a send's clock is that of the last receive before it, with its own position.
// The counters of the literature (Fidge, Mattern; PCLVis eq. 6 to 8) are derived: `dense`.
//
// Exact: for two retained events, over the messages with both ends among the ranks, when every window since the
// earlier of the two was added. Later windows change no answer about them, late messages do (answers are then those
// with them). Two limits. Where clocks of ranks are off by up to d, order may be missing for events within 2 d after
// the forgotten time: what connects them may be forgotten already (`too_late` counts messages that came after that).
// And receives on or behind cycles (damaged times only) have incomplete clocks: `on_cycles`.
//
// Not thread-safe. Memory: `most_bytes`, whatever comes; the oldest events are forgotten early.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "analysis/order/clock_slab.hpp"
#include "analysis/order/event_order.hpp"

namespace pclscope {

struct RegionClocksOptions {
  std::size_t most_bytes = std::size_t{64} << 20;
};

class RegionClocks {
 public:
  // An event: its rank's index in ranks(), and when.
  struct Event {
    std::uint32_t process = 0;
    Position position = 0;
    bool operator==(const Event&) const = default;
  };

  // Ranks in any order; repeated and impossible ones (negative, beyond 2^24) are ignored. More ranks than the memory
  // has room for (16 bytes times ranks squared) disable it: nothing is kept, nothing found.
  explicit RegionClocks(std::span<const std::int32_t> ranks, RegionClocksOptions options = {});

  // A window of matched messages in any order. O(ranks) per receiving call, more for what is late.
  void add(std::span<const Message> messages);
  // The same one by one: put() each, then add_put().
  void put(const Message& message) {
    if (enabled_) collect(message);
  }
  void add_put();
  // Events before this local time are not needed any more.
  void forget_before(std::int64_t time_ns);

  // The event of a message that was added and is not forgotten.
  std::optional<Event> event(const Message& message, Side side) const;
  bool happened_before(const Event& a, const Event& b) const;
  // Neither happened before the other; so are events of one call, of which nothing tells which was first.
  bool concurrent(const Event& a, const Event& b) const { return !happened_before(a, b) && !happened_before(b, a); }
  // By rank: how many of its retained events happened before or at the event. Not for inner loops.
  std::vector<std::uint64_t> dense(const Event& event) const;

  const std::vector<std::int32_t>& ranks() const { return ranks_; }
  bool enabled() const { return enabled_; }
  std::int64_t retained_from_ns() const;                // events before are forgotten; INT64_MIN: none yet
  std::size_t bytes() const;                            // all memory held
  std::uint64_t messages() const { return messages_; }  // added since the beginning
  std::uint64_t too_late() const { return too_late_; }
  std::uint64_t on_cycles() const { return on_cycles_; }

 private:
  static constexpr std::uint32_t none = UINT32_MAX;  // no process, item or slot

  struct Entry {
    Position position;
    std::uint32_t slot;
  };
  struct Process {
    std::vector<Entry> receives;  // by position, one per receiving call, its clock
    std::vector<Entry> sends;     // by position, one per message: the clock of the call that received it
    std::size_t sorted = 0;       // sends that are in order; all but while messages are taken in
    Position newest_send = before_everything;
    bool backwards = false;  // of the sends some come after their receive
  };
  struct SlotInfo {
    Position position = 0;
    std::uint32_t process = 0;
    std::uint32_t messages = 0;
    std::uint32_t first_item = 0;  // of this chunk, in items_
    std::uint32_t waiting = 0;     // predecessors that are not computed yet
    bool affected = false, made_now = false, changed = false;
  };
  struct Item {  // a message being added
    Position sent, received;
    std::uint32_t from, to, slot;
  };

  std::uint32_t process_of(std::int32_t rank) const;
  std::size_t used_bytes() const;
  std::size_t cost_per_message() const;
  void make_room(std::size_t messages);
  void forget_positions_before(Position position);
  void collect(const Message& message);
  void sort_items();
  // Of items_, by receive: takes in what comes after everything that could need it, and leaves the rest.
  void take_in_order();
  bool in_order(const Item& item) const;
  void take(Item& item);
  void add_send(const Item& item);
  void sort_sends();
  // Any items: finds their places, then compute().
  void insert(std::span<Item> items);
  void insert_receives(std::span<Item> items);
  std::uint32_t make_slot(std::uint32_t process, Position position);
  // The chunk's receives, and what depends on them, in an order in which each comes after what it depends on.
  void compute(std::span<const Item> items);
  void find_affected(std::span<const Item> items);
  void compute_one(std::uint32_t slot, std::span<const Item> items);
  void pull(std::uint32_t slot, std::span<const Item> items);
  void begin_clock(std::uint32_t slot, std::uint32_t previous);
  bool join(std::uint32_t into, std::uint32_t from);
  bool learn(std::uint32_t slot, std::uint32_t process, Position position);
  template <class Visit>  // visit(slot)
  void for_successors(std::uint32_t slot, Visit visit) const;
  std::uint32_t clock_before(std::uint32_t process, Position position) const;
  std::uint32_t clock_of(const Event& event) const;

  std::vector<std::int32_t> ranks_;
  std::vector<std::uint32_t> process_of_rank_;
  RegionClocksOptions options_;
  bool enabled_ = false;
  ClockSlab slab_;
  std::vector<SlotInfo> info_;
  std::vector<Process> processes_;
  std::vector<Item> items_, sorted_;
  std::vector<std::uint32_t> bucket_ends_;
  std::vector<std::uint32_t> affected_, unsorted_;  // slots; processes
  Position forgotten_ = before_everything;          // everything before
  std::size_t sends_ = 0;
  std::uint64_t messages_ = 0, too_late_ = 0, on_cycles_ = 0;
};

}  // namespace pclscope
