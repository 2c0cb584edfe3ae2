#include "analysis/logical/sums.hpp"

#include <algorithm>
#include <utility>

namespace pclscope::logical {
namespace {

struct RankLateness {
  double sum = 0;
  std::int64_t most = 0;
};

// One rank's events, those of `lateness_of` being later than others.
template <class LatenessOf>
void add_rank(const LogicalTime& time, const Part& part, LatenessOf lateness_of, LatenessSum& to) {
  RankLateness of;
  for (std::uint32_t i = part.first; i < part.end; ++i) {
    const std::int64_t late = lateness_of(time.events[i]);
    of.sum += static_cast<double>(late);
    of.most = std::max(of.most, late);
  }
  to.sum_ns += of.sum;
  to.most_ns = std::max(to.most_ns, of.most);
  if (of.sum <= to.rank_ns) return;
  to.rank = part.rank;
  to.rank_ns = of.sum;
  to.rank_most_ns = of.most;
  for (std::uint32_t i = part.first; i < part.end; ++i) {
    if (lateness_of(time.events[i]) < of.most / 2) continue;
    to.site = time.events[i].site;
    to.kind = time.events[i].kind;
    break;
  }
}

void add_event(std::int32_t rank, const Event& e, std::int64_t late, LatenessSum& to) {
  to.sum_ns += static_cast<double>(late);
  if (late <= to.most_ns) return;
  to.most_ns = late;
  to.rank_ns = static_cast<double>(late);
  to.rank = rank;
  to.rank_most_ns = late;
  to.site = e.site;
  to.kind = e.kind;
}

}  // namespace

PhaseSum sum_of(const LogicalTime& time, const Phase& phase) {
  PhaseSum sum;
  sum.begin_ns = INT64_MAX, sum.end_ns = INT64_MIN;
  for (const Part& part : time.parts_of(phase)) {
    sum.ranks.push_back(part.rank);
    sum.events += part.end - part.first;
    for (std::uint32_t i = part.first; i < part.end; ++i) {
      const Event& e = time.events[i];
      sum.begin_ns = std::min(sum.begin_ns, e.begin);
      sum.end_ns = std::max(sum.end_ns, e.end);
      if (e.kind == Kind::send) sum.messages += e.count;
      if (e.kind == Kind::collective) sum.collectives += time.members_of(e.partner)[0] == i;
      sum.unpaired += e.unpaired || e.contradicts;
    }
    add_rank(
        time, part, [&](const Event& e) { return time.lateness(phase, e); }, sum.lateness);
    add_rank(
        time, part, [&](const Event& e) { return time.entry_lateness(phase, e); }, sum.entry);
  }
  return sum;
}

std::vector<std::vector<std::uint32_t>> phases_before(const LogicalTime& time) {
  std::vector<std::vector<std::uint32_t>> before(time.phases.size());
  std::vector<std::uint32_t> newest(time.first.size(), none);  // of each rank
  for (std::uint32_t p = 0; p < time.phases.size(); ++p) {
    for (const Part& part : time.parts_of(time.phases[p]))
      if (const std::uint32_t old = std::exchange(newest[static_cast<std::size_t>(part.rank)], p); old != none)
        before[p].push_back(old);
    std::sort(before[p].begin(), before[p].end());
    before[p].erase(std::unique(before[p].begin(), before[p].end()), before[p].end());
  }
  return before;
}

std::vector<StepSum> steps_of(const LogicalTime& time, const Phase& phase, std::span<const std::int32_t> ranks) {
  std::vector<StepSum> steps(phase.steps);
  for (std::uint32_t s = 0; s < phase.steps; ++s) {
    steps[s].step = phase.first_step + s;
    steps[s].begin_ns = INT64_MAX, steps[s].end_ns = INT64_MIN;
  }
  for (const Part& part : time.parts_of(phase)) {
    if (!ranks.empty() && !std::binary_search(ranks.begin(), ranks.end(), part.rank)) continue;
    for (std::uint32_t i = part.first; i < part.end; ++i) {
      const Event& e = time.events[i];
      StepSum& s = steps[e.step - phase.first_step];
      s.begin_ns = std::min(s.begin_ns, e.begin);
      s.end_ns = std::max(s.end_ns, e.end);
      ++(e.kind == Kind::send ? s.sends : e.kind == Kind::receive ? s.receives : s.collectives);
      add_event(part.rank, e, time.lateness(phase, e), s.lateness);
      add_event(part.rank, e, time.entry_lateness(phase, e), s.entry);
    }
  }
  std::erase_if(steps, [](const StepSum& s) { return s.begin_ns > s.end_ns; });
  return steps;
}

}  // namespace pclscope::logical
