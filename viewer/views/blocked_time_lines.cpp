#include "viewer/views/blocked_time_lines.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "viewer/session/summary_json.hpp"
#include "viewer/text/quantities.hpp"

namespace pclscope::views {

double going_on_s(const RankSummary& r) {
  return r.call_function != 0 && !r.finished && r.call_for_s > 0 ? r.call_for_s : 0;
}

InsideMpi inside_mpi(const Snapshot& snapshot) {
  InsideMpi sum;
  double until_s = session::elapsed_s(snapshot);
  for (const RankSummary& r : snapshot.ranks)  // what it is inside now began after its newest call returned
    if (going_on_s(r) > 0) until_s = std::max(until_s, r.end_s + r.call_for_s);
  for (const RankSummary& r : snapshot.ranks) {
    sum.inside_s += r.mpi_s;
    sum.whole_s += r.threads * until_s;
    sum.late_sender_s += r.late_sender_s;
    sum.late_receiver_s += r.late_receiver_s;
    sum.transfer_s += r.transfer_s;
    sum.collective_wait_s += r.collective_wait_s;
    sum.one_sided_s += r.one_sided_s;
    sum.file_s += r.file_s;
    sum.other_s += r.other_s;
    sum.init_s += r.init_s;
    sum.finalize_s += r.finalize_s;
    sum.going_on_s += going_on_s(r);
  }
  sum.inside_s += sum.going_on_s;
  const auto blocked_s = [](const auto& part) { return part.late_sender_s + part.late_receiver_s + part.transfer_s; };
  for (const std::vector<Region>* regions : {&snapshot.regions, &snapshot.ended_regions})
    for (const Region& r : *regions) sum.in_regions_s += blocked_s(r);
  for (const std::vector<RegionLink>* links : {&snapshot.links, &snapshot.ended_links})
    for (const RegionLink& l : *links) sum.between_regions_s += blocked_s(l);
  const double all = sum.late_sender_s + sum.late_receiver_s + sum.transfer_s;
  sum.elsewhere_s = std::max(0.0, all - sum.in_regions_s - sum.between_regions_s);
  return sum;
}

std::vector<std::string> inside_mpi_lines(const Snapshot& snapshot) {
  const InsideMpi sum = inside_mpi(snapshot);
  if (!(sum.whole_s > 0) || !std::isfinite(sum.whole_s) || !std::isfinite(sum.inside_s)) return {};
  const auto seconds = [](double s) { return text::format_seconds(s); };
  std::vector<std::string> lines;
  lines.push_back(seconds(sum.inside_s) + " of " + seconds(sum.whole_s) + " of ranks' time (" +
                  text::format_share(sum.inside_s / sum.whole_s) + "), the sum of");
  std::string parts;
  for (const auto& [name, s] :
       {std::pair("late senders ", sum.late_sender_s), std::pair("late receivers ", sum.late_receiver_s),
        std::pair("exposed transfers ", sum.transfer_s), std::pair("collectives ", sum.collective_wait_s),
        std::pair("one-sided ", sum.one_sided_s), std::pair("files ", sum.file_s), std::pair("other ", sum.other_s),
        std::pair("MPI_Init ", sum.init_s), std::pair("MPI_Finalize ", sum.finalize_s),
        std::pair("not returned ", sum.going_on_s)})
    parts.append(parts.empty() ? "" : " + ").append(name).append(seconds(s));
  lines.push_back(parts);
  std::string where =
      "of messages: in regions " + seconds(sum.in_regions_s) + ", between regions " + seconds(sum.between_regions_s);
  if (sum.elsewhere_s > 1e-6) where += ", elsewhere " + seconds(sum.elsewhere_s);
  lines.push_back(where);
  return lines;
}

}  // namespace pclscope::views
