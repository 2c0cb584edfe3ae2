// Logical time of a dump's period, for the topics that are about it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <string>
#include <vector>

#include "analysis/logical/logical_time.hpp"
#include "viewer/inspect/run.hpp"
#include "viewer/inspect/topic.hpp"

namespace pclscope::commands {

struct StoredPhases {
  logical::LogicalTime time;
  std::string why_partial;  // empty: everything is there
};

// Of the period and ranks that words ask for: of messages whose send began in it, and collective calls that any part of
// lies in it; at most 8 million of each (about 1.4 GB), the first ones. Fails where the job is live, or --phase says
// one that is not there.
Result<StoredPhases> read_phases(const InspectWords& words, InspectedRun& run);

// Phases that words are about: the one of --phase, those with a rank of --rank.
std::vector<std::uint32_t> chosen_phases(const InspectWords& words, const StoredPhases& stored);

// Of rows in order of time those that are printed: as text the 20 with most lateness unless --limit says how many, else
// the first ones. Returns how many were left out.
template <class Row>
std::size_t keep_shown(const InspectWords& words, std::vector<Row>& rows) {
  constexpr std::uint64_t most_lines = 20;
  const std::size_t all = rows.size();
  if (words.format != Format::text) {
    cut(words, rows);
  } else if (const std::uint64_t most = words.limit.value_or(most_lines); all > most) {
    std::vector<double> lateness;
    for (const Row& row : rows) lateness.push_back(row.sum.lateness.sum_ns + row.sum.entry.sum_ns);
    std::vector<std::size_t> order(all);
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return lateness[a] > lateness[b]; });
    order.resize(static_cast<std::size_t>(most));
    std::sort(order.begin(), order.end());
    std::vector<Row> kept;
    for (const std::size_t i : order) kept.push_back(std::move(rows[i]));
    rows = std::move(kept);
  }
  return all - rows.size();
}

}  // namespace pclscope::commands
