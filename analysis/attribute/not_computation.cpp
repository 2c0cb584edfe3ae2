#include "analysis/attribute/not_computation.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <string_view>

#include "analysis/attribute/words.hpp"

namespace pclscope::attribute {
namespace {

constexpr double least_observed_s = 0.05;
constexpr double most_of_it = 0.5;
constexpr double of_what_others_waited = 0.5;

bool is_about_computation(const Finding& f) {
  return f.cause == Cause::late_sender || f.cause == Cause::late_receiver || f.cause == Cause::collective_wait ||
         (f.cause == Cause::pattern && f.detail == "imbalance");
}

const RankSummary* find(const Snapshot& snapshot, std::int32_t rank) {
  const auto at = static_cast<std::size_t>(rank);
  return rank >= 0 && at < snapshot.ranks.size() && snapshot.ranks[at].rank == rank ? &snapshot.ranks[at] : nullptr;
}

}  // namespace

double asleep_outside_mpi(const RankSummary& r) {
  const double inside = std::max(0.0, r.mpi_between_s()) + (r.finished ? 0 : r.call_for_s);
  const double outside = r.running_s + r.off_core_s + r.asleep_s - inside;
  if (!(outside >= least_observed_s)) return 0;
  return std::clamp((outside - r.running_s - r.off_core_computing_s) / outside, 0.0, 1.0);
}

namespace {

// The least of the named ranks; 0 when one is not known.
template <class Of>
double least_of(const Snapshot& snapshot, const Finding& f, const Of& of) {
  double least = std::numeric_limits<double>::max();
  for (const std::int32_t rank : f.ranks) {
    const RankSummary* r = find(snapshot, rank);
    least = std::min(least, r != nullptr ? of(*r) : 0.0);
  }
  return std::isfinite(least) ? least : 0;
}

void advise(Finding& f, const std::string& first) {
  constexpr std::string_view speed_up = "Speed up what ";
  if (f.advice.starts_with(speed_up)) f.advice = first + " Else: speed up what " + f.advice.substr(speed_up.size());
}

}  // namespace

void tell_not_computed(Snapshot& snapshot) {
  for (Finding& f : snapshot.attribution.findings) {
    if (!is_about_computation(f) || f.ranks.empty()) continue;
    const bool one = f.ranks.size() == 1;
    const double others = static_cast<double>(snapshot.ranks.size()) - static_cast<double>(f.ranks.size());
    const double files_s = least_of(snapshot, f, [](const RankSummary& r) { return r.file_s; });
    if (others > 0 && files_s >= of_what_others_waited * f.lost_s / others && files_s > 0) {
      f.evidence.push_back(words::ranks(f.ranks) + (one ? " was" : " were") + " in MPI-IO for " +
                           words::number(files_s) + " s" + (one ? "" : " each, at least") +
                           ": what a rank reads and writes by itself counts as what it computes here");
      advise(f, "See which files " + words::ranks(f.ranks) + (one ? " reads and writes" : " read and write") +
                    ", and whether all ranks can share that.");
    }
    const double least = least_of(snapshot, f, asleep_outside_mpi);
    if (least < most_of_it) continue;
    f.evidence.push_back(words::ranks(f.ranks) + (one ? " was" : " were") + " asleep for " + words::percent(least) +
                         " of the time outside MPI, at least: that is no computation, but waiting for files, timers, "
                         "locks or other programs, or being stopped (a debugger, SIGSTOP)");
    advise(f, "See what " + words::ranks(f.ranks) + (one ? " waits" : " wait") + " for outside MPI.");
  }
}

}  // namespace pclscope::attribute
