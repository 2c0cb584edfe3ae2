#include "analysis/whatif/placed.hpp"

namespace pclscope::whatif {

Placed place_anew(const Graph& graph, std::span<const Stretch> stretches, std::span<const Message> messages,
                  std::span<const std::int32_t> node_of_rank, std::span<const std::int32_t> placed, const Hops& hops,
                  const TransferTimes& times, std::vector<std::int64_t>& lags) {
  using Side = TransferTimes::Side;
  constexpr std::int32_t not_known = -1;
  const auto distance = [&](std::span<const std::int32_t> nodes, const Message& m) {
    const auto from = static_cast<std::size_t>(m.source), to = static_cast<std::size_t>(m.destination);
    if (from >= nodes.size() || to >= nodes.size() || nodes[from] < 0 || nodes[to] < 0) return not_known;
    if (nodes[from] == nodes[to]) return 0;
    return hops ? hops(nodes[from], nodes[to]) : 1;
  };
  Placed result;
  std::vector<char> counted(messages.size());  // it may hold several calls
  for (const Stretch& s : stretches)
    for (std::uint32_t c = s.first; c < s.end; ++c)
      for (const Arrival& a : graph.arrivals(c)) {
        if (a.message == nobody) continue;
        const Message& m = messages[a.message];
        const std::int32_t before = distance(node_of_rank, m), after = distance(placed, m);
        if (m.source == m.destination || before == not_known || after == not_known || before == after) continue;
        const bool at_sender = graph.calls()[c].rank == m.source;
        const std::int64_t lag = times.of(at_sender ? Side::sender : Side::receiver, after, m.bytes);
        if (!counted[a.message]) ++(lag < 0 ? result.untold : result.changed);
        counted[a.message] = true;
        if (lag >= 0) lags[static_cast<std::size_t>(&a - graph.arrivals().data())] = lag;
      }
  return result;
}

}  // namespace pclscope::whatif
