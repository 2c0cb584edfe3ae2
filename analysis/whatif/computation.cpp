#include "analysis/whatif/computation.hpp"

#include <algorithm>
#include <map>
#include <tuple>
#include <unordered_map>

#include "analysis/whatif/usual.hpp"
#include "analysis/whatif/waiters.hpp"

namespace pclscope::whatif {
namespace {

constexpr std::size_t enough_calm = 8;  // pieces
constexpr double clearly_less = 0.05;   // of the time: calm is calm
constexpr double as_much = 0.5;         // of what is less with peers' times
constexpr double as_shared = 0.25;      // of what is less where it is shared
constexpr double much_longer = 1.5;     // times the median
constexpr double enough_compared = 0.5;
constexpr double comparable = 0.1;  // of their sum
constexpr double as_often = 0.9;
constexpr double worth_telling = 0.01;
constexpr double worth_sharing = 1e-3;  // of all computation: smaller places stay

using Place = std::tuple<std::uint32_t, Part, std::uint32_t, Part>;

struct Pieces {  // of one rank at one place
  std::vector<std::uint32_t> calls;
  std::int64_t sum = 0;
};
using ByRank = std::map<std::int32_t, Pieces>;

Place place_of(const Graph& graph, std::uint32_t call) {
  const Call &before = graph.calls()[call - 1], &behind = graph.calls()[call];
  return {before.site, before.part, behind.site, behind.part};
}

// Of the rank's calls [from, to): those before which it computed.
template <class Take>
void each_piece(const Graph& graph, std::int32_t rank, std::uint32_t from, std::uint32_t to, Take take) {
  for (std::uint32_t c = std::max(from, graph.first(rank) + 1); c < to; ++c)
    if (graph.gap(c) > 0) take(c);
}

// All computation in the stretches.
std::map<Place, ByRank> places_of(const Graph& graph, std::span<const Stretch> stretches) {
  std::map<Place, ByRank> places;
  for (std::int32_t r = 0; r < graph.ranks(); ++r) {
    const Stretch& s = stretches[static_cast<std::size_t>(r)];
    each_piece(graph, r, s.first, s.end, [&](std::uint32_t c) {
      Pieces& pieces = places[place_of(graph, c)][r];
      pieces.calls.push_back(c);
      pieces.sum += graph.gap(c);
    });
  }
  return places;
}

std::vector<std::int64_t> lengths(const Graph& graph, const std::vector<std::uint32_t>& calls) {
  std::vector<std::int64_t> list;
  for (const std::uint32_t c : calls) list.push_back(graph.gap(c));
  std::sort(list.begin(), list.end());
  return list;
}

// The i-th of n in the order of another list.
std::int64_t at_rank(const std::vector<std::int64_t>& sorted, std::size_t i, std::size_t n) {
  const double q = (static_cast<double>(i) + 0.5) / static_cast<double>(n);
  return sorted[std::min(sorted.size() - 1, static_cast<std::size_t>(q * static_cast<double>(sorted.size())))];
}

std::int64_t middle(std::vector<std::int64_t> values) {
  std::sort(values.begin(), values.end());
  const std::size_t half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
}

void scale(Computation& c, std::uint32_t call, double factor) {
  constexpr double most = 1e18;  // 30 years
  c.gaps[call] = static_cast<std::int64_t>(std::clamp(static_cast<double>(c.gaps[call]) * factor, -most, most));
  ++c.changed;
}

bool is_one_of(std::span<const std::int32_t> ranks, std::int32_t rank) {
  return std::find(ranks.begin(), ranks.end(), rank) != ranks.end();
}

// In the stretch, of every rank.
std::vector<std::int64_t> sums_of(const Graph& graph, std::span<const Stretch> stretches) {
  std::vector<std::int64_t> sums(stretches.size());
  for (std::int32_t r = 0; r < graph.ranks(); ++r) {
    const Stretch& s = stretches[static_cast<std::size_t>(r)];
    each_piece(graph, r, s.first, s.end, [&](std::uint32_t c) { sums[static_cast<std::size_t>(r)] += graph.gap(c); });
  }
  return sums;
}

void scale_all(Computation& c, const Graph& graph, const Stretch& s, std::int32_t rank, double factor) {
  each_piece(graph, rank, s.first, s.end, [&](std::uint32_t call) { scale(c, call, factor); });
}

// The typical rank of those that have enough pieces to compare with; empty: none has.
std::vector<std::int64_t> typical_of(const Graph& graph, const ByRank& there, std::span<const std::int32_t> ranks,
                                     std::size_t n) {
  std::vector<std::vector<std::int64_t>> peers;
  for (const auto& [rank, pieces] : there)
    if (!is_one_of(ranks, rank) && 4 * pieces.calls.size() >= n) peers.push_back(lengths(graph, pieces.calls));
  std::vector<std::int64_t> typical;
  for (std::size_t i = 0; !peers.empty() && i < n; ++i) {
    std::vector<std::int64_t> values;
    for (const auto& peer : peers) values.push_back(at_rank(peer, i, n));
    typical.push_back(middle(std::move(values)));
  }
  return typical;
}

struct Compared {
  double all = 0, calm = 0, peers = 0;  // computation, of it compared with
  double share() const { return all > 0 ? (calm + peers) / all : 0; }
};

// One rank at one place.
void shorten(Computation& c, Compared& compared, const Graph& graph, Pieces pieces, const ByRank& there,
             std::span<const std::int32_t> ranks, const std::vector<std::int64_t>* calm) {
  const std::size_t n = pieces.calls.size();
  std::sort(pieces.calls.begin(), pieces.calls.end(), [&](std::uint32_t a, std::uint32_t b) {
    return std::tuple(graph.gap(a), a) < std::tuple(graph.gap(b), b);
  });
  compared.all += static_cast<double>(pieces.sum);
  const auto saved_by = [&](const std::vector<std::int64_t>& usual) {
    double saved = 0;
    for (std::size_t i = 0; i < usual.size(); ++i)
      saved += static_cast<double>(std::max<std::int64_t>(graph.gap(pieces.calls[i]) - usual[i], 0));
    return saved;
  };
  const auto take = [&](const std::vector<std::int64_t>& usual, double& of) {
    of += static_cast<double>(pieces.sum);
    for (std::size_t i = 0; i < n; ++i)
      if (usual[i] < c.gaps[pieces.calls[i]]) c.gaps[pieces.calls[i]] = usual[i], ++c.changed;
  };
  const std::vector<std::int64_t> typical = typical_of(graph, there, ranks, n);
  if (calm != nullptr && calm->size() >= std::max(enough_calm, n / 4)) {
    std::vector<std::int64_t> own;
    for (std::size_t i = 0; i < n; ++i) own.push_back(at_rank(*calm, i, n));
    const double saved = saved_by(own);
    // Where its peers are far quicker than that, it was as slow at those times.
    if (saved >= clearly_less * static_cast<double>(pieces.sum) && saved >= as_much * saved_by(typical))
      return take(own, compared.calm);
  }
  if (!typical.empty()) take(typical, compared.peers);
}

// What the ranks did in calm time, sorted, by rank and place.
std::map<std::pair<std::int32_t, Place>, std::vector<std::int64_t>> calm_of(const Graph& graph,
                                                                            std::span<const Period> periods,
                                                                            std::span<const std::int32_t> ranks) {
  std::map<std::pair<std::int32_t, Place>, std::vector<std::int64_t>> calm;
  for (const std::int32_t r : ranks)
    each_piece(graph, r, graph.first(r), graph.end(r), [&](std::uint32_t c) {
      const std::int64_t begin = graph.calls()[c - 1].end, end = graph.calls()[c].begin;
      if (std::any_of(periods.begin(), periods.end(),
                      [&](const Period& p) { return begin >= p.from_ns && end < p.to_ns; }))
        calm[{r, place_of(graph, c)}].push_back(graph.gap(c));
    });
  for (auto& [place, list] : calm) std::sort(list.begin(), list.end());
  return calm;
}

// Work of `ranks` ranks, and what others compute before they wait for these: how long each of those that take part
// computes when the work is shared so that it ends soonest.
std::int64_t shared_by(double work, double ranks, std::vector<double> others) {
  std::sort(others.begin(), others.end());
  for (const double before : others) {
    if (before >= work / ranks) break;
    work += before;
    ++ranks;
  }
  return static_cast<std::int64_t>(work / ranks);
}

// What only some ranks compute while others wait for them is shared with those.
class Sharing {
 public:
  Sharing(const Graph& graph, std::span<const Stretch> stretches) : graph_(graph), waiters_(graph) {
    for (const std::int64_t sum : sums_of(graph, stretches)) all_ += static_cast<double>(sum);
  }

  bool is_worth(const ByRank& there) const {
    double sum = 0;
    for (const auto& [rank, pieces] : there) sum += static_cast<double>(pieces.sum);
    return sum >= worth_sharing * all_ && there.size() < static_cast<std::size_t>(graph_.ranks());
  }

  // How long each computes, that of `calls` shared by their ranks and those that wait for them and do not compute
  // there.
  std::int64_t of(const std::vector<std::uint32_t>& calls, const ByRank& there) const {
    std::map<std::int32_t, double> waits;
    double work = 0, longest = 0;
    for (const std::uint32_t call : calls) {
      const auto gap = static_cast<double>(graph_.gap(call));
      work += gap;
      longest = std::max(longest, gap);
      for (const Waiters::Wait& w : waiters_.during(call))
        if (there.find(w.rank) == there.end()) waits[w.rank] += static_cast<double>(w.ns);
    }
    std::vector<double> before;
    for (const auto& [rank, ns] : waits) before.push_back(std::max(longest - ns, 0.0));
    return shared_by(work, static_cast<double>(calls.size()), std::move(before));
  }

  // Each piece by itself; returns by how much they are shorter.
  double alone(Computation& c, const Pieces& pieces, const ByRank& there) const {
    double saved = 0;
    for (const std::uint32_t call : pieces.calls) {
      const std::int64_t with = of({call}, there);
      if (with >= c.gaps[call]) continue;
      saved += static_cast<double>(c.gaps[call] - with);
      c.gaps[call] = with;
      ++c.changed;
    }
    return saved;
  }

  // How long the pieces of some ranks are when shared: the n-th visits of all at once, as far as they are as many.
  std::vector<std::pair<std::uint32_t, std::int64_t>> together(std::span<const std::int32_t> ranks,
                                                               const ByRank& there) const {
    std::vector<std::pair<std::uint32_t, std::int64_t>> lengths;
    for (std::size_t visit = 0;; ++visit) {
      std::vector<std::uint32_t> calls;
      for (const auto& [rank, pieces] : there)
        if (is_one_of(ranks, rank) && visit < pieces.calls.size()) calls.push_back(pieces.calls[visit]);
      if (calls.empty()) return lengths;
      const std::int64_t with = of(calls, there);
      for (const std::uint32_t call : calls) lengths.emplace_back(call, std::min(with, graph_.gap(call)));
    }
  }

 private:
  const Graph& graph_;
  Waiters waiters_;
  double all_ = 0;
};

// Of ranks that compute there as often: the n-th visits of all become equally long, so a load that wanders is levelled,
// too. False: nothing was done.
bool level_visits(Computation& c, const Graph& graph, const ByRank& there, const Sharing& sharing) {
  std::size_t least = SIZE_MAX, most = 0;
  for (const auto& [rank, pieces] : there) {
    least = std::min(least, pieces.calls.size());
    most = std::max(most, pieces.calls.size());
  }
  if (static_cast<double>(least) < as_often * static_cast<double>(most)) return false;
  const bool shared = sharing.is_worth(there);
  for (std::size_t i = 0; i < least; ++i) {
    double sum = 0;
    std::vector<std::uint32_t> visits;
    for (const auto& [rank, pieces] : there) {
      visits.push_back(pieces.calls[i]);
      sum += static_cast<double>(graph.gap(pieces.calls[i]));
    }
    const std::int64_t mean =
        shared ? sharing.of(visits, there) : static_cast<std::int64_t>(sum / static_cast<double>(there.size()));
    for (const std::uint32_t call : visits) c.gaps[call] = mean, ++c.changed;
  }
  return true;
}

}  // namespace

Computation as_measured(const Graph& graph) {
  Computation c;
  for (std::uint32_t call = 0; call < graph.calls().size(); ++call) c.gaps.push_back(graph.gap(call));
  return c;
}

Computation without_delays(const Graph& graph, std::span<const Stretch> stretches, std::span<const Period> calm_periods,
                           std::span<const std::int32_t> ranks) {
  Computation c = as_measured(graph);
  const auto calm = calm_of(graph, calm_periods, ranks);
  Compared compared;
  const Sharing sharing(graph, stretches);
  double shared = 0;
  for (const auto& [place, there] : places_of(graph, stretches)) {
    const Compared before = compared;
    const std::uint64_t changed_before = c.changed;
    double own_saves = 0;
    for (const auto& [rank, pieces] : there) {
      if (!is_one_of(ranks, rank)) continue;
      const auto own = calm.find({rank, place});
      shorten(c, compared, graph, pieces, there, ranks, own == calm.end() ? nullptr : &own->second);
      for (const std::uint32_t call : pieces.calls) own_saves += static_cast<double>(graph.gap(call) - c.gaps[call]);
    }
    if (compared.all == before.all || compared.peers > before.peers || !sharing.is_worth(there)) continue;
    // Nobody else computes there.
    const auto lengths = sharing.together(ranks, there);
    double saves = 0;
    for (const auto& [call, ns] : lengths) saves += static_cast<double>(graph.gap(call) - ns);
    if (saves <= 0 || own_saves >= as_shared * saves) continue;
    for (const auto& [call, ns] : lengths) c.gaps[call] = ns;
    c.changed = changed_before + lengths.size();
    compared = {compared.all, before.calm, before.peers};
    shared += saves;
  }
  const std::string its = ranks.size() == 1 ? "its" : "their";
  const std::string also = ranks.size() == 1 ? "what only it computes shared with those that wait for it"
                                             : "what only they compute shared with those that wait for them";
  if (compared.share() >= enough_compared) {
    c.as = compared.calm > compared.peers ? "as in " + its + " own calm time" : "as " + its + " peers do there";
    if (shared >= worth_telling * compared.all) c.as += ", " + also;
    return c;
  }
  // Ranks that do different things: by their sums.
  Computation by_place = c;
  by_place.as = also;
  c = as_measured(graph);
  const std::vector<std::int64_t> sums = sums_of(graph, stretches);
  std::vector<std::int64_t> others;
  for (std::int32_t r = 0; r < graph.ranks(); ++r)
    if (!is_one_of(ranks, r) && sums[static_cast<std::size_t>(r)] > 0)
      others.push_back(sums[static_cast<std::size_t>(r)]);
  if (others.empty()) return shared > 0 ? by_place : c;
  const std::int64_t usual = middle(std::move(others));
  double sum = 0;  // of each of the ranks
  for (const std::int32_t r : ranks)
    sum += static_cast<double>(sums[static_cast<std::size_t>(r)]) / static_cast<double>(ranks.size());
  if (shared > 0 && static_cast<double>(usual) < comparable * sum) return by_place;  // others only wait
  for (const std::int32_t r : ranks) {
    const auto i = static_cast<std::size_t>(r);
    if (sums[i] > usual)
      scale_all(c, graph, stretches[i], r, static_cast<double>(usual) / static_cast<double>(sums[i]));
  }
  if (c.changed == 0 && shared > 0) return by_place;  // they compute less than others, but while these wait
  c.as = "in all as long as " + its + " peers (at other places)";
  return c;
}

Computation balanced(const Graph& graph, std::span<const Stretch> stretches) {
  Computation c = as_measured(graph);
  const Sharing sharing(graph, stretches);
  double all = 0, compared = 0, shared = 0;
  for (const auto& [place, there] : places_of(graph, stretches)) {
    double sum = 0, then = 0;
    for (const auto& [rank, pieces] : there) sum += static_cast<double>(pieces.sum);
    all += sum;
    if (there.size() < 2 && !sharing.is_worth(there)) continue;
    if (!level_visits(c, graph, there, sharing)) {
      double of_all = sum;
      if (sharing.is_worth(there))
        for (const auto& [rank, pieces] : there) of_all -= sharing.alone(c, pieces, there);
      const double mean = of_all / static_cast<double>(there.size());
      for (const auto& [rank, pieces] : there)
        for (const std::uint32_t call : pieces.calls) {
          c.gaps[call] = graph.gap(call);
          scale(c, call, mean / static_cast<double>(pieces.sum));
        }
    }
    for (const auto& [rank, pieces] : there)
      for (const std::uint32_t call : pieces.calls) then += static_cast<double>(c.gaps[call]);
    shared += sum - then;  // levelling keeps the sum
    if (there.size() > 1 || then < sum) compared += sum;
  }
  if (all > 0 && compared >= enough_compared * all) {
    c.as = "equally at each place";
    if (shared >= worth_telling * all) c.as += ", what only some ranks compute shared with those that wait for them";
    return c;
  }
  c = as_measured(graph);
  const std::vector<std::int64_t> sums = sums_of(graph, stretches);
  double sum = 0, ranks = 0;
  for (const std::int64_t s : sums) {
    sum += static_cast<double>(s);
    ranks += s > 0;
  }
  if (ranks < 2) return c;
  for (std::int32_t r = 0; r < graph.ranks(); ++r) {
    const auto i = static_cast<std::size_t>(r);
    if (sums[i] > 0) scale_all(c, graph, stretches[i], r, sum / ranks / static_cast<double>(sums[i]));
  }
  c.as = "equally long in all (at other places)";
  return c;
}

Computation steady(const Graph& graph, std::span<const Stretch> stretches) {
  Computation c = as_measured(graph);
  for (const auto& [place, there] : places_of(graph, stretches)) {
    std::vector<std::int64_t> list;
    for (const auto& [rank, pieces] : there)
      for (const std::uint32_t call : pieces.calls) list.push_back(graph.gap(call));
    const std::int64_t usual = quantile(list, 0.5);
    for (const auto& [rank, pieces] : there)
      for (const std::uint32_t call : pieces.calls)
        if (static_cast<double>(graph.gap(call)) > much_longer * static_cast<double>(usual))
          c.gaps[call] = usual, ++c.changed;
  }
  c.as = "never longer than usual at each place";
  return c;
}

}  // namespace pclscope::whatif
