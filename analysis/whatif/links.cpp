#include "analysis/whatif/links.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include "analysis/whatif/usual.hpp"

namespace pclscope::whatif {
Links healthy(const Graph& graph, std::span<const Stretch> stretches, std::span<const Message> messages,
              std::span<const std::int32_t> node_of_rank, std::span<const std::int32_t> nodes,
              std::vector<std::int64_t>& lags) {
  using Pair = std::pair<std::int32_t, std::int32_t>;
  std::set<Pair> slow;
  for (std::size_t i = 0; i + 1 < nodes.size(); i += 2) slow.emplace(nodes[i], nodes[i + 1]);
  const auto node = [&](std::int32_t rank) {
    const auto i = static_cast<std::size_t>(rank);
    return rank >= 0 && i < node_of_rank.size() ? node_of_rank[i] : -1;
  };
  const auto link_of = [&](const Message& m) { return Pair(node(m.source), node(m.destination)); };
  const auto key = [](const Pair& link, const Message& m) {
    return (static_cast<std::uint64_t>(static_cast<std::uint32_t>(link.first)) << 36) ^
           (static_cast<std::uint64_t>(static_cast<std::uint32_t>(link.second)) << 8) ^ octave_of(m.bytes);
  };
  const auto any_key = [](const Message& m) { return (std::uint64_t{1} << 63) + octave_of(m.bytes); };
  std::vector<char> in_stretch(messages.size());
  for (const Stretch& s : stretches)
    for (std::uint32_t c = s.first; c < s.end; ++c)
      for (const Arrival& a : graph.arrivals(c))
        if (a.message != nobody) in_stretch[a.message] = true;
  Quantiles usual(enough_transfers);
  for (std::uint32_t i = 0; i < messages.size(); ++i) {
    const Pair link = link_of(messages[i]);
    if (!graph.transfers()[i].last || link.first == link.second || link.first < 0) continue;
    const bool is_slow = slow.contains(link);
    if (is_slow && !in_stretch[i]) usual.add(key(link, messages[i]), graph.transfers()[i].lag);
    if (!is_slow) usual.add(any_key(messages[i]), graph.transfers()[i].lag);
  }
  usual.close();
  Links result;
  bool of_others = false, known = false;
  std::uint32_t changed = nobody;
  for (const Stretch& s : stretches)
    for (std::uint32_t c = s.first; c < s.end; ++c)
      for (const Arrival& a : graph.arrivals(c)) {
        if (a.message == nobody || !slow.contains(link_of(messages[a.message]))) continue;
        std::int64_t normal = usual.of(key(link_of(messages[a.message]), messages[a.message]));
        if (normal < 0) {
          normal = usual.of(any_key(messages[a.message]));
          of_others = of_others || normal >= 0;
        }
        if (normal < 0) continue;
        known = true;
        std::int64_t& lag = lags[static_cast<std::size_t>(&a - graph.arrivals().data())];
        if (lag > normal) {
          lag = normal;
          result.changed += a.message != changed;  // it may hold a call twice: sent, and posted
          changed = a.message;
        }
      }
  if (known) result.as = of_others ? "as the same sizes take on other links" : "as the same sizes took at other times";
  return result;
}

}  // namespace pclscope::whatif
