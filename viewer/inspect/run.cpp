#include "viewer/inspect/run.hpp"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "viewer/commands/command_line.hpp"
#include "viewer/inspect/table_format.hpp"
#include "viewer/text/quantities.hpp"
#include "viewer/views/missing_text.hpp"

namespace pclscope::commands {
namespace {

constexpr const char* cut_off = "the run was cut off or still goes on";
constexpr std::int64_t longest_ns = 4'000'000'000'000'000'000;  // 126 years: no sum of two moments overflows

// Until when there is something to ask about.
std::int64_t end_of(const InspectedRun& run) {
  const double ns = session::elapsed_s(run.snapshot) * 1e9;
  return std::isfinite(ns) && ns > 0 ? static_cast<std::int64_t>(std::min(ns, static_cast<double>(longest_ns))) : 0;
}

}  // namespace

bool InspectedRun::chosen(const InspectWords& words, std::int32_t rank) const {
  return words.ranks.empty() || std::binary_search(words.ranks.begin(), words.ranks.end(), rank);
}

Result<session::TimeSpan> span_of(const InspectWords& words, const InspectedRun& run) {
  const std::int64_t end = end_of(run);
  const auto moment = [&](std::int64_t ns) { return std::clamp(ns < 0 ? end + ns : ns, -longest_ns, longest_ns); };
  session::TimeSpan span;
  if (words.from_ns) span.begin_ns = moment(*words.from_ns);
  if (words.to_ns) span.end_ns = moment(*words.to_ns);
  const auto text = [](std::int64_t ns) { return text::format_seconds(static_cast<double>(ns) / 1e9); };
  if (words.from_ns && words.to_ns && span.begin_ns >= span.end_ns) {
    return Error{ErrorCode::bad_argument,
                 "the period ends before it begins: --from " + text(span.begin_ns) + ", --to " + text(span.end_ns)};
  }
  const bool after = words.from_ns && span.begin_ns > end;
  const bool before = words.to_ns && span.end_ns <= 0;
  if (after || before) {
    return Error{ErrorCode::not_found,
                 std::string("nothing ") + (after ? "from " + text(span.begin_ns) + " on" : "before the start") +
                     ": the run " + (run.session->live() ? "has come from 0 s to " : "lasts from 0 s to ") + text(end)};
  }
  return span;
}

std::string both(const std::string& why, const std::string& other) {
  return why + (why.empty() || other.empty() ? "" : "; ") + other;
}

// Said when it is opened, too.
std::string lacking(const InspectedRun& run) {
  if (run.session->live() || run.session->complete()) return "";
  if (std::string text = views::missing_text(run.snapshot, run.session->closed()); !text.empty()) return text;
  return run.session->closed() ? "some ranks are missing; there was no room for which" : cut_off;
}

std::string why_incomplete(const InspectedRun& run) {
  const std::uint64_t dropped = run.snapshot.messages.dropped_events;
  return both(lacking(run), dropped > 0 ? text::format_count(dropped) + " events were dropped" : "");
}

std::string why_not_stored(const InspectedRun& run) {
  const std::uint64_t messages = run.session->messages_not_stored(), calls = run.session->collectives_not_stored();
  std::string why;
  if (messages > 0) why = text::format_count(messages) + " messages were counted but not stored";
  if (calls > 0) why = both(why, text::format_count(calls) + " calls of collectives were counted but not stored");
  return why;
}

std::string why_partial(const InspectedRun& run) { return both(why_not_stored(run), why_incomplete(run)); }

void tell_partial(const InspectedRun& run, const std::string& why) {
  if (!why.empty() && why != lacking(run)) say("not all is known: " + why);
}

void add_partial(session::Json& object, const std::string& why) {
  object["partial"] = !why.empty();
  object["why_partial"] = why.empty() ? session::Json(nullptr) : session::Json(why);
}

views::PageOptions inspect_page(const InspectWords& words) {
  views::PageOptions page = page_options(words.ascii);
  if (!output_is_terminal()) page.width = 0;
  return page;
}

int print_rows(const TableFormat& format, const views::Rows& rows) {
  std::string text = format.head(rows.titles);
  for (const auto& row : rows.cells) text += format.row(row);
  return print(text) ? done : could_not;
}

int print_json(const session::Json& json) { return print(session::to_text(json, true) + "\n") ? done : could_not; }

}  // namespace pclscope::commands
