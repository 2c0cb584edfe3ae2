#include "analysis/efficiency/efficiency.hpp"

#include <algorithm>
#include <cmath>

#include "analysis/efficiency/ideal_network.hpp"
#include "analysis/values/wait_state.hpp"
#include "analysis/whatif/graph.hpp"

namespace pclscope::efficiency {
namespace {

constexpr double least_replayed = 0.05;  // of the messages

double seconds(std::int64_t ns) { return static_cast<double>(ns) * 1e-9; }
std::int64_t ns(double s) { return std::llround(std::clamp(s, -4e9, 4e9) * 1e9); }

bool is_known(const RankSummary& rank) {
  return rank.begin_s >= 0 && rank.end_s >= rank.begin_s && std::isfinite(rank.end_s) && std::isfinite(rank.mpi_s);
}

// Inside the rank's calls, as far as they lie in [from, to).
std::int64_t inside_ns(const whatif::Graph& graph, std::int32_t rank, std::int64_t from, std::int64_t to) {
  std::int64_t sum = 0, covered = from;
  for (std::uint32_t c = graph.first(rank); c < graph.end(rank); ++c) {
    const std::int64_t begin = std::max(graph.calls()[c].begin, covered), end = std::min(graph.calls()[c].end, to);
    if (end <= begin) continue;
    sum += end - begin;
    covered = end;
  }
  return sum;
}

}  // namespace

Efficiency efficiency_of(std::span<const RankTime> times, double replayed, std::span<const std::int32_t> only) {
  Efficiency e;
  double ideal_end_s = 0;
  e.replayed = std::clamp(replayed, 0.0, 1.0);
  const double scale = e.replayed >= least_replayed ? 1 / e.replayed : 0;
  for (const RankTime& t : times) {
    if (!only.empty() && !std::binary_search(only.begin(), only.end(), t.rank)) continue;
    const bool first = e.ranks++ == 0;
    e.begin_s = first ? t.begin_s : std::min(e.begin_s, t.begin_s);
    e.end_s = first ? t.end_s : std::max(e.end_s, t.end_s);
    const double ideal_s = t.end_s - scale * t.ideal_saved_s;
    ideal_end_s = first ? ideal_s : std::max(ideal_end_s, ideal_s);
    e.useful_s += t.useful_s;
    e.off_core_s += t.off_core_s;
    if (first || t.useful_s > e.most_useful_s) e.most_useful_s = t.useful_s, e.most_useful_rank = t.rank;
  }
  if (e.ranks == 0) return e;
  e.useful_s /= e.ranks;
  e.off_core_s /= e.ranks;
  if (scale > 0) e.ideal_s = ideal_end_s - e.begin_s;
  return e;
}

Efficiency efficiency_of(const Marker& m) {
  Efficiency e;
  if (m.ranks == 0 || m.threads || m.ranks > static_cast<std::uint32_t>(INT32_MAX)) return e;
  e.ranks = static_cast<std::int32_t>(m.ranks);
  e.begin_s = m.begin_s;
  e.end_s = m.begin_s + m.most_s;
  e.useful_s = std::max(m.time_s - m.mpi_s, 0.0) / m.ranks;
  e.most_useful_s = m.most_useful_s;
  e.most_useful_rank = m.most_useful_rank;
  return e;
}

std::vector<RankTime> rank_times(const Snapshot& snapshot) {
  const auto inside_s = [](const RankSummary& r) {
    return !r.finished && r.call_function != 0 && r.call_for_s > 0 ? r.call_for_s : 0.0;
  };
  double now_s = snapshot.duration_s;  // the newest event; a call that goes on began after its rank's newest one
  for (const RankSummary& r : snapshot.ranks)
    if (is_known(r)) now_s = std::max(now_s, r.end_s + inside_s(r));
  std::vector<RankTime> times;
  for (const RankSummary& r : snapshot.ranks) {
    if (!is_known(r)) continue;
    RankTime t{r.rank, r.begin_s, r.end_s, 0, 0, r.ideal_saved_s};
    // A rank that has not called for a while computes, or it is in a call that goes on.
    const double going_on_s = inside_s(r);
    if (!r.finished && (going_on_s > 0 || (r.call_function == 0 && !r.missing))) t.end_s = std::max(t.end_s, now_s);
    // Threads that call MPI share the rank's time.
    const double outside_s =
        t.end_s - t.begin_s - going_on_s - std::max(r.mpi_between_s(), 0.0) / std::max(r.threads, 1u);
    t.useful_s = std::max(outside_s, 0.0);
    t.off_core_s = std::clamp(r.off_core_computing_s, 0.0, t.useful_s);
    t.useful_s -= t.off_core_s;
    times.push_back(t);
  }
  return times;
}

double replayed(const Snapshot& snapshot) {
  const std::uint64_t out = snapshot.ideal.messages_left_out + snapshot.network.messages_left_out;
  const std::uint64_t all = std::max(snapshot.messages.matched, out);
  return all == 0 ? 1 : 1 - static_cast<double>(out) / static_cast<double>(all);
}

Result<std::vector<RankTime>> rank_times(const Snapshot& snapshot, const Records& records, std::int64_t from_ns,
                                         std::int64_t to_ns) {
  const std::int32_t ranks = std::max(snapshot.application.ranks, 0);
  IdealNetwork ideal(ranks, from_ns);
  ideal.add(records.messages, records.calls);
  if (!ideal.advance(to_ns))
    return Error{ErrorCode::bad_argument,
                 "calls of a rank overlap: with several threads in MPI it is not known what follows on what"};
  const whatif::Graph graph(ranks, records.messages, records.calls);
  std::vector<RankTime> times;
  for (const RankSummary& r : snapshot.ranks) {
    if (r.rank < 0 || r.rank >= ranks || !is_known(r)) continue;
    const std::int64_t begin = std::max(ns(r.begin_s), from_ns);
    const std::int64_t end = std::min(ns(r.finished ? r.end_s : std::max(r.end_s, snapshot.duration_s)), to_ns);
    if (end <= begin) continue;
    const std::int64_t inside = inside_ns(graph, r.rank, begin, end);
    times.push_back(
        {r.rank, seconds(begin), seconds(end), seconds(end - begin - inside), 0, seconds(ideal.saved_ns(r.rank))});
  }
  return times;
}

}  // namespace pclscope::efficiency
