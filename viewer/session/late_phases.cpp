#include "viewer/session/late_phases.hpp"

#include <algorithm>
#include <map>

#include "viewer/session/live_logical.hpp"
#include "viewer/session/logical_reading.hpp"
#include "viewer/text/rank_list.hpp"

namespace pclscope::session {
namespace {

constexpr std::size_t most_kept = 1000;  // the newest, and as many that are most late
constexpr std::size_t ranks_width = 40;

template <class Nanoseconds>
double in_s(Nanoseconds ns) {
  return static_cast<double>(ns) * 1e-9;
}

// Phases as they come.
class Gathering {
 public:
  void add(const logical::LogicalTime& time) {
    for (const logical::Phase& phase : time.phases) add(time, phase);
  }
  // `numbered`: these are all phases of the run.
  LatePhases result(bool numbered) && {
    if (numbered) number();
    made_.late = ranks_of(late_);
    made_.came_late = ranks_of(came_late_);
    made_.phases.clear();
    for (Kept& kept : kept_) made_.phases.push_back(std::move(kept.phase));
    std::stable_sort(made_.phases.begin(), made_.phases.end(),
                     [](const LatePhase& a, const LatePhase& b) { return a.begin_s < b.begin_s; });
    return std::move(made_);
  }

 private:
  struct Kept {
    std::size_t place;  // in the order in which they came
    LatePhase phase;
  };
  // What phases are numbered by.
  struct Key {
    std::uint32_t first_step;
    std::int32_t first_rank;
  };

  void add(const logical::LogicalTime& time, const logical::Phase& phase) {
    const logical::PhaseSum sum = logical::sum_of(time, phase);
    LatePhase made;
    made.first_step = phase.first_step;
    made.steps = phase.steps;
    made.begin_s = in_s(sum.begin_ns);
    made.end_s = in_s(sum.end_ns);
    made.ranks = text::compact_ranks(sum.ranks, ranks_width);
    made.rank_count = sum.ranks.size();
    made.messages = sum.messages;
    made.collectives = sum.collectives;
    made.lateness = sum.lateness;
    made.entry = sum.entry;
    count(sum.lateness, late_, made_.late_s);
    count(sum.entry, came_late_, made_.came_late_s);
    kept_.push_back({keys_.size(), std::move(made)});
    keys_.push_back({phase.first_step, sum.ranks.empty() ? -1 : sum.ranks.front()});
    ++made_.all;
    if (kept_.size() >= 8 * most_kept) thin_out();
  }

  static void count(const logical::LatenessSum& of, std::map<std::int32_t, LateRank>& ranks, double& all_s) {
    all_s += in_s(of.sum_ns);
    if (of.rank < 0) return;
    LateRank& rank = ranks[of.rank];
    rank.rank = of.rank;
    ++rank.phases;
    rank.late_s += in_s(of.rank_ns);
  }

  static std::vector<LateRank> ranks_of(const std::map<std::int32_t, LateRank>& ranks) {
    std::vector<LateRank> list;
    for (const auto& [rank, sums] : ranks) list.push_back(sums);
    std::stable_sort(list.begin(), list.end(),
                     [](const LateRank& a, const LateRank& b) { return a.late_s > b.late_s; });
    return list;
  }

  // The newest stay, and of the others those with most lateness.
  void thin_out() {
    std::stable_sort(kept_.begin(), kept_.end(),
                     [](const Kept& a, const Kept& b) { return a.phase.begin_s > b.phase.begin_s; });
    std::stable_sort(kept_.begin() + most_kept, kept_.end(),
                     [](const Kept& a, const Kept& b) { return a.phase.lateness.sum_ns > b.phase.lateness.sum_ns; });
    kept_.resize(2 * most_kept);
  }

  void number() {
    std::vector<std::size_t> order(keys_.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
      return std::pair(keys_[a].first_step, keys_[a].first_rank) < std::pair(keys_[b].first_step, keys_[b].first_rank);
    });
    std::vector<std::uint32_t> number(order.size());
    for (std::size_t i = 0; i < order.size(); ++i) number[order[i]] = static_cast<std::uint32_t>(i);
    for (Kept& kept : kept_) kept.phase.number = number[kept.place];
  }

  LatePhases made_;
  std::vector<Kept> kept_;
  std::vector<Key> keys_;  // of all
  std::map<std::int32_t, LateRank> late_, came_late_;
};

}  // namespace

Result<LatePhases> newest_late_phases(Session& session, const Snapshot& snapshot, double now_s, double length_s) {
  const auto time = newest_logical_time(session, snapshot, now_s, length_s);
  if (!time) return time.error();
  Gathering gathering;
  gathering.add(*time);
  LatePhases phases = std::move(gathering).result(false);
  phases.from_s = now_s - length_s;
  phases.to_s = now_s;
  return phases;
}

Result<LatePhases> stored_late_phases(Session& session, const Snapshot& snapshot,
                                      const std::function<bool(double)>& progress, std::uint64_t messages_at_once) {
  Gathering gathering;
  const auto take = [&](const logical::LogicalTime& time, std::int64_t, double share) {
    gathering.add(time);
    return progress(share);
  };
  const Status read = read_logical_time(session, snapshot, take, messages_at_once);
  if (!read) return read.error();
  LatePhases phases = std::move(gathering).result(true);
  phases.stored = true;
  phases.to_s = snapshot.duration_s;
  return phases;
}

}  // namespace pclscope::session
