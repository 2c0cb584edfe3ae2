#include "analysis/attribute/asleep.hpp"

#include <algorithm>
#include <string_view>

#include "analysis/attribute/words.hpp"

namespace pclscope::attribute {
namespace {

constexpr double least_observed_s = 0.05;
constexpr double most_of_it = 0.5;

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

void tell_asleep(Snapshot& snapshot) {
  for (Finding& f : snapshot.attribution.findings) {
    if (!is_about_computation(f) || f.ranks.empty()) continue;
    double least = 1;
    for (const std::int32_t rank : f.ranks) {
      const RankSummary* r = find(snapshot, rank);
      least = std::min(least, r != nullptr ? asleep_outside_mpi(*r) : 0.0);
    }
    if (least < most_of_it) continue;
    const bool one = f.ranks.size() == 1;
    f.evidence.push_back(words::ranks(f.ranks) + (one ? " was" : " were") + " asleep for " + words::percent(least) +
                         " of the time outside MPI, at least: that is no computation, but waiting for files, timers, "
                         "locks or other programs");
    constexpr std::string_view speed_up = "Speed up what ";
    if (f.advice.starts_with(speed_up))
      f.advice = "See what " + words::ranks(f.ranks) + (one ? " waits" : " wait") +
                 " for outside MPI. Else: speed up what " + f.advice.substr(speed_up.size());
  }
}

}  // namespace pclscope::attribute
