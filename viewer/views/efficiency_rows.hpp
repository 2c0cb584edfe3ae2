// Efficiencies for people and programs (analysis/efficiency/ has the definitions).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "analysis/efficiency/efficiency.hpp"
#include "viewer/session/summary_json.hpp"
#include "viewer/views/summary_tables.hpp"

namespace pclscope::views {

// "parallel 71% = load balance 80% x communication 89% (serialisation 92% x transfer 97%)"; with what has to be known
// of it: time off the core, messages that were not replayed. Empty: not known.
std::string efficiency_text(const Efficiency& efficiency);
// In 80 columns: "parallel 71% = balance 80% x serialisation 92% x transfer 97%".
std::string brief_efficiency_text(const Efficiency& efficiency);

// What the numbers of a row are about.
struct EfficiencyRow {
  // pattern: all ranks while one pattern lasted; marker: ranks while they were in a part that the program named
  enum class Scope { job, pattern, region, marker } scope = Scope::job;
  std::int32_t region = -1;
  Efficiency of;
  std::optional<double> path_useful_s;  // computation on the critical path; only of stored calls, of all ranks
  std::string marker = {};
};
// "of computation, 1.2 s (10%) more than a rank's mean": what stands behind the time of the critical path.
std::string path_text(const Efficiency& efficiency, double path_useful_s);
std::string name_of(const EfficiencyRow& row);  // "region 2", "marker solve"
std::vector<std::string> efficiency_lines(const std::vector<EfficiencyRow>& rows, std::size_t width);
session::Json efficiency_json(const Efficiency& efficiency);  // of the job: without scope and path
session::Json efficiency_json(const EfficiencyRow& row);
session::Json rank_time_json(const efficiency::RankTime& time, const Efficiency& of);
Rows efficiency_rows(const std::vector<EfficiencyRow>& rows);

// As traffic lights: a word beside each colour. From 80 % on good, below 60 % poor, as the POP centre has it.
enum class Grade { good, fair, poor };
Grade grade_of(double efficiency);
const char* name_of(Grade grade);

}  // namespace pclscope::views
