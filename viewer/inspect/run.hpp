// The run that `pclscope inspect` is about, and what is printed of it.
#pragma once

#include <memory>
#include <string>

#include "analysis/values/snapshot.hpp"
#include "viewer/inspect/words.hpp"
#include "viewer/session/session.hpp"
#include "viewer/session/summary_json.hpp"
#include "viewer/views/page_options.hpp"
#include "viewer/views/summary_tables.hpp"

namespace pclscope::commands {

struct InspectedRun {
  std::unique_ptr<session::Session> session;
  Snapshot snapshot;
  bool chosen(const InspectWords& words, std::int32_t rank) const;
};

// The period of --from and --to on the run's time axis. Without them all of it. Fails with bad_argument (begins after
// its end) and not_found (lies outside the run).
Result<session::TimeSpan> span_of(const InspectWords& words, const InspectedRun& run);

// Why what is said of the run does not tell all, in one line; empty when it does: cut off, events dropped.
std::string why_incomplete(const InspectedRun& run);
// Why a dump does not have all ranks to their end; empty: it has, or the job is live.
std::string lacking(const InspectedRun& run);
// What was counted but not stored; empty: nothing.
std::string why_not_stored(const InspectedRun& run);
// why_incomplete() of stored messages and calls, which may be fewer than were counted.
std::string why_partial(const InspectedRun& run);
// Two such reasons as one.
std::string both(const std::string& why, const std::string& other);
// Says so on standard error, unless lacking() is all, and adds `partial` and `why_partial` to an object.
void tell_partial(const InspectedRun& run, const std::string& why);
void add_partial(session::Json& object, const std::string& why);

// Columns of text output: the terminal's, else 0 = no limit.
views::PageOptions inspect_page(const InspectWords& words);
int print_json(const session::Json& json);
int print_rows(const TableFormat& format, const views::Rows& rows);

}  // namespace pclscope::commands
