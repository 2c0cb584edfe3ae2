// Runs whose times are worked out here, not by an MPI: every rank computes, sends to its partners, and waits for their
// messages of the same step. What a rank computes and what a message takes are functions, so causes are planted at
// will.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <random>
#include <utility>
#include <vector>

#include "analysis/values/collective_call.hpp"
#include "analysis/values/message.hpp"

namespace pclscope::test {

inline constexpr std::int64_t us = 1'000, ms = 1'000'000, s_ns = 1'000'000'000;

struct Exchange {
  std::int32_t ranks = 8;
  int steps = 400;
  std::vector<std::pair<std::int32_t, std::int32_t>> edges;  // both ways
  std::uint64_t bytes = 4096;
  std::vector<std::int32_t> nodes;  // of each rank; empty: one
  std::function<std::int64_t(std::int32_t rank, std::int64_t now)> compute = [](auto, auto) { return 10 * ms; };
  std::function<std::int64_t(std::int32_t from, std::int32_t to, std::int64_t now)> transfer = [](auto, auto, auto) {
    return 20 * us;
  };
  std::function<int(std::int32_t rank)> copies = [](auto) { return 1; };  // messages to each partner
  bool allreduce = false;                                                 // after every step
  double jitter = 0.02;                                                   // of computation, uniform
  std::uint32_t seed = 1;
};

struct Run {
  std::vector<Message> messages;
  std::vector<CollectiveCall> collectives;
  std::int64_t end_ns = 0;
};

inline std::vector<std::pair<std::int32_t, std::int32_t>> ring_edges(std::int32_t ranks) {
  std::vector<std::pair<std::int32_t, std::int32_t>> edges;
  for (std::int32_t r = 0; r < ranks; ++r) edges.emplace_back(r, (r + 1) % ranks);
  return edges;
}

inline Run run(const Exchange& x) {
  Run out;
  const auto n = static_cast<std::size_t>(x.ranks);
  std::mt19937 random(x.seed);
  std::uniform_real_distribution<double> noise(-x.jitter, x.jitter);
  std::vector<std::int64_t> now(n, ms), sent(n), posted(n);
  for (int step = 0; step < x.steps; ++step) {
    for (std::size_t r = 0; r < n; ++r) {
      posted[r] = now[r];
      const auto work = static_cast<double>(x.compute(static_cast<std::int32_t>(r), now[r]));
      sent[r] = now[r] + 2 * us + static_cast<std::int64_t>(work * (1 + noise(random)));
    }
    std::vector<std::int64_t> done = sent;
    std::vector<Message> of_step;
    for (const auto& [a, b] : x.edges)
      for (const auto& [from, to] : {std::pair(a, b), std::pair(b, a)})
        for (int c = 0; c < x.copies(from); ++c) {
          Message m;
          m.source = from;
          m.destination = to;
          m.bytes = x.bytes;
          m.flags = 1;  // nonblocking
          m.send_begin = sent[static_cast<std::size_t>(from)];
          m.send_end = m.send_begin + us;
          m.recv_post = posted[static_cast<std::size_t>(to)];
          m.recv_wait = sent[static_cast<std::size_t>(to)] + us;
          m.send_site = 2;
          m.recv_site = 1;
          if (!x.nodes.empty() && x.nodes[static_cast<std::size_t>(from)] != x.nodes[static_cast<std::size_t>(to)])
            m.flags |= message_flag::inter_node;
          const std::int64_t there = m.send_begin + x.transfer(from, to, m.send_begin);
          done[static_cast<std::size_t>(to)] =
              std::max(done[static_cast<std::size_t>(to)], std::max(there, m.recv_wait) + us);
          of_step.push_back(m);
        }
    for (Message& m : of_step) m.recv_end = done[static_cast<std::size_t>(m.destination)];
    out.messages.insert(out.messages.end(), of_step.begin(), of_step.end());
    now = done;
    if (!x.allreduce) continue;
    const auto last = std::max_element(now.begin(), now.end());
    for (std::size_t r = 0; r < n; ++r) {
      CollectiveCall c;
      c.comm = 1;
      c.ordinal = static_cast<std::uint64_t>(step);
      c.rank = static_cast<std::int32_t>(r);
      c.shape = CollectiveShape::all_to_all;
      c.begin = now[r];
      c.end = *last + 10 * us;
      c.awaited = static_cast<std::int32_t>(last - now.begin());
      c.awaited_begin = *last;
      if (c.awaited == c.rank) c.awaited = -1;
      c.site = 3;
      out.collectives.push_back(c);
    }
    std::fill(now.begin(), now.end(), *last + 10 * us);
  }
  for (const std::int64_t t : now) out.end_ns = std::max(out.end_ns, t);
  return out;
}

}  // namespace pclscope::test
