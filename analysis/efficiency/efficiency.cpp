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

// Off the core outside MPI, seconds: an estimate, and between which two it is.
struct OffCore {
  double s = 0, least_s = 0, most_s = 0;
};

void take_off(const OffCore& off, double outside_s, RankTime& t) {
  t.useful_most_s = std::max(outside_s - std::max(off.least_s, 0.0), 0.0);
  t.useful_least_s = std::clamp(outside_s - off.most_s, 0.0, t.useful_most_s);
  t.useful_s = std::clamp(outside_s - off.s, t.useful_least_s, t.useful_most_s);
  t.off_core_s = outside_s - t.useful_s;
}

// Of the whole run. A rank computes for no longer than it ran or slept, where that was observed.
OffCore off_core_of(const RankSummary& r, double outside_s, double length_s) {
  const auto within = [&](double s) { return s > 0 ? std::min(s, outside_s) : 0; };  // no number: 0
  const double observed_s = r.running_s + r.off_core_s + r.asleep_s, off_s = within(r.off_core_computing_s);
  if (!(observed_s > 0) || !std::isfinite(observed_s)) return {off_s, off_s, off_s};
  OffCore off{off_s, within(r.off_core_computing_least_s), within(r.off_core_computing_most_s)};
  if (!(off.most_s > 0)) off = {off_s, 0, within(off_s > 0 ? r.off_core_s : 0)};  // an older dump
  const double unseen_s = std::max(length_s - observed_s, 0.0);
  off.most_s = within(off.most_s + unseen_s);
  if (r.threads <= 1) {
    const double awake_s = r.running_s + r.asleep_s + unseen_s;
    off.least_s = std::max(off.least_s, outside_s - awake_s);
  }
  off.most_s = std::max(off.most_s, off.least_s);
  return off;
}

// Of a part of the run with so much time outside MPI: what the rest of the run had no room for, up to all.
OffCore off_core_of(const RankTime& run, double outside_s) {
  const double whole_s = run.outside_s(), most_s = whole_s - run.useful_least_s;
  const double share = whole_s > 0 ? run.off_core_s / whole_s : 0;
  return {share * outside_s, whole_s - run.useful_most_s - std::max(whole_s - outside_s, 0.0),
          std::min(most_s, outside_s)};
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
    e.useful_least_s += t.useful_least_s;
    e.useful_most_s += t.useful_most_s;
    e.off_core_s += t.off_core_s;
    if (first || t.useful_s > e.most_useful_s) e.most_useful_s = t.useful_s, e.most_useful_rank = t.rank;
  }
  if (e.ranks == 0) return e;
  e.useful_s /= e.ranks;
  e.useful_least_s /= e.ranks;
  e.useful_most_s /= e.ranks;
  e.off_core_s /= e.ranks;
  if (scale > 0) e.ideal_s = ideal_end_s - e.begin_s;
  return e;
}

Efficiency efficiency_of(const Marker& m, std::span<const RankTime> run) {
  Efficiency e;
  if (m.ranks == 0 || m.threads || m.ranks > static_cast<std::uint32_t>(INT32_MAX)) return e;
  e.ranks = static_cast<std::int32_t>(m.ranks);
  e.begin_s = m.begin_s;
  e.end_s = m.begin_s + m.most_s;
  RankTime all, part;
  for (const RankTime& t : run) {
    all.useful_s += t.useful_s;
    all.off_core_s += t.off_core_s;
    all.useful_least_s += t.useful_least_s;
    all.useful_most_s += t.useful_most_s;
  }
  const double outside_s = std::max(m.time_s - m.mpi_s, 0.0);
  take_off(off_core_of(all, outside_s), outside_s, part);
  e.useful_s = part.useful_s / m.ranks;
  e.off_core_s = part.off_core_s / m.ranks;
  e.useful_least_s = part.useful_least_s / m.ranks;
  e.useful_most_s = part.useful_most_s / m.ranks;
  e.most_useful_s = outside_s > 0 ? m.most_useful_s * part.useful_s / outside_s : 0;
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
    RankTime t{r.rank, r.begin_s, r.end_s, 0, 0, r.ideal_saved_s, 0, 0};
    // A rank that has not called for a while computes, or it is in a call that goes on.
    const double going_on_s = inside_s(r);
    if (!r.finished && (going_on_s > 0 || (r.call_function == 0 && !r.missing))) t.end_s = std::max(t.end_s, now_s);
    // Threads that call MPI share the rank's time.
    const double outside_s =
        t.end_s - t.begin_s - going_on_s - std::max(r.mpi_between_s(), 0.0) / std::max(r.threads, 1u);
    const double usable_s = std::max(outside_s, 0.0);
    take_off(off_core_of(r, usable_s, t.end_s - t.begin_s), usable_s, t);
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
  const std::vector<RankTime> run = rank_times(snapshot);  // of the ranks that are known, in their order
  auto of_run = run.begin();
  std::vector<RankTime> times;
  for (const RankSummary& r : snapshot.ranks) {
    if (!is_known(r)) continue;
    const RankTime& whole = *of_run++;
    if (r.rank < 0 || r.rank >= ranks) continue;
    const std::int64_t begin = std::max(ns(r.begin_s), from_ns);
    const std::int64_t end = std::min(ns(r.finished ? r.end_s : std::max(r.end_s, snapshot.duration_s)), to_ns);
    if (end <= begin) continue;
    const double outside_s = seconds(end - begin - inside_ns(graph, r.rank, begin, end));
    RankTime t{r.rank, seconds(begin), seconds(end), 0, 0, seconds(ideal.saved_ns(r.rank)), 0, 0};
    take_off(off_core_of(whole, outside_s), outside_s, t);
    times.push_back(t);
  }
  return times;
}

}  // namespace pclscope::efficiency
