// Conditions of the run, for people and programs: what kept ranks off their cores, and what to do about it.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "analysis/values/snapshot.hpp"
#include "viewer/session/summary_json.hpp"
#include "viewer/views/summary_tables.hpp"

namespace pclscope::views {

const char* condition_word(ConditionKind kind);  // "more-ranks-than-cores": in JSON
// What, who, how much, since when: one line. And what to do.
std::string condition_line(const Condition& condition, const Snapshot& snapshot);
std::string condition_advice(const Condition& condition, const Snapshot& snapshot);
// They stand before the causes when one of them costs more than every cause.
bool conditions_first(const Snapshot& snapshot);

session::Json conditions_json(const Snapshot& snapshot);
Rows condition_rows(const Snapshot& snapshot);
// Each with its advice, a number before it, and whose times are not known. `width` 0: as long as they are.
std::vector<std::string> condition_lines(const Snapshot& snapshot, std::size_t width);
// "condition: ..." with advice, at most `most` lines: beside findings.
std::vector<std::string> condition_section(const Snapshot& snapshot, std::size_t most);

}  // namespace pclscope::views
