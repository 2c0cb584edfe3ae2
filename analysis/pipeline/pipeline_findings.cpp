// What the findings are fed with (analysis/attribute/, docs/attribution.md).
#include <algorithm>

#include "analysis/pipeline/pipeline_state.hpp"

namespace pclscope {

namespace {

constexpr double findings_share = 0.03;                   // of wall time, in a running job
constexpr double live_effort = 0.03, final_effort = 0.2;  // 0.3 s and 0.6 s for 2,048 ranks
constexpr std::size_t most_pairs = 100'000;               // for a placement, in a running job

}  // namespace

attribute::AttributorOptions Pipeline::State::attributor_options() {
  attribute::AttributorOptions o;
  o.window_ns = windows.length_ns();
  o.time_share = options.delay_share < 1 ? findings_share : 1;
  o.find_mapping = [this] { return better_mapping(); };
  o.inside_mpi_s = [this] {
    double seconds = 0;
    for (std::int32_t rank = 0; rank < application.ranks; ++rank) seconds += inside_mpi_s(rank);
    return seconds;
  };
  return o;
}

// A rank of another node, as that node told.
double Pipeline::State::inside_mpi_s(std::int32_t rank) const {
  const auto i = static_cast<std::size_t>(rank);
  return i < statuses.size() ? static_cast<double>(statuses[i].mpi_ns) * 1e-9
                             : static_cast<double>(activity.rank(rank).mpi_ticks) * scale.ns_per_tick * 1e-9;
}

void Pipeline::State::attribute(std::int64_t begin_ns, std::int64_t end_ns, std::span<const Message> messages) {
  attributor.window(begin_ns, end_ns, messages, closing_calls, application.node_of_rank, regions.id_of_rank());
}

void Pipeline::State::attribute_rest() {
  std::int64_t first = newest_ns, last = newest_ns;
  for (const CollectiveCall& c : closing_calls) {
    first = std::min(first, c.end);
    last = std::max(last, c.end);
  }
  if (!closing_calls.empty() || !attributor.slices().all().empty()) attribute(first, last + 1, {});
}

// Of the job's ranks on the nodes that it has, with as many ranks on each as now.
std::optional<attribute::BetterMapping> Pipeline::State::better_mapping() const {
  if (!finished && pairs.size() > most_pairs) return std::nullopt;
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
                                   finished ? final_effort : live_effort);
}

void Pipeline::closed_until(std::int64_t until_ns) {
  State& s = *state_;
  const std::int64_t length = s.windows.length_ns();
  if (s.calls.empty() || until_ns == INT64_MIN || (s.last_part_ns != INT64_MIN && until_ns <= s.last_part_ns + length))
    return;
  const auto [first, last] = std::minmax_element(
      s.calls.begin(), s.calls.end(), [](const CollectiveCall& a, const CollectiveCall& b) { return a.end < b.end; });
  if (first->end >= until_ns) return;
  until_ns = std::min(until_ns, std::max(last->end, first->end) + 1);  // "all windows" is no time
  const std::int64_t begin = std::max(first->end, until_ns - length);
  s.close_calls(until_ns);
  s.attribute(begin, until_ns, {});
  s.follow_delays({}, until_ns);
  s.attributor.refresh(s.regions.tracker().regions().size());
}

}  // namespace pclscope
