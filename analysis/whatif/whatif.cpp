#include "analysis/whatif/whatif.hpp"

#include <algorithm>
#include <cmath>
#include <unordered_map>

#include "analysis/whatif/computation.hpp"
#include "analysis/whatif/graph.hpp"
#include "analysis/whatif/links.hpp"
#include "analysis/whatif/path.hpp"
#include "analysis/whatif/placed.hpp"
#include "analysis/whatif/replay.hpp"

namespace pclscope::whatif {
namespace {

constexpr double most_overlapping = 0.02;  // of a rank's calls
constexpr double least_covered = 0.5;      // of the period
constexpr double most_untold = 0.02;       // of the messages that another placement changes

double seconds(std::int64_t ns) { return static_cast<double>(ns) * 1e-9; }

std::string percent(double share) {
  char text[32];
  std::snprintf(text, sizeof text, "%.0f %%", 100 * share);
  return text;
}

std::vector<std::int64_t> lags_of(const Graph& graph) {
  std::vector<std::int64_t> lags;
  for (const Arrival& a : graph.arrivals()) lags.push_back(a.lag);
  return lags;
}

bool is_empty(std::span<const Stretch> stretches) {
  return std::all_of(stretches.begin(), stretches.end(), [](const Stretch& s) { return s.first == s.end; });
}

Computation computed(const Graph& graph, std::span<const Stretch> stretches, std::span<const Period> calm,
                     const Change& change) {
  switch (change.kind) {
    case Change::Kind::delays: return without_delays(graph, stretches, calm, change.ranks);
    case Change::Kind::balanced: return balanced(graph, stretches);
    case Change::Kind::steady: return steady(graph, stretches);
    case Change::Kind::links:
    case Change::Kind::placed: break;
  }
  return as_measured(graph);
}

// What a collective took once all whom it waited for had come.
std::int64_t after_the_last(const Graph& graph, std::uint32_t call) {
  std::int64_t least = graph.calls()[call].end - graph.calls()[call].begin;
  for (const Arrival& a : graph.arrivals(call)) least = std::min(least, a.lag);
  return std::max<std::int64_t>(least, 0);
}

// Counts what is replayed.
void count(const Graph& graph, std::span<const Stretch> stretches, WhatIf& w) {
  for (const Stretch& s : stretches)
    for (std::uint32_t c = s.first; c < s.end; ++c) {
      ++w.calls;
      if (graph.calls()[c].part == Part::collective) {
        ++w.collectives;
        w.collective_s += seconds(after_the_last(graph, c));
      }
      std::uint32_t newest = nobody;
      for (const Arrival& a : graph.arrivals(c)) {
        if (a.message == nobody || a.message == newest) continue;
        ++w.messages;
        newest = a.message;
      }
    }
}

// One part of the period, added to `sum`, and by how many seconds each rank is ahead to `ahead`.
Status add(const Records& records, const Graph& graph, const Period& part, std::span<const Period> calm,
           const Change& change, WhatIf& sum, std::vector<double>& ahead) {
  const std::vector<Stretch> ranks = stretches(graph, part);
  if (is_empty(ranks)) return {};
  const Computation before = as_measured(graph);
  std::vector<std::int64_t> lags = lags_of(graph);
  const Times as_it_was = replay(graph, ranks, before.gaps, lags);
  const Computation after = computed(graph, ranks, calm, change);
  std::string as = after.as;
  std::uint64_t changed = after.changed;
  if (change.kind == Change::Kind::links) {
    const Links links = healthy(graph, ranks, records.messages, records.node_of_rank, change.nodes, lags);
    as = links.as;
    changed = links.changed;
  } else if (change.kind == Change::Kind::placed) {
    const TransferTimes times = change.given
                                    ? TransferTimes(*change.given)
                                    : TransferTimes(graph, records.messages, records.node_of_rank, change.hops);
    const Placed placed =
        place_anew(graph, ranks, records.messages, records.node_of_rank, change.placed, change.hops, times, lags);
    as = change.given ? "by the latencies and bandwidths given" : "as messages of their size took over that distance";
    changed = placed.changed;
    sum.untold += placed.untold;
  }
  if (as.empty())
    return Error{ErrorCode::not_found,
                 change.kind == Change::Kind::links
                     ? "the records do not tell what these links usually take: they were slow all the time"
                     : "there is nothing to compare what these ranks compute with: no other rank computes, and they "
                       "have no other time"};
  Trace trace;
  const Times then = replay(graph, ranks, after.gaps, lags, &trace);
  const PathSums path = path_of(graph, ranks, lags, then, trace, change.named);
  sum.named_s += path.named_s;
  sum.others_s += path.others_s;
  if (path.other_s > sum.other_s) {
    sum.other = path.other;
    sum.other_site = path.other_site;
    sum.other_s = path.other_s;
  }
  sum.inside_s += path.inside_s;
  sum.untold_s += path.untold_s;
  std::int64_t first = INT64_MAX, last = INT64_MIN;
  for (std::size_t r = 0; r < ranks.size(); ++r) {
    if (ranks[r].first == ranks[r].end) continue;
    first = std::min(first, ranks[r].start);
    last = std::max(last, graph.calls()[ranks[r].end - 1].end + ranks[r].tail);
    ahead[r] += seconds(as_it_was.ends[r]) - seconds(then.ends[r]);
  }
  sum.measured_s += seconds(last - first);
  sum.replayed_s += seconds(as_it_was.end - first);
  sum.predicted_s += seconds(then.end - first);
  sum.changed += changed;
  sum.left_out += as_it_was.left_out;
  sum.as = as;
  count(graph, ranks, sum);
  return {};
}

}  // namespace

Result<WhatIf> what_if(const Records& records, std::span<const Period> whole, std::int64_t from_ns, std::int64_t to_ns,
                       const Change& change) {
  WhatIf sum;
  std::vector<Period> parts, calm;
  double covered_s = 0;
  const auto add_to = [](std::vector<Period>& list, std::int64_t from, std::int64_t to) {
    if (from < to) list.push_back({from, to});
  };
  for (const Period& p : whole) {
    add_to(parts, std::max(p.from_ns, from_ns), std::min(p.to_ns, to_ns));
    add_to(calm, p.from_ns, std::min(p.to_ns, from_ns));
    add_to(calm, std::max(p.from_ns, to_ns), p.to_ns);
  }
  for (const Period& part : parts) covered_s += seconds(part.to_ns) - seconds(part.from_ns);
  sum.begin_s = seconds(from_ns);
  sum.end_s = seconds(to_ns);
  sum.covered = to_ns > from_ns ? std::min(1.0, covered_s / (sum.end_s - sum.begin_s)) : 0;
  if (sum.covered < least_covered)
    return Error{ErrorCode::not_found,
                 "only of " + percent(sum.covered) + " of the period there are all messages: too little to replay it"};
  const Graph graph(records.ranks, records.messages, records.collectives);
  if (graph.overlapping() > most_overlapping)
    return Error{ErrorCode::bad_argument,
                 percent(graph.overlapping()) +
                     " of a rank's calls overlap: with several threads in MPI it is not known what follows on what"};
  for (const std::int32_t rank : change.ranks)
    if (rank < 0 || rank >= graph.ranks())
      return Error{ErrorCode::not_found, "there is no rank " + std::to_string(rank)};
  std::vector<double> ahead(static_cast<std::size_t>(graph.ranks()));
  for (const Period& part : parts)
    if (const Status added = add(records, graph, part, calm, change, sum, ahead); !added) return added.error();
  if (const auto all = static_cast<double>(sum.changed + sum.untold);
      static_cast<double>(sum.untold) > most_untold * all)
    return Error{ErrorCode::not_found,
                 "it is not known what " + percent(static_cast<double>(sum.untold) / all) +
                     " of the messages that would go another way would take: the run has none of their size over that "
                     "distance"};
  for (const double s : ahead) sum.ahead_s = std::max(sum.ahead_s, s);
  for (const double s : ahead) sum.ahead_ranks += sum.ahead_s > 0 && s >= sum.ahead_s / 2;
  sum.ahead_s /= sum.covered;
  if (sum.calls == 0) return Error{ErrorCode::not_found, "no calls in this period that could be replayed"};
  return sum;
}

Result<WhatIf> what_if(const Records& records, std::int64_t from_ns, std::int64_t to_ns, const Change& change) {
  const Period all{INT64_MIN, INT64_MAX};
  return what_if(records, std::span(&all, 1), from_ns, to_ns, change);
}

std::vector<Period> whole_parts(std::span<const Window> windows, std::span<const Message> kept, std::int64_t from_ns,
                                std::int64_t to_ns) {
  constexpr double enough = 0.98;
  const auto begin_ns = [&](std::size_t i) {
    return static_cast<std::int64_t>(std::llround(windows[i].begin_s * 1e9));
  };
  const auto end_ns = [&](std::size_t i) {
    return static_cast<std::int64_t>(std::llround((windows[i].begin_s + windows[i].length_s) * 1e9));
  };
  std::vector<std::uint64_t> found(windows.size());
  for (const Message& m : kept) {
    const auto it = std::upper_bound(windows.begin(), windows.end(), static_cast<double>(m.recv_end) * 1e-9,
                                     [](double t, const Window& w) { return t < w.begin_s; });
    if (it != windows.begin()) ++found[static_cast<std::size_t>(it - windows.begin()) - 1];
  }
  std::vector<Period> parts;
  std::int64_t from = from_ns;  // of the part that is going on
  const auto close = [&](std::int64_t at) {
    if (at > from) parts.push_back({from, at});
  };
  for (std::size_t i = 0; i < windows.size(); ++i) {
    if (end_ns(i) <= from_ns || begin_ns(i) >= to_ns) continue;
    if (static_cast<double>(found[i]) >= enough * static_cast<double>(windows[i].all.messages)) continue;
    close(std::min(begin_ns(i), to_ns));
    from = std::max(from, end_ns(i));
  }
  close(to_ns);
  return parts;
}

std::optional<LinkTimes> link_times(const Records& records, const Hops& hops) {
  const Graph graph(records.ranks, records.messages, records.collectives);
  return TransferTimes(graph, records.messages, records.node_of_rank, hops).fitted();
}

Change to_nodes(std::vector<std::int32_t> node_of_rank, Hops hops) {
  Change change;
  change.kind = Change::Kind::placed;
  change.placed = std::move(node_of_rank);
  change.hops = std::move(hops);
  return change;
}

Result<Change> change_for(const Finding& f) {
  const auto refuse = [](const std::string& why) { return Error{ErrorCode::bad_argument, why}; };
  constexpr const char* not_replayed = "one-sided calls, files, MPI_Init and MPI_Finalize are not replayed";
  Change change;
  change.ranks = change.named = f.ranks;
  switch (f.cause) {
    case Cause::late_sender:
    case Cause::late_receiver: change.kind = Change::Kind::delays; break;
    case Cause::one_sided_wait:
    case Cause::file:
    case Cause::startup: return refuse(not_replayed);
    case Cause::collective_wait:
      if (f.detail == "late for MPI_Finalize" || f.detail == "same rank late for files") return refuse(not_replayed);
      change.kind = f.ranks.empty() ? Change::Kind::steady : Change::Kind::delays;
      break;
    case Cause::pattern:
      if (f.detail != "imbalance")
        return refuse("another pattern of messages cannot be replayed from this one's calls; --balance and --rank can");
      change.kind = Change::Kind::balanced;
      change.ranks.clear();
      break;
    case Cause::load_imbalance: change.ranks.clear(); break;
    case Cause::outage:
      return refuse("without the outage its period would not be there; what else it held up cannot be replayed");
    case Cause::background:
      change.kind = Change::Kind::links;
      change.ranks.clear();
      change.nodes = f.nodes;
      break;
    case Cause::mapping:
      return refuse("what another placement would bring is told by pclscope map: it depends on the placement");
    case Cause::blocked: return refuse("calls that have not returned cannot be replayed");
    default: return refuse("that finding names nothing that could be taken away; --balance and --rank can");
  }
  return change;
}

}  // namespace pclscope::whatif
