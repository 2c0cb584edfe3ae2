// Waits at the begin and at the end of the job: in MPI_Init until the last rank has come there, in MPI_Finalize
// likewise.
#include <algorithm>

#include "analysis/attribute/findings.hpp"
#include "analysis/attribute/intervals.hpp"
#include "analysis/attribute/words.hpp"

namespace pclscope::attribute {
namespace {

// `lost_s` of the waiting.
Finding finding_of(const Edge& edge, double lost_s, double run_s, std::int32_t ranks) {
  Finding f;
  f.begin_s = static_cast<double>(edge.begin_ns) * 1e-9;
  f.end_s = static_cast<double>(edge.end_ns) * 1e-9;
  f.lost_s = lost_s;
  const double period = std::max(f.end_s - f.begin_s, 1e-9);
  f.score = std::min(1.0, lost_s / (period * ranks));
  // Of the whole run: it happens once, however much of its own period it takes.
  const double share = lost_s / std::max(run_s * ranks, 1e-9);
  f.confidence = 0.95 * ramp(share, 0.02, 0.05);
  f.evidence = {"other ranks waited " + words::number(lost_s) + " rank-seconds, " + words::percent(share) +
                " of the time of all ranks in the whole run"};
  return f;
}

Finding of_last_rank(const Edge& edge, double lost_s, double run_s, std::int32_t ranks) {
  Finding f = finding_of(edge, lost_s, run_s, ranks);
  f.ranks = {edge.rank.value};
  f.confidence = std::min(f.confidence, 0.95 * ramp(edge.rank.votes / edge.waited_s, 0.2, 0.6));
  return f;
}

// Whom the wait in MPI_Init is for may have been begun last, or have had no core: of its own is what its process was
// at work for longer than that of the rank that waited.
struct OwnPart {
  double lost_s = 0;
  double own_s = -1, usual_s = -1;  // the rank's, and the median of those that waited; -1: not known
};
OwnPart own_part(const Edge& start, std::int32_t ranks, const BeforeInit& before_init_ns) {
  OwnPart part;
  std::vector<std::int64_t> of_others;
  const auto known = [&](std::int32_t rank) {
    return before_init_ns && rank >= 0 && rank < ranks ? before_init_ns(rank) : std::int64_t{-1};
  };
  for (const EdgeWait& w : start.waits) {
    const std::int64_t awaited_ns = known(w.awaited), own_ns = known(w.rank);
    if (awaited_ns < 0 || own_ns < 0) {
      part.lost_s += w.wait_s;
      continue;
    }
    part.lost_s += std::clamp(static_cast<double>(awaited_ns - own_ns) * 1e-9, 0.0, w.wait_s);
    if (w.awaited == start.rank.value) of_others.push_back(own_ns);
  }
  part.lost_s = std::min(part.lost_s, start.waited_s);
  if (of_others.empty()) return part;
  const auto median = of_others.begin() + static_cast<std::ptrdiff_t>(of_others.size() / 2);
  std::nth_element(of_others.begin(), median, of_others.end());
  part.own_s = static_cast<double>(known(start.rank.value)) * 1e-9;
  part.usual_s = static_cast<double>(*median) * 1e-9;
  return part;
}

// Launchers start processes one after the other, on a busy node some tenths of a second apart.
double length_ramp(const Finding& f) { return ramp(f.end_s - f.begin_s, 0.25, 1.0); }

Finding late_for_init(const Edge& start, const OwnPart& part, double run_s, std::int32_t ranks) {
  Finding f = of_last_rank(start, part.lost_s, run_s, ranks);
  f.confidence *= length_ramp(f);
  f.cause = Cause::startup;
  f.detail = "late for MPI_Init";
  if (part.own_s >= 0)
    f.evidence.push_back("its process was at work for " + words::number(part.own_s) +
                         " s before it called MPI_Init, the others' for " + words::number(part.usual_s) +
                         " s (median; without the time in which they had no core)");
  f.advice = "Find out what " + words::ranks(f.ranks) +
             " does before MPI_Init (loading the program and its libraries, reading input), or call MPI_Init first.";
  return f;
}

// What is not the last rank's own. Seconds are usual for a launcher: sure only where it takes long.
Finding begun_late(const Edge& start, double lost_s, double run_s, std::int32_t ranks) {
  Finding f = finding_of(start, lost_s, run_s, ranks);
  const double length_s = f.end_s - f.begin_s;
  f.confidence = std::min(f.confidence * length_ramp(f), 0.5 + 0.45 * ramp(length_s, 5, 20));
  f.cause = Cause::startup;
  f.detail = "processes begun late";
  f.evidence.push_back("ranks came to MPI_Init within " + words::number(length_s) + " s, the last was " +
                       words::ranks({start.rank.value}) + ": its process was begun later, or had no core");
  f.advice =
      "See how the launcher starts processes on the nodes, what a script does before the program, and whether "
      "each rank has a core.";
  return f;
}

}  // namespace

std::vector<Finding> find_edges(const Evidence& e) {
  std::vector<Finding> findings;
  if (e.ranks < 2 || e.slices.empty()) return findings;
  double begin = static_cast<double>(e.slices.front().begin_ns) * 1e-9;
  const double end = static_cast<double>(e.slices.back().end_ns) * 1e-9;
  const Edge &start = e.edges.start, &finish = e.edges.finish;
  if (start.waited_s > 0) begin = std::min(begin, static_cast<double>(start.begin_ns) * 1e-9);
  const double run_s = std::max(finish.waited_s > 0 ? static_cast<double>(finish.end_ns) * 1e-9 : end, end) - begin;
  if (start.waited_s > 0 && start.rank.value >= 0) {
    const OwnPart part = own_part(start, e.ranks, e.before_init_ns);
    findings.push_back(late_for_init(start, part, run_s, e.ranks));
    if (start.waited_s > part.lost_s)
      findings.push_back(begun_late(start, start.waited_s - part.lost_s, run_s, e.ranks));
  }
  if (finish.waited_s > 0 && finish.rank.value >= 0) {
    Finding f = of_last_rank(finish, finish.waited_s, run_s, e.ranks);
    f.cause = Cause::collective_wait;
    f.detail = "late for MPI_Finalize";
    f.advice = "The others had nothing left to do: share what " + words::ranks(f.ranks) +
               " does at the end, or let the others work meanwhile.";
    findings.push_back(std::move(f));
  }
  return findings;
}

}  // namespace pclscope::attribute
