// How a Graph is made of messages and collective calls; graph.cpp has calls and messages, graph_collectives.cpp what
// waits in collectives and beside messages.
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
  std::vector<std::int64_t> held_until;  // by call: of a Sendrecv that its send held

  bool knows(std::int32_t rank) const { return rank >= 0 && rank < g.ranks(); }
  Call& call(std::uint32_t index) { return g.calls_[index]; }

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
  void receive();
  static bool waits_for_receive(const Message& m);
  static bool ended_at(const Message& m, std::int64_t moment);
  std::uint32_t next_of_receiver(const Message& m) const;
  std::uint32_t holder_of(std::uint32_t message) const;
  void find_freed_sizes();
  void find_holding_sizes();
  void find_exchanges();
  void send();
  void wait_aside();
  std::uint32_t make_join();
  void feed(std::uint32_t join, std::uint32_t node);
  void gather();
  void wait_for(std::uint32_t member, std::uint32_t node, std::int64_t came);
  void operation(std::span<const std::uint32_t> members);
  std::uint32_t root_to(std::span<const std::uint32_t> members) const;
  void share_lags();
  void sort_arrivals();
  void list_feeds();
};

}  // namespace pclscope::whatif
