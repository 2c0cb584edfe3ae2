// Topics of `pclscope inspect` that come from the summary alone, as tables for people and rows for programs.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analysis/values/snapshot.hpp"

namespace pclscope::views {

struct Rows {
  std::vector<std::string> titles;
  std::vector<std::vector<std::string>> cells;
};

// For people: lines with units, at most `width` columns (0 = no limit). `lacking`: why it is not complete, empty when
// it is.
std::vector<std::string> summary_lines(const Snapshot& snapshot, const std::string& lacking, std::size_t width);
std::vector<std::string> region_lines(const std::vector<Region>& regions, std::size_t width);
std::vector<std::string> rank_lines(const std::vector<RankSummary>& ranks, const Application& application,
                                    std::size_t width);
std::vector<std::string> criterion_lines(const std::vector<Criterion>& criteria, std::size_t width);

// For programs: raw numbers in base units; titles are the names in docs/json.md.
Rows summary_rows(const Snapshot& snapshot);
Rows region_rows(const std::vector<Region>& regions);
Rows rank_rows(const std::vector<RankSummary>& ranks, const Application& application);
Rows criterion_rows(const std::vector<Criterion>& criteria);

}  // namespace pclscope::views
