// Phases and steps of logical time (analysis/logical), for people and programs.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analysis/logical/sums.hpp"
#include "viewer/session/summary_json.hpp"
#include "viewer/views/site_text.hpp"
#include "viewer/views/summary_tables.hpp"

namespace pclscope::views {

struct PhaseRow {
  std::uint32_t number = 0;  // of LogicalTime::phases
  std::uint32_t first_step = 0, last_step = 0;
  logical::PhaseSum sum;
  std::vector<std::uint32_t> after;  // phases
};
struct StepRow {
  std::uint32_t phase = 0;
  logical::StepSum sum;
};

session::Json phase_json(const PhaseRow& row, const Sites& sites);
session::Json step_json(const StepRow& row, const Sites& sites);
Rows phase_rows(const std::vector<PhaseRow>& rows, const Sites& sites);
Rows step_rows(const std::vector<StepRow>& rows, const Sites& sites);
// Tables; `width` 0: no limit.
std::vector<std::string> phase_lines(const std::vector<PhaseRow>& rows, const Sites& sites, std::size_t width);
std::vector<std::string> step_lines(const std::vector<StepRow>& rows, const Sites& sites, std::size_t width);

}  // namespace pclscope::views
