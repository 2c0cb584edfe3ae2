#include "analysis/whatif/path.hpp"

#include <algorithm>
#include <map>
#include <utility>

namespace pclscope::whatif {
namespace {

constexpr std::int64_t not_there = INT64_MIN;

double positive_s(std::int64_t ns) { return static_cast<double>(std::max<std::int64_t>(ns, 0)) * 1e-9; }

class WalkBack {
 public:
  WalkBack(const Graph& graph, std::span<const Stretch> ranks, std::span<const std::int64_t> lags, const Trace& trace,
           std::span<const std::int32_t> named)
      : graph_(graph),
        ranks_(ranks),
        lags_(lags),
        trace_(trace),
        named_(named),
        last_(graph.last_calls(trace.begins)) {}

  PathSums from(std::int32_t rank, std::int64_t end) {
    const Stretch& s = ranks_[static_cast<std::size_t>(rank)];
    std::uint32_t call = s.end - 1;
    compute(rank, s.end < graph_.end(rank) ? s.end : call, end - trace_.returns[call]);
    // Each call at most once, and each time at most one jump more.
    for (std::size_t steps = 0; steps < 2 * graph_.calls().size(); ++steps) {
      const std::uint32_t held_by = inside(call);
      if (held_by != call) {  // it goes on where the other one began
        call = held_by;
      }
      const std::int32_t at = graph_.calls()[call].rank;
      const Stretch& of = ranks_[static_cast<std::size_t>(at)];
      if (call < of.first || call > of.end || of.first == of.end) break;  // outside the period
      if (call == of.first) {
        compute(at, call, trace_.begins[call] - of.start);
        break;
      }
      compute(at, call, trace_.begins[call] - trace_.returns[call - 1]);
      --call;
    }
    tell_other();
    return sums_;
  }

 private:
  // Before the call.
  void compute(std::int32_t rank, std::uint32_t call, std::int64_t ns) {
    if (std::find(named_.begin(), named_.end(), rank) != named_.end()) {
      sums_.named_s += positive_s(ns);
      return;
    }
    sums_.others_s += positive_s(ns);
    others_[{rank, graph_.calls()[call].site}] += positive_s(ns);
  }

  void tell_other() {
    std::map<std::int32_t, double> by_rank;
    for (const auto& [place, s] : others_) by_rank[place.first] += s;
    for (const auto& [rank, s] : by_rank)
      if (s > sums_.other_s) sums_.other = rank, sums_.other_s = s;
    double most_s = 0;
    for (const auto& [place, s] : others_)
      if (place.first == sums_.other && s > most_s) most_s = s, sums_.other_site = place.second;
  }

  // Adds what passes inside the call, from when it was held no longer; returns the call that it was held by, or itself.
  std::uint32_t inside(std::uint32_t index) {
    const Call& call = graph_.calls()[index];
    const std::int64_t begin = trace_.begins[index];
    std::int64_t until = begin;  // when who held it came
    std::uint32_t held_by = index;
    for (std::uint32_t a = call.first_arrival; a < call.first_arrival + graph_.arrivals(index).size(); ++a) {
      const std::uint32_t node = graph_.arrivals()[a].node;
      if (node == nobody || last_[node] == nobody || last_[node] == index) continue;
      const std::int64_t came = trace_.begins[node];
      if (came <= until || came == not_there || came + lags_[a] < trace_.returns[index]) continue;
      until = came;
      held_by = last_[node];
    }
    const bool is_told = held_by != index || (call.part != Part::aside && call.part != Part::collective);
    (is_told ? sums_.inside_s : sums_.untold_s) += positive_s(trace_.returns[index] - until);
    return held_by;
  }

  const Graph& graph_;
  std::span<const Stretch> ranks_;
  std::span<const std::int64_t> lags_;
  const Trace& trace_;
  std::span<const std::int32_t> named_;
  std::vector<std::uint32_t> last_;
  std::map<std::pair<std::int32_t, std::uint32_t>, double> others_;  // by rank and site
  PathSums sums_;
};

}  // namespace

PathSums path_of(const Graph& graph, std::span<const Stretch> ranks, std::span<const std::int64_t> lags,
                 const Times& times, const Trace& trace, std::span<const std::int32_t> named) {
  std::int32_t last = -1;
  for (std::int32_t r = 0; r < graph.ranks(); ++r) {
    const Stretch& s = ranks[static_cast<std::size_t>(r)];
    if (s.first == s.end || trace.returns[s.end - 1] == not_there) continue;
    if (last < 0 || times.ends[static_cast<std::size_t>(r)] > times.ends[static_cast<std::size_t>(last)]) last = r;
  }
  if (last < 0) return {};
  return WalkBack(graph, ranks, lags, trace, named).from(last, times.ends[static_cast<std::size_t>(last)]);
}

}  // namespace pclscope::whatif
