// The page of `pclscope watch`: one snapshot as lines of text.
#pragma once

#include <cstddef>
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

// Its first lines alone: what runs, for how long and how fresh that is (identity_lines), the totals. Neither cut nor
// plain. On the page the sentences about the run stand between the two.
inline constexpr std::ptrdiff_t identity_lines = 2;
std::vector<std::string> header_lines(const Snapshot& snapshot, const Freshness& freshness);

}  // namespace pclscope::views
