// Sums of a node, from what it measured into a report, and from the merged reports into what the root knows of the job.
#pragma once

#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "analysis/pipeline/measured.hpp"
#include "analysis/values/part.hpp"
#include "analysis/window/open_windows.hpp"

namespace pclscope::nodes {

// What a node has measured since its last report. One thread.
class UnsentSums {
 public:
  // Measurement::Hooks. close() returns the window as the root gets it; `region_of_rank`: as the root says.
  void count_time(const Message& message, std::int64_t time, std::int64_t transfer);
  WindowPart close(const OpenWindows::Closed& closed, const Measured& measured,
                   std::span<const std::int32_t> region_of_rank);
  // Pairs, times, sites, worst messages, totals, newest_ns: all since the last call. The rest is left as it is.
  void take(Measured& measured, Report& report);

 private:
  void keep_worst();

  PairTable pairs_;
  std::unordered_map<std::uint64_t, std::uint64_t> times_;  // by class, kind, bin, bucket
  std::vector<RatedMessage> worst_;
  MessageTotals told_;  // totals as of then
};

// Adds totals, times, sites, worst messages and pairs, these as the open window of Measured::pairs, folded; true when
// there are any. Statuses of ranks replace older ones.
bool add_report(Measured& measured, const Report& report);

}  // namespace pclscope::nodes
