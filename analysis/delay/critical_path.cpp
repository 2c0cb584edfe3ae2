#include "analysis/delay/critical_path.hpp"

#include <algorithm>
#include <map>
#include <tuple>

#include "analysis/delay/calls_of_ranks.hpp"

namespace pclscope {
namespace {

using Kind = RankCall::Kind;

constexpr int most_jumps = 64;  // at one moment, before the path stays where it is: contradictory times

struct Step {
  std::int32_t rank;
  PathKind kind;
  std::uint32_t site, after_site;
  std::int64_t begin, end;
};

// A rank's calls, and for each the one among it and its predecessors that ends last (threads: calls overlap).
struct Timeline {
  const CallsOfRanks::Rank& rank;
  std::vector<std::uint32_t> last_to_end;

  explicit Timeline(const CallsOfRanks::Rank& of) : rank(of), last_to_end(of.calls.size()) {
    std::uint32_t last = 0;
    for (std::uint32_t i = 0; i < of.calls.size(); ++i) {
      if (of.calls[i].end > of.calls[last].end) last = i;
      last_to_end[i] = last;
    }
  }
};

PathKind kind_of(const RankCall& call) {
  if (call.kind == Kind::collective) return PathKind::collective;
  return call.kind == Kind::completion ? PathKind::transfer : PathKind::in_mpi;
}

class Walk {
 public:
  Walk(const CallsOfRanks& calls, std::int64_t from, std::span<const RankLife> lives) : from_(from), lives_(lives) {
    for (const auto& rank : calls.ranks()) timelines_.emplace_back(rank);
  }

  // From (rank, now) back to the begin; steps newest first.
  std::vector<Step> back(std::int32_t rank, std::int64_t now) {
    int jumps = 0;
    while (now > from_) {
      const Timeline& t = timelines_[static_cast<std::size_t>(rank)];
      const auto& calls = t.rank.calls;
      const std::size_t next = t.rank.first_from(now);
      const RankCall* call = next == 0 ? nullptr : &calls[t.last_to_end[next - 1]];
      const std::int64_t before = now;
      if (call == nullptr || call->end < now) {
        const std::uint32_t site = next < calls.size() ? calls[next].site : 0;
        const std::int64_t begin = call ? call->end : begin_of(rank);
        if (begin < now) step({rank, PathKind::computation, site, call ? call->site : 0, begin, now});
        else step({rank, PathKind::in_mpi, 0, 0, from_, now});  // MPI_Init
      } else if (call->wait() > 0 && call->wait_end <= now && jumps < most_jumps) {
        step({rank, kind_of(*call), call->site, 0, call->wait_end, now});
        now = std::max(call->wait_end, from_);
        rank = call->peer;
        jumps = now == before ? jumps + 1 : 0;
        continue;
      } else if (call->wait_end > now && call->begin < now && is_known(call->peer) && jumps < most_jumps) {
        rank = call->peer;  // the period ends in its wait: who it waits for has come no further either
        ++jumps;
        continue;
      } else {
        step({rank, call->wait_end > now ? PathKind::in_mpi : kind_of(*call), call->site, 0, call->begin, now});
      }
      now = steps_.empty() ? before : steps_.back().begin;
      jumps = 0;
    }
    return std::move(steps_);
  }

 private:
  void step(Step s) {
    s.begin = std::max(s.begin, from_);
    if (s.begin >= s.end) return;
    if (!steps_.empty()) {
      Step& later = steps_.back();
      if (std::tie(later.rank, later.kind, later.site, later.after_site) ==
              std::tie(s.rank, s.kind, s.site, s.after_site) &&
          later.begin == s.end) {
        later.begin = s.begin;
        return;
      }
    }
    steps_.push_back(s);
  }

  bool is_known(std::int32_t rank) const { return rank >= 0 && static_cast<std::size_t>(rank) < timelines_.size(); }

  std::int64_t begin_of(std::int32_t rank) const {
    return lives_.empty() ? from_ : std::max(from_, lives_[static_cast<std::size_t>(rank)].begin_ns);
  }

  std::int64_t from_;
  std::span<const RankLife> lives_;
  std::vector<Timeline> timelines_;
  std::vector<Step> steps_;
};

struct Bounds {
  std::int64_t from = INT64_MAX, to = INT64_MIN;
  std::int32_t last = 0;  // rank with the last event
};

// The period cut to what is known of any rank.
Bounds bounds_of(const CallsOfRanks& calls, std::int64_t from_ns, std::int64_t to_ns, std::span<const RankLife> lives) {
  Bounds b;
  bool goes_on = false;
  for (std::size_t rank = 0; rank < calls.ranks().size(); ++rank)
    for (const RankCall& c : calls.ranks()[rank].calls) {
      goes_on = goes_on || c.begin >= to_ns;
      if (c.begin >= to_ns) break;
      b.from = std::min(b.from, c.begin);
      const std::int64_t end = std::min(c.end, to_ns);
      if (end <= b.to) continue;
      b.to = end;
      b.last = static_cast<std::int32_t>(rank);
    }
  if (b.to == INT64_MIN) return b;
  for (std::size_t rank = 0; rank < lives.size(); ++rank) {
    b.from = std::min(b.from, lives[rank].begin_ns);
    const std::int64_t end = std::min(lives[rank].end_ns, to_ns);
    if (lives[rank].begin_ns >= to_ns || end <= b.to) continue;
    b.to = end;
    b.last = static_cast<std::int32_t>(rank);
  }
  b.from = std::max(b.from, from_ns);
  if (goes_on && b.to > INT64_MIN) b.to = to_ns;
  return b;
}

std::vector<PathShare> shares_of(const std::vector<Step>& steps) {
  std::map<std::tuple<std::int32_t, PathKind, std::uint32_t, std::uint32_t>, PathShare> sums;
  for (const Step& s : steps) {
    PathShare& share = sums[{s.rank, s.kind, s.site, s.after_site}];
    share = {s.rank,       s.kind,          s.site,
             s.after_site, share.steps + 1, share.on_path_s + static_cast<double>(s.end - s.begin) * 1e-9};
  }
  std::vector<PathShare> shares;
  for (const auto& sum : sums) shares.push_back(sum.second);
  std::stable_sort(shares.begin(), shares.end(),
                   [](const PathShare& a, const PathShare& b) { return a.on_path_s > b.on_path_s; });
  return shares;
}

}  // namespace

CriticalPath critical_path(std::int32_t ranks, std::span<const Message> messages,
                           std::span<const CollectiveCall> collectives, std::int64_t from_ns, std::int64_t to_ns,
                           std::span<const RankLife> lives) {
  if (lives.size() != static_cast<std::size_t>(std::max(ranks, 0))) lives = {};
  CallsOfRanks calls(ranks);
  for (const Message& m : messages) calls.add(m);
  for (const CollectiveCall& c : collectives) calls.add(c);
  calls.settle(0, nullptr);
  CriticalPath path;
  const Bounds bounds = bounds_of(calls, from_ns, to_ns, lives);
  if (bounds.to <= bounds.from) return path;
  path.begin_s = static_cast<double>(bounds.from) * 1e-9;
  path.end_s = static_cast<double>(bounds.to) * 1e-9;
  std::vector<Step> steps = Walk(calls, bounds.from, lives).back(bounds.last, bounds.to);
  std::reverse(steps.begin(), steps.end());
  for (const Step& s : steps)
    path.steps.push_back(
        {s.rank, s.kind, s.site, s.after_site, static_cast<double>(s.begin) * 1e-9, static_cast<double>(s.end) * 1e-9});
  path.shares = shares_of(steps);
  return path;
}

}  // namespace pclscope
