// Periods of a region's evolution and what is kept of a run, in words.
#pragma once

#include <string>

#include "analysis/values/snapshot.hpp"

namespace pclscope::views {

// "growing since 12.3 s", "steady 4.1x since 02:13", "grew to 4.1x until 12.3 s", "was 4.1x until 12.3 s"; empty while
// nothing of the kind is known.
std::string newest_period(const Region& region);
// "growth", "steady", "other": neither.
std::string period_name(PeriodKind kind);

// "interesting periods, 1.2 GiB of 2.0 GiB; 1,234 messages left out since 12.3 s"; empty when all is kept without a
// budget.
std::string kept_line(const Retention& retention);
// "1,234 messages counted but not kept for lack of time, between 12.3 s and 12.9 s"; empty when there are none.
std::string shed_line(const Retention& retention);
// "budget of 2.0 GiB used up since 12.3 s: 1,234 messages are not in the dump"; empty as long as it does not bite.
std::string budget_line(const Retention& retention);

}  // namespace pclscope::views
