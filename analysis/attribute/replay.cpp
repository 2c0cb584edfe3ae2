#include "analysis/attribute/replay.hpp"

#include <algorithm>
#include <map>
#include <tuple>

namespace pclscope::attribute {

Attribution replay(const Replay& run) {
  const auto ranks = static_cast<std::size_t>(std::max(run.ranks, 0));
  std::vector<std::int32_t> nodes = run.node_of_rank;
  nodes.resize(ranks, nodes.empty() ? 0 : -1);
  std::vector<std::int32_t> regions = run.region_of_rank;
  regions.resize(ranks, -1);
  AttributorOptions options;
  options.window_ns = run.window_ns;
  options.find_mapping = run.find_mapping;
  options.inside_mpi = run.inside_mpi;
  options.before_init_ns = run.before_init_ns;
  Attributor attributor(run.ranks, options);
  Delays delays(run.ranks);
  delays.tell(&attributor);
  std::size_t told = 0;
  const auto tell_off_core = [&](std::int64_t until) {
    for (; told < run.off_core.size() && run.off_core[told].begin_ns < until; ++told) {
      const OffCoreSpan& o = run.off_core[told];
      attributor.add_off_core(o.rank, o.begin_ns, o.end_ns, static_cast<double>(o.off_ns) * 1e-9);
      delays.add_off_core(o.rank, o.begin_ns, o.end_ns, o.off_ns);
    }
  };

  const auto known = [&](std::int32_t r) { return r >= 0 && static_cast<std::size_t>(r) < ranks; };
  std::vector<Message> messages;
  for (const Message& m : run.messages)
    if (known(m.source) && known(m.destination)) messages.push_back(m);
  std::vector<CollectiveCall> calls;
  for (const CollectiveCall& c : run.collectives)
    if (known(c.rank)) calls.push_back(c);
  std::stable_sort(messages.begin(), messages.end(), [](const Message& a, const Message& b) {
    return std::tie(a.recv_end, a.destination) < std::tie(b.recv_end, b.destination);
  });
  std::stable_sort(calls.begin(), calls.end(),
                   [](const CollectiveCall& a, const CollectiveCall& b) { return a.end < b.end; });

  constexpr std::int64_t limit = CallsOfRanks::time_limit;
  const auto cut = [=](std::int64_t t) { return std::clamp(t, -limit, limit); };
  const auto window_of = [&](std::int64_t t) { return t / run.window_ns - (t % run.window_ns < 0); };
  for (std::size_t m = 0, c = 0; m < messages.size() || c < calls.size();) {
    std::int64_t window = INT64_MAX;
    if (m < messages.size()) window = window_of(cut(messages[m].recv_end));
    if (c < calls.size()) window = std::min(window, window_of(cut(calls[c].end)));
    const std::int64_t begin = window * run.window_ns, end = begin + run.window_ns;
    const std::size_t first_message = m, first_call = c;
    while (m < messages.size() && cut(messages[m].recv_end) < end) ++m;
    while (c < calls.size() && cut(calls[c].end) < end) ++c;
    tell_off_core(end);
    const auto of_window = std::span(messages).subspan(first_message, m - first_message);
    const auto calls_of_window = std::span(calls).subspan(first_call, c - first_call);
    std::map<std::pair<std::int32_t, std::int32_t>, std::pair<std::uint64_t, std::uint64_t>> pairs;
    for (const Message& one : of_window) {
      auto& [count, bytes] = pairs[{one.source, one.destination}];
      ++count;
      bytes += one.bytes;
    }
    for (const auto& [pair, sums] : pairs)
      attributor.count(pair.first, pair.second, nodes[static_cast<std::size_t>(pair.first)],
                       nodes[static_cast<std::size_t>(pair.second)], sums.first, sums.second);
    attributor.window(begin, end, of_window, calls_of_window, nodes, regions);
    delays.add(of_window, calls_of_window, end);
    attributor.refresh(0);
    if (run.after_window) run.after_window(end, attributor.result());
  }
  delays.finish();
  attributor.finish(0);
  return attributor.result();
}

}  // namespace pclscope::attribute
