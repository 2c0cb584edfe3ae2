// pclscope inspect FILE timeline: the MPI calls of each rank, one by one.
#include <algorithm>
#include <tuple>

#include "viewer/inspect/topic.hpp"
#include "viewer/session/waits_of_ranks.hpp"
#include "viewer/text/quantities.hpp"
#include "viewer/views/json_rows.hpp"
#include "viewer/views/timeline_rows.hpp"

namespace pclscope::commands {
namespace {

using session::Json;
using views::TimelineRow;

constexpr std::uint64_t calls_as_text = 20;

bool earlier(const MpiCall& a, const MpiCall& b) {
  return std::tie(a.begin, a.rank, a.thread, a.end) < std::tie(b.begin, b.rank, b.thread, b.end);
}

// Of the whole of each call that reaches into the period.
Status read_waits(const InspectWords& words, InspectedRun& run, session::TimeSpan span, session::WaitsOfRanks& waits) {
  const session::TimeSpan asked = span;
  const Status looked = run.session->mpi_calls(asked, [&](std::span<const MpiCall> batch) {
    for (const MpiCall& call : batch) {
      if (!run.chosen(words, call.rank)) continue;
      span.begin_ns = std::min(span.begin_ns, call.begin);
      span.end_ns = std::max(span.end_ns, call.end + 1);
    }
    return true;
  });
  if (!looked) return looked;
  span.or_end = true;
  const auto take = [&](const auto& batch) {
    for (const auto& row : batch) waits.add(row);
    return true;
  };
  Status read = run.session->messages(span, [&](std::span<const Message> batch) { return take(batch); });
  if (read) read = run.session->collectives(span, [&](std::span<const CollectiveCall> batch) { return take(batch); });
  waits.settle();
  return read;
}

// The calls of the period and the ranks: the `limit` earliest, or all as they are stored.
template <class Visit>
Status visit_calls(const InspectWords& words, InspectedRun& run, const session::TimeSpan& span,
                   std::optional<std::uint64_t> limit, Visit&& visit) {
  std::vector<MpiCall> earliest;  // a heap, the latest on top
  const auto later_top = [](const MpiCall& a, const MpiCall& b) { return earlier(a, b); };
  if (limit && *limit == 0) return {};
  const Status read = run.session->mpi_calls(span, [&](std::span<const MpiCall> batch) {
    for (const MpiCall& call : batch) {
      if (!run.chosen(words, call.rank)) continue;
      if (!limit) {
        if (!visit(call)) return false;
      } else if (earliest.size() < *limit) {
        earliest.push_back(call);
        std::push_heap(earliest.begin(), earliest.end(), later_top);
      } else if (earlier(call, earliest.front())) {
        std::pop_heap(earliest.begin(), earliest.end(), later_top);
        earliest.back() = call;
        std::push_heap(earliest.begin(), earliest.end(), later_top);
      }
    }
    return true;
  });
  std::sort(earliest.begin(), earliest.end(), earlier);
  for (const MpiCall& call : earliest)
    if (!visit(call)) break;
  return read;
}

std::vector<TimelineRow> running(const InspectWords& words, const InspectedRun& run, const session::TimeSpan& span) {
  std::vector<TimelineRow> rows = views::running_calls(run.snapshot);
  std::erase_if(rows, [&](const TimelineRow& row) {
    return !run.chosen(words, row.call.rank) || row.call.begin >= span.end_ns || row.call.end < span.begin_ns;
  });
  return rows;
}

// Rows go out as they come: a dump may hold more calls than fit into memory.
Status stream(const InspectWords& words, InspectedRun& run, const session::TimeSpan& span,
              const session::WaitsOfRanks& waits, const views::Sites& sites, bool& written) {
  const bool json = words.format == Format::json;
  const session::CallCount count = run.session->mpi_call_count();
  const Json example = views::timeline_json({}, sites);
  written = json ? print("{\"total\": " + std::to_string(count.stored) +
                         ", \"not_stored\": " + std::to_string(count.not_stored) +
                         ", \"shed\": " + std::to_string(count.shed) + ", \"calls\": [")
                 : print(words.table->head(views::rows_of({}, example).titles));
  std::string buffer;
  bool first = true;
  const auto put = [&](const TimelineRow& row) {
    const Json object = views::timeline_json(row, sites);
    if (json) buffer += (first ? "\n" : ",\n") + session::to_text(object, false);
    else buffer += words.table->row(views::rows_of({object}, example).cells.front());
    first = false;
    if (buffer.size() < 1u << 16) return written;
    written = written && print(buffer);
    buffer.clear();
    return written;
  };
  std::uint64_t left = words.limit.value_or(UINT64_MAX);
  const Status status = visit_calls(words, run, span, words.limit, [&](const MpiCall& call) {
    --left;
    return put(views::timeline_row(call, waits));
  });
  for (const TimelineRow& row : running(words, run, span))
    if (left-- == 0 || !put(row)) break;
  written = written && print(buffer + (json ? "\n]}\n" : ""));
  return status;
}

Status as_text(const InspectWords& words, InspectedRun& run, const session::TimeSpan& span,
               const session::WaitsOfRanks& waits, const views::Sites& sites, bool& written) {
  const std::uint64_t limit = words.limit.value_or(calls_as_text);
  std::vector<TimelineRow> rows;
  const Status status = visit_calls(words, run, span, limit, [&](const MpiCall& call) {
    rows.push_back(views::timeline_row(call, waits));
    return true;
  });
  const bool cut = rows.size() == limit;
  for (const TimelineRow& row : running(words, run, span))
    if (rows.size() < limit) rows.push_back(row);
  written = print_lines(views::timeline_lines(rows, sites, inspect_page(words).width));
  const std::uint64_t stored = run.session->mpi_call_count().stored;
  if (cut && !words.limit && stored > limit && written) {
    written = print("first " + std::to_string(limit) + " of " + text::format_count(stored) +
                    " stored calls; --limit N shows more, --rank and --from others\n");
  }
  return status;
}

int show_timeline(const InspectWords& words, InspectedRun& run) {
  if (run.session->live()) return fail(could_not, "a running job gives summaries only: give the dump file instead");
  const auto span = span_of(words, run);
  if (!span) return fail(span.error());
  const session::CallCount count = run.session->mpi_call_count();
  if (!count.told)
    return fail(could_not, "this dump has no single calls: it was written by an earlier version of pclscope");
  if (count.stored == 0 && count.not_stored == 0 && run.snapshot.retention.keep == Keep::summaries)
    return fail(could_not, "this dump has no single calls: it was written with --keep summaries");
  if (count.stored == 0 && run.snapshot.application.aggregators > 1)
    return fail(could_not, "this dump has no single calls: it has them of jobs with one aggregator only");
  session::WaitsOfRanks waits;
  if (const Status read = read_waits(words, run, *span, waits); !read) return fail(could_not, read.error().message);
  const views::Sites sites(run.snapshot.sites);
  bool written = true;
  const Status status = words.format == Format::text ? as_text(words, run, *span, waits, sites, written)
                                                     : stream(words, run, *span, waits, sites, written);
  if (!status) return fail(could_not, status.error().message);
  if (written && count.not_stored > 0) {
    say(text::format_count(count.not_stored) + " more calls were made but not stored" +
        (count.shed > 0 ? ", " + text::format_count(count.shed) + " of them for lack of time" : ""));
  }
  return written ? done : could_not;
}

}  // namespace

extern const Topic timeline_topic;
const Topic timeline_topic{"timeline", takes::tables | takes::rank | takes::period | takes::lines, show_timeline};

}  // namespace pclscope::commands
