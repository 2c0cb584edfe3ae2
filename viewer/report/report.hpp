// A run as one page of HTML that stands alone: no script, no other file, nothing from a network. The same text is
// printed and shown, light and dark. Its words and numbers are those of `pclscope inspect`; each number carries its
// exact value and its path in the JSON there. Pure; costs a layout of the ranks (seconds for tens of thousands).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "analysis/values/snapshot.hpp"
#include "viewer/views/comparison.hpp"
#include "viewer/views/efficiency_rows.hpp"
#include "viewer/views/evolution_rows.hpp"
#include "viewer/views/site_text.hpp"

namespace pclscope::report {

struct Compared {
  views::ComparedRun before, now;
  views::Comparison changes;
};

struct Run {
  std::string name;  // of the file, or of the job
  Snapshot snapshot;
  std::vector<views::RegionEvolution> evolution;
  std::vector<views::EfficiencyRow> efficiencies;  // as `pclscope inspect efficiency` has them
  std::string lacking;                             // why it is not whole; empty: it is
  std::string partial;                             // what is counted but not stored; empty: nothing
  std::optional<Compared> compared;                // with an earlier run
  bool goes_on = false;                            // a job that still runs
};

std::string page(const Run& run, const std::string& version);

// --- its parts: HTML, empty where there is nothing to tell ---
std::string answer_section(const Run& run, const views::Sites& sites);
std::string comparison_section(const Run& run);
std::string efficiency_section(const Run& run);
std::string findings_section(const Run& run, const views::Sites& sites);
std::string regions_section(const Run& run);  // with pictures
std::string time_section(const Run& run);
std::string ranks_section(const Run& run, const views::Sites& sites);
std::string calls_section(const Run& run, const views::Sites& sites);
std::string measured_section(const Run& run);
std::string methods_section();

// --- pictures: an SVG element ---
std::string regions_picture(const Snapshot& snapshot);
std::string evolution_picture(const Run& run);
std::string waiting_picture(const Snapshot& snapshot);    // of all ranks, over time
std::string functions_picture(const Snapshot& snapshot);  // over time, every call
std::string ranks_picture(const Snapshot& snapshot);      // where each rank's time goes

const char* style_sheet();

}  // namespace pclscope::report
