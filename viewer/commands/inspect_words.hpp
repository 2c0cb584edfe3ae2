// What the words after `pclscope inspect` ask for, and the run that they are about.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "analysis/values/snapshot.hpp"
#include "viewer/session/session.hpp"
#include "viewer/views/message_rows.hpp"
#include "viewer/views/page_options.hpp"
#include "viewer/views/summary_tables.hpp"

namespace pclscope::commands {

enum class Format { text, json, csv, dot };

struct InspectWords {
  std::string target;
  std::string topic = "summary";
  Format format = Format::text;
  bool ascii = false;
  bool fold = false;
  std::optional<std::uint64_t> limit;
  std::vector<std::int32_t> ranks;  // ascending; empty = all
  std::optional<views::MessageOrder> order;
  std::optional<std::int32_t> region;
  std::optional<std::int64_t> from_ns;  // since the start of the run; negative: before its end
  std::optional<std::int64_t> to_ns;
  std::optional<std::uint64_t> cut;  // regions
  std::optional<double> cut_height;
};

// Fills `words`, or gives the exit status: help printed, or the usage error said in one line.
std::optional<int> parse_inspect(const std::vector<std::string>& words, InspectWords& inspect);

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
// The same of stored messages and calls, which may be fewer than were counted.
std::string why_partial(const InspectedRun& run);
// Two such reasons as one.
std::string both(const std::string& why, const std::string& other);
// Says so on standard error, unless lacking() is all, and adds `partial` and `why_partial` to an object.
void tell_partial(const InspectedRun& run, const std::string& why);
void add_partial(session::Json& object, const std::string& why);

// Columns of text output: the terminal's, else 0 = no limit.
views::PageOptions inspect_page(const InspectWords& words);
int print_json(const session::Json& json);
int print_rows(const views::Rows& rows);

// Topics. Each returns the exit status.
int inspect_tables(const InspectWords& words, InspectedRun& run);  // summary, regions, ranks, criteria, links
int inspect_messages(const InspectWords& words, InspectedRun& run);
int inspect_evolution(const InspectWords& words, InspectedRun& run);
int inspect_dag(const InspectWords& words, InspectedRun& run);
int inspect_delays(const InspectWords& words, InspectedRun& run);
int inspect_path(const InspectWords& words, InspectedRun& run);
int inspect_collectives(const InspectWords& words, InspectedRun& run);
int inspect_findings(const InspectWords& words, InspectedRun& run);
int inspect_attribution(const InspectWords& words, InspectedRun& run);
int inspect_traffic(const InspectWords& words, InspectedRun& run);

}  // namespace pclscope::commands
