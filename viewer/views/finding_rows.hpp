// Why messages are late, for people and programs: findings, and the measures that they rest on.
#pragma once

#include <string>
#include <vector>

#include "analysis/values/snapshot.hpp"
#include "viewer/session/summary_json.hpp"
#include "viewer/views/site_text.hpp"
#include "viewer/views/summary_tables.hpp"

namespace pclscope::views {

// "late-sender": the word in JSON, in documents and on the command line.
const char* cause_word(Cause cause);

// Places of findings in the snapshot, ascending. Everywhere a finding's number is its place plus 1, whichever are
// shown.
using Places = std::vector<std::size_t>;
Places all_findings(const Snapshot& snapshot);
// Those that begin at one of these ranks (ascending; empty: all), or are felt by one where no rank is named, and acted
// at some time in [begin_s, end_s].
Places findings_of(const Snapshot& snapshot, const std::vector<std::int32_t>& ranks, double begin_s, double end_s);

// {findings: [...], conditions: [...], conditions_first}: as the first is the answer, in order.
session::Json findings_json(const Snapshot& snapshot, const Sites& sites, const Places& places);
session::Json findings_json(const Snapshot& snapshot, const Sites& sites);
Rows finding_rows(const Snapshot& snapshot, const Sites& sites, const Places& places);
// What, who, since when, how sure: one line.
std::string finding_line(const Finding& finding, const Snapshot& snapshot, const Sites& sites);
// Each finding with its evidence and advice, and the conditions of the run: before them when one costs more than every
// cause. `width` 0: as long as they are. Of those behind the first that are not to be believed a line says how many
// there are, unless `weaker`.
std::vector<std::string> finding_lines(const Snapshot& snapshot, const Sites& sites, std::size_t width,
                                       const Places& places, bool weaker = false);
// A file for gdb: a breakpoint for each of the same findings whose line is known, and a comment for each.
std::vector<std::string> finding_breakpoints(const Snapshot& snapshot, const Sites& sites, const Places& places,
                                             bool weaker = false);
// For watch: conditions, and those that act now or matter most, at most `most` lines.
std::vector<std::string> finding_section(const Snapshot& snapshot, const Sites& sites, std::size_t most);
std::size_t findings_to_show(const Snapshot& snapshot);

// The measures over time: {slices, transfer_lines}.
session::Json attribution_json(const Attribution& attribution);
Rows attribution_rows(const Attribution& attribution);
std::vector<std::string> attribution_lines(const Attribution& attribution, std::size_t width);

// Messages per pair of ranks; as text it is what `pclscope map` reads (docs/mapping.md).
session::Json traffic_json(const std::vector<PairTraffic>& traffic);
Rows traffic_rows(const std::vector<PairTraffic>& traffic);
std::vector<std::string> traffic_lines(const std::vector<PairTraffic>& traffic);

}  // namespace pclscope::views
