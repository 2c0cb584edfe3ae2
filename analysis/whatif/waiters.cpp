#include "analysis/whatif/waiters.hpp"

#include <algorithm>
#include <map>
#include <utility>

namespace pclscope::whatif {
namespace {

constexpr std::size_t most_visits = 100'000;  // of one piece: contradictory times

}  // namespace

Waiters::Waiters(const Graph& graph) : graph_(graph), of_(static_cast<std::size_t>(graph.ranks())) {
  std::vector<std::int64_t> begins;
  for (const Call& c : graph.calls()) begins.push_back(c.begin);
  const std::vector<std::uint32_t> last = graph.last_calls(begins);
  std::map<std::pair<std::int32_t, std::int32_t>, std::size_t> index;  // (waited for, waits)
  for (std::uint32_t c = 0; c < graph.calls().size(); ++c) {
    const Call& call = graph.calls()[c];
    std::uint32_t held_by = nobody;
    std::int64_t until = INT64_MIN;
    for (const Arrival& a : graph.arrivals(c)) {
      if (a.node == nobody || last[a.node] == nobody) continue;
      const std::int64_t returns = graph.calls()[last[a.node]].begin + a.lag;
      if (returns > until) until = returns, held_by = last[a.node];
    }
    if (held_by == nobody) continue;
    const Call& other = graph.calls()[held_by];
    const std::int64_t end = std::min(other.begin, call.end);
    if (other.rank == call.rank || end <= call.begin) continue;
    auto& waiters = of_[static_cast<std::size_t>(other.rank)];
    const auto [at, is_new] = index.try_emplace({other.rank, call.rank}, waiters.size());
    if (is_new) waiters.push_back({call.rank, {}});
    auto& spans = waiters[at->second].spans;
    const std::int64_t begin = spans.empty() ? call.begin : std::max(call.begin, spans.back().end);
    if (begin < end) spans.push_back({begin, end});
  }
}

std::vector<Waiters::Wait> Waiters::during(std::uint32_t call) const {
  const Call& behind = graph_.calls()[call];
  std::vector<Wait> waits;
  if (graph_.gap(call) <= 0) return waits;
  const Span piece{graph_.calls()[call - 1].end, behind.begin};
  std::map<std::int32_t, std::int64_t> sums;
  std::vector<Visit> open = {{behind.rank, piece}};
  for (std::size_t visits = 0; !open.empty() && visits < most_visits; ++visits) {
    const Visit v = open.back();
    open.pop_back();
    for (const Waiter& w : of_[static_cast<std::size_t>(v.rank)]) {
      if (w.rank == behind.rank) continue;
      auto span = std::upper_bound(w.spans.begin(), w.spans.end(), v.span.begin,
                                   [](std::int64_t t, const Span& s) { return t < s.end; });
      for (; span != w.spans.end() && span->begin < v.span.end; ++span) {
        const Span both{std::max(span->begin, v.span.begin), std::min(span->end, v.span.end)};
        sums[w.rank] += both.end - both.begin;
        open.push_back({w.rank, both});
      }
    }
  }
  for (const auto& [rank, ns] : sums) waits.push_back({rank, std::min(ns, graph_.gap(call))});
  return waits;
}

}  // namespace pclscope::whatif
