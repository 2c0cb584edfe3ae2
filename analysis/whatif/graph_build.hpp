// How a Graph is made of messages and collective calls; graph.cpp has calls and messages, graph_held.cpp what waits for
// the receivers of sends, graph_collectives.cpp what waits in collectives and probes.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "analysis/whatif/graph.hpp"
#include "interpose/record/event.hpp"

namespace pclscope::whatif {

inline std::int64_t cut(std::int64_t time) {
  constexpr std::int64_t limit = std::int64_t{1} << 60;  // +-36 years: no sum of a few overflows
  return std::clamp(time, -limit, limit);
}

struct Graph::Build {
  Build(Graph& graph, std::span<const Message> all, std::span<const CollectiveCall> calls)
      : g(graph), messages(all), collectives(calls) {}

  Graph& g;
  std::span<const Message> messages;
  std::span<const CollectiveCall> collectives;
  std::vector<std::uint32_t> send_call, post_call, wait_call;  // by message
  std::vector<std::uint32_t> member_call, aside_call;          // by collective call
  std::vector<std::uint32_t> received, first_received;         // messages, by the call that completed them
  std::vector<Arrival> loose;                                  // arrivals in any order, and whose they are
  std::vector<std::uint32_t> owner;
  std::vector<std::uint32_t> fed, feeder;  // joins and what feeds them
  static constexpr std::uint32_t octaves = 65;
  std::uint32_t holds_from = 0;          // octave of sizes
  std::array<bool, octaves> is_freed{};  // by octave: sends end when the receiver is in MPI next
  std::vector<std::uint32_t> holder;     // by message: the receiver's call that its send waited for
  std::vector<std::int64_t> held_until;  // by call: of a Sendrecv or Waitall that a send held
  struct HeldWait {                      // a call that completed a send, and waited for its receiver
    std::uint32_t call, message, holder;
    std::int64_t waited_ns = 0;
    bool right_after = true;
  };
  std::vector<HeldWait> held_waits;
  std::vector<std::int64_t> last_received;  // by call: when all that it received can have come
  std::vector<std::uint32_t> next_waiting,
      next_complete;  // by call: itself or the rank's next that may wait, completes

  // How sure it must be that a call waited for its receiver: it returned right after that one had come; or, where sends
  // of that size are known to wait, not before.
  enum class Sure : std::uint8_t { right_after, not_before };
  static constexpr std::int64_t long_gap_ns = 100'000;  // where a single call is judged
  // It need not move other messages.
  static bool only_starts(const Call& c) {
    return c.part == Part::post || (c.part == Part::send && c.end - c.begin < long_gap_ns);
  }
  static bool completes(const Call& c) { return c.part == Part::completion || c.part == Part::aside; }
  // It returned (right) after `came`, long after `from`.
  static bool ended_at(std::int64_t from, std::int64_t came, std::int64_t end, Sure sure) {
    const std::int64_t gap = came - from, behind = end - came;
    return gap >= long_gap_ns && behind >= 0 && (sure == Sure::not_before || behind <= gap / 8);
  }

  bool knows(std::int32_t rank) const { return rank >= 0 && rank < g.ranks(); }
  Call& call(std::uint32_t index) { return g.calls_[index]; }

  // Its data moves at once, whoever waits for whom; of a synchronous send, too.
  static bool is_copied(const Message& m) { return m.bytes < Graph::eager_bytes; }
  static bool is_exchange(const Message& m) { return (m.flags & message_flag::sendrecv_send) != 0; }
  void arrive(std::uint32_t at, Arrival arrival) {
    loose.push_back(arrival);
    owner.push_back(at);
  }
  void all();
  void make_calls();
  void count_overlaps(std::int32_t rank);
  void list_received();
  std::span<const std::uint32_t> received_by(std::uint32_t index) const;
  static std::int64_t ready(const Message& m);
  std::uint32_t last_ready(std::uint32_t index) const;
  void receive();
  static bool waits_for_receive(const Message& m);
  std::array<std::uint32_t, 2> next_of_receiver(const Message& m) const;
  std::uint32_t freed_by(const Message& m, Sure sure) const;
  std::uint32_t holder_of(std::uint32_t message) const;
  void list_next();
  void find_last_received();
  void find_freed_sizes();
  void find_holding_sizes();
  void find_exchanges();
  void find_held_waits();
  void find_told_waits(std::vector<char>& told);
  std::uint32_t wait_of(std::uint32_t message, std::uint32_t next) const;
  HeldWait held_wait_of(std::uint32_t message, const std::array<std::uint32_t, 2>& next) const;
  std::int64_t returned_before(std::uint32_t message, std::uint32_t next) const;
  void send();
  void wait_for_receivers();
  void wait_aside();
  std::uint32_t make_join();
  void feed(std::uint32_t join, std::uint32_t node);
  void gather();
  void wait_for(std::uint32_t member, std::uint32_t node, std::int64_t came);
  void operation(std::span<const std::uint32_t> members);
  std::uint32_t root_to(std::span<const std::uint32_t> members) const;
  std::uint32_t root_from(std::span<const std::uint32_t> members) const;
  void share_lags();
  void sort_arrivals();
  void list_feeds();
};

}  // namespace pclscope::whatif
