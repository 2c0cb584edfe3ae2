// A simulated run of ranks on nodes in a row: rank r talks with the one half the ranks away at each step, now and then
// with its neighbour.
#pragma once

#include <cstdlib>
#include <vector>

#include "analysis/values/link_times.hpp"
#include "tests/analysis/delay/programs.hpp"
#include "tests/viewer/memory_session.hpp"

namespace pclscope::test {

inline constexpr LinkTimes in_a_row_takes{3e-6, 1e-10, 800e-6, 600e-6, 2e-7};

struct PlacedRun {
  explicit PlacedRun(const std::vector<std::int32_t>& nodes) : PlacedRun(nodes, simulated(nodes)) {}
  // As it ran.
  static Outcome simulated(const std::vector<std::int32_t>& nodes) {
    const auto ranks = static_cast<std::int32_t>(nodes.size());
    Program p(ranks);
    for (std::int32_t step = 0; step < 40; ++step)
      for (std::int32_t r = 0; r < ranks; ++r) {
        p.compute(r, 1'000'000);
        exchange(p, r, (r + ranks / 2) % ranks, 2 * step);
        if (step % 10 == 0) exchange(p, r, r ^ 1, 2 * step + 1);
      }
    Speeds speeds;
    speeds.bytes = [](std::int32_t) { return std::uint64_t{4000}; };
    speeds.transfer_ns = [nodes](std::int32_t from, std::int32_t to, std::uint64_t bytes) {
      const std::int32_t hops = std::abs(nodes[static_cast<std::size_t>(from)] - nodes[static_cast<std::size_t>(to)]);
      return std::llround(1e9 * in_a_row_takes.of(hops, 1, static_cast<double>(bytes)));
    };
    return simulate(p, speeds);
  }

  Outcome outcome;
  MemorySession session;
  Snapshot snapshot;
  double took_s = 0;

 private:
  PlacedRun(std::vector<std::int32_t> nodes, Outcome o) : outcome(std::move(o)), session(outcome.messages) {
    session.calls = outcome.collectives;
    took_s = static_cast<double>(*std::max_element(outcome.end_ns.begin(), outcome.end_ns.end())) * 1e-9;
    snapshot.duration_s = took_s;
    snapshot.application.ranks = static_cast<std::int32_t>(nodes.size());
    for (std::int32_t node = 0; node <= *std::max_element(nodes.begin(), nodes.end()); ++node)
      snapshot.application.nodes.push_back("n" + std::to_string(node));
    snapshot.application.node_of_rank = std::move(nodes);
  }
  static void exchange(Program& p, std::int32_t r, std::int32_t with, std::int32_t tag) {
    p.call(r, K::irecv, site::irecv, with, tag);
    p.call(r, K::isend, site::isend, with, tag);
    p.call(r, K::waitall, site::irecv);
  }
};

}  // namespace pclscope::test
