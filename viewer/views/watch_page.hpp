// The page of `pclscope watch`: one snapshot as lines of text.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "analysis/values/snapshot.hpp"
#include "viewer/views/page_options.hpp"

namespace pclscope::views {

struct Freshness {
  std::optional<double> age_s;  // between the newest analysed instant and now
  double silent_s = 0;          // since the last snapshot came
  double interval_s = 0.1;      // how often snapshots are due
};

// At most options.height lines of at most options.width columns, without line ends or control characters.
std::vector<std::string> watch_page(const Snapshot& snapshot, const Freshness& freshness, const PageOptions& options);

// Its first lines alone: what runs, for how long, how fresh that is, the totals. Neither cut nor plain.
std::vector<std::string> header_lines(const Snapshot& snapshot, const Freshness& freshness);

}  // namespace pclscope::views
