// Waits at the begin and at the end of the job: in MPI_Init until the last rank has come there, in MPI_Finalize
// likewise.
#include <algorithm>

#include "analysis/attribute/findings.hpp"
#include "analysis/attribute/intervals.hpp"
#include "analysis/attribute/words.hpp"

namespace pclscope::attribute {
namespace {

Finding finding_of(const Edge& edge, double run_s, std::int32_t ranks) {
  Finding f;
  f.ranks = {edge.rank.value};
  f.begin_s = static_cast<double>(edge.begin_ns) * 1e-9;
  f.end_s = static_cast<double>(edge.end_ns) * 1e-9;
  f.lost_s = edge.waited_s;
  const double period = std::max(f.end_s - f.begin_s, 1e-9);
  f.score = std::min(1.0, edge.waited_s / (period * ranks));
  // Of the whole run: it happens once, however much of its own period it takes.
  const double share = edge.waited_s / std::max(run_s * ranks, 1e-9);
  f.confidence = 0.95 * std::min(ramp(share, 0.02, 0.05), ramp(edge.rank.votes / edge.waited_s, 0.2, 0.6));
  f.evidence = {"other ranks waited " + words::number(edge.waited_s) + " rank-seconds, " + words::percent(share) +
                " of the time of all ranks in the whole run"};
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
    Finding f = finding_of(start, run_s, e.ranks);
    // Launchers start processes one after the other, on a busy node some tenths of a second apart.
    f.confidence *= ramp(f.end_s - f.begin_s, 0.25, 1.0);
    f.cause = Cause::startup;
    f.detail = "late for MPI_Init";
    f.advice = "Find out what " + words::ranks(f.ranks) +
               " does before MPI_Init (loading the program and its libraries, reading input), or call MPI_Init first.";
    findings.push_back(std::move(f));
  }
  if (finish.waited_s > 0 && finish.rank.value >= 0) {
    Finding f = finding_of(finish, run_s, e.ranks);
    f.cause = Cause::collective_wait;
    f.detail = "late for MPI_Finalize";
    f.advice = "The others had nothing left to do: share what " + words::ranks(f.ranks) +
               " does at the end, or let the others work meanwhile.";
    findings.push_back(std::move(f));
  }
  return findings;
}

}  // namespace pclscope::attribute
