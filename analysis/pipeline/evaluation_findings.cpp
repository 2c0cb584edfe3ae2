// What the findings are fed with (analysis/attribute/, docs/attribution.md).
#include <algorithm>

#include "analysis/pipeline/evaluation_state.hpp"
#include "analysis/whatif/whatif.hpp"

namespace pclscope {

namespace {

constexpr double findings_share = 0.03;                   // of wall time, in a running job
constexpr double live_effort = 0.03, final_effort = 0.2;  // 0.3 s and 0.6 s for 2,048 ranks
constexpr std::size_t most_pairs = 100'000;               // for a placement, in a running job
constexpr std::size_t most_replayed = 100'000;            // messages, and collective calls: some 50 MB, 0.1 s a finding

}  // namespace

attribute::AttributorOptions Evaluation::State::attributor_options() {
  attribute::AttributorOptions o;
  o.window_ns = window_ns;
  o.time_share = options.delay_share < 1 ? findings_share : 1;
  o.find_mapping = [this] { return better_mapping(); };
  o.without = [this](const Finding& finding, const attribute::BetterMapping* mapping) {
    return without(finding, mapping);
  };
  o.node_names = [this] { return std::span<const std::string>(application.nodes); };
  o.inside_mpi = [this](std::int32_t rank) {
    const nodes::RankStatus status = measured.status_of(rank);
    return attribute::Computing::Inside{static_cast<double>(status.mpi_ns) * 1e-9, status.threads};
  };
  o.before_init_ns = [this](std::int32_t rank) { return measured.before_init_ns(rank); };
  o.threads = [this] {
    std::uint64_t threads = 0;
    for (std::int32_t rank = 0; rank < application.ranks; ++rank)
      threads += std::max(measured.status_of(rank).threads, 1u);
    return threads;
  };
  return o;
}

void Evaluation::State::attribute(std::int64_t begin_ns, std::int64_t end_ns, std::span<const Message> messages) {
  attributor.window(begin_ns, end_ns, messages, closing_calls, application.node_of_rank, regions.id_of_rank());
}

void Evaluation::State::attribute_rest() {
  const auto [first, last] = rest();
  if (!closing_calls.empty() || !attributor.slices().all().empty()) attribute(first, last + 1, {});
}

// Of the job's ranks on the nodes that it has, with as many ranks on each as now.
std::optional<attribute::BetterMapping> Evaluation::State::better_mapping() const {
  const PairTable& pairs = measured.pairs;
  if (!ending && pairs.size() > most_pairs) return std::nullopt;
  mapping::Traffic traffic;
  traffic.ranks = application.ranks;
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    const LatencySums& sums = pairs.total(i);
    const PairTable::Pair& pair = pairs.pair(i);
    if (sums.messages > 0 && pair.source != pair.destination)
      traffic.flows.push_back({pair.source, pair.destination, sums.messages, static_cast<double>(sums.bytes)});
  }
  return attribute::better_mapping(std::move(traffic), application.node_of_rank,
                                   static_cast<std::int32_t>(application.nodes.size()),
                                   ending ? final_effort : live_effort);
}

void Evaluation::State::remember_calls() {
  const std::size_t most = std::min(most_replayed, options.memory_bytes / 16 / sizeof(CollectiveCall));
  recent_calls.insert(recent_calls.end(), closing_calls.begin(), closing_calls.end());
  while (recent_calls.size() > most) {
    calls_from_ns = std::max(calls_from_ns, recent_calls.front().end + 1);
    recent_calls.pop_front();
  }
}

// Of the newest part of the period, as far as its calls are in memory.
std::optional<WhatIf> Evaluation::State::without(const Finding& finding,
                                                 const attribute::BetterMapping* mapping) const {
  const auto change = mapping != nullptr ? Result<whatif::Change>(whatif::to_nodes(mapping->node_of_rank))
                                         : whatif::change_for(finding);
  if (!change) return std::nullopt;
  const auto ns = [](double s) { return static_cast<std::int64_t>(std::clamp(s, -4e9, 4e9) * 1e9); };
  const std::int64_t begin = ns(finding.begin_s), end = ns(finding.end_s);
  std::int64_t from = std::max({begin - (end - begin), recent.complete_from_ns(), calls_from_ns});
  std::deque<Message> messages;  // the newest
  recent.between(from, end, [&](const Message& m) {
    messages.push_back(m);
    if (messages.size() <= most_replayed) return;
    from = std::max(from, messages.front().recv_end + 1);
    messages.pop_front();
  });
  std::vector<CollectiveCall> of_period;  // and whoever came to its last operations later
  const std::int64_t until = end + std::max<std::int64_t>(end - begin, 1'000'000'000);
  for (const CollectiveCall& c : recent_calls)
    if (c.end >= from && c.begin < until) of_period.push_back(c);
  const std::vector<Message> list(messages.begin(), messages.end());
  const whatif::Period there{from, std::numeric_limits<std::int64_t>::max()};
  const auto result = whatif::what_if({application.ranks, list, of_period, application.node_of_rank},
                                      std::span(&there, 1), begin, end, *change);
  if (!result || result->changed == 0) return std::nullopt;
  return *result;
}

}  // namespace pclscope
