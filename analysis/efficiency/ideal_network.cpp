#include "analysis/efficiency/ideal_network.hpp"

#include <algorithm>

#include "analysis/values/wait_state.hpp"
#include "analysis/whatif/replay.hpp"

namespace pclscope::efficiency {
namespace {

constexpr std::size_t most_leads_of_all = 1 << 20, least_leads = 16, fair_leads = 256;
constexpr double most_overlapping = 0.02;  // of a rank's calls

// Of calls whose waits nobody knows the whole time stays.
bool is_replayed(const CollectiveCall& c) {
  const WaitGroup group = group_of(c);
  return (group == WaitGroup::collective || group == WaitGroup::point_to_point) && c.shape != CollectiveShape::unknown;
}

}  // namespace

IdealNetwork::IdealNetwork(std::int32_t ranks, std::int64_t from_ns)
    : most_leads_(
          std::clamp(most_leads_of_all / static_cast<std::size_t>(std::max(ranks, 1)), least_leads, fair_leads)),
      done_ns_(from_ns),
      leads_(static_cast<std::size_t>(std::max(ranks, 0))) {}

void IdealNetwork::add(std::span<const Message> messages, std::span<const CollectiveCall> calls) {
  messages_.insert(messages_.end(), messages.begin(), messages.end());
  for (const CollectiveCall& c : calls)
    if (is_replayed(c)) calls_.push_back(c);
}

bool IdealNetwork::advance(std::int64_t until_ns) {
  const auto ranks = static_cast<std::int32_t>(leads_.size());
  const whatif::Graph graph(ranks, messages_, calls_);
  const bool sound = graph.overlapping() <= most_overlapping;
  if (sound) {
    const std::vector<whatif::Stretch> stretches = whatif::stretches(graph, {done_ns_, until_ns});
    const whatif::IdealTimes times =
        whatif::replay_ideal(graph, stretches, [this](std::int32_t rank, std::int64_t ns) { return moved(rank, ns); });
    for (std::size_t r = 0; r < stretches.size(); ++r) {
      std::vector<Lead>& leads = leads_[r];
      for (std::uint32_t c = stretches[r].first; c < stretches[r].end; ++c) {
        const std::int64_t end = graph.calls()[c].end, saved = std::max<std::int64_t>(end - times.returns[c], 0);
        if (saved == (leads.empty() ? 0 : leads.back().saved_ns)) continue;
        if (!leads.empty() && leads.back().from_ns >= end) leads.back().saved_ns = saved;
        else leads.push_back({end, saved});
      }
      if (leads.size() > 2 * most_leads_)
        leads.erase(leads.begin(), leads.end() - static_cast<std::ptrdiff_t>(most_leads_));
    }
  }
  forget(until_ns);
  return sound;
}

void IdealNetwork::skip(std::int64_t until_ns) {
  messages_.clear();
  calls_.clear();
  done_ns_ = std::max(done_ns_, until_ns);
}

// Messages of which a call goes on stay; and, of collectives, what others may wait for that return a little later.
void IdealNetwork::forget(std::int64_t until_ns) {
  std::erase_if(messages_, [&](const Message& m) { return std::max(m.recv_end, m.send_end) <= until_ns; });
  std::erase_if(calls_, [&](const CollectiveCall& c) { return c.end <= done_ns_; });
  done_ns_ = until_ns;
}

std::int64_t IdealNetwork::saved_ns(std::int32_t rank) const {
  const auto& leads = leads_[static_cast<std::size_t>(rank)];
  return leads.empty() ? 0 : leads.back().saved_ns;
}

std::int64_t IdealNetwork::moved(std::int32_t rank, std::int64_t ns) const {
  const auto& leads = leads_[static_cast<std::size_t>(rank)];
  if (leads.empty()) return ns;
  const auto next = std::upper_bound(leads.begin(), leads.end(), ns,
                                     [](std::int64_t moment, const Lead& lead) { return moment < lead.from_ns; });
  // Before the oldest that is known: as far as then, which is not exact.
  return ns - (next == leads.begin() ? (leads.size() < most_leads_ ? 0 : next->saved_ns) : std::prev(next)->saved_ns);
}

}  // namespace pclscope::efficiency
