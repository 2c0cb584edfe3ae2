// Short words for tests of replays.
#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include "analysis/whatif/graph.hpp"
#include "analysis/whatif/replay.hpp"
#include "tests/analysis/delay/programs.hpp"

namespace pclscope::test {

inline constexpr std::int64_t us = 1000, ms = 1'000'000;
inline constexpr whatif::Period always{INT64_MIN / 4, INT64_MAX / 4};

inline std::vector<std::int64_t> gaps_of(const whatif::Graph& g) {
  std::vector<std::int64_t> gaps;
  for (std::uint32_t c = 0; c < g.calls().size(); ++c) gaps.push_back(g.gap(c));
  return gaps;
}
inline std::vector<std::int64_t> lags_of(const whatif::Graph& g) {
  std::vector<std::int64_t> lags;
  for (const whatif::Arrival& a : g.arrivals()) lags.push_back(a.lag);
  return lags;
}
inline std::int64_t last_end(const whatif::Graph& g) {
  std::int64_t last = INT64_MIN;
  for (const whatif::Call& c : g.calls()) last = std::max(last, c.end);
  return last;
}
inline whatif::Times replayed(const whatif::Graph& g, const std::vector<std::int64_t>& gaps,
                              const whatif::Period& period = always) {
  return whatif::replay(g, whatif::stretches(g, period), gaps, lags_of(g));
}
inline double took_s(const Outcome& o) {
  return static_cast<double>(*std::max_element(o.end_ns.begin(), o.end_ns.end())) * 1e-9;
}
inline whatif::Graph graph_of(const Program& p) {
  const Outcome o = simulate(p);
  return whatif::Graph(p.ranks(), o.messages, o.collectives);
}

}  // namespace pclscope::test
