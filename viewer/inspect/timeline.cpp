// pclscope inspect FILE timeline: the MPI calls of each rank, one by one; of a running job the newest.
#include <algorithm>
#include <tuple>

#include "viewer/inspect/newest_calls.hpp"
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

// By time, or the longest first; of equal ones the earlier.
bool before(const InspectWords& words, const TimelineRow& a, const TimelineRow& b) {
  const auto order = [&](const TimelineRow& row) {
    const MpiCall& c = row.call;
    const bool longest = words.order == views::MessageOrder::duration;
    return std::tuple(longest ? c.begin - c.end : 0, c.begin, c.rank, c.thread, c.end);
  };
  return order(a) < order(b);
}

bool chosen(const InspectWords& words, const InspectedRun& run, const MpiCall& call) {
  return run.chosen(words, call.rank) && (!words.function || *words.function == call.function);
}

// Of the whole of each call that reaches into the period.
Status read_waits(const InspectWords& words, InspectedRun& run, session::TimeSpan span, session::WaitsOfRanks& waits) {
  const session::TimeSpan asked = span;
  const Status looked = run.session->mpi_calls(asked, [&](std::span<const MpiCall> batch) {
    for (const MpiCall& call : batch) {
      if (!chosen(words, run, call)) continue;
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

// The calls to be shown, where some are known that have not returned, and of a dump what they waited for.
struct Shown {
  session::TimeSpan span;
  std::vector<TimelineRow> running;
  session::WaitsOfRanks waits;
  bool live = false;
};

std::vector<TimelineRow> running(const InspectWords& words, const InspectedRun& run, const Shown& shown) {
  std::vector<TimelineRow> rows = shown.running;
  const session::TimeSpan& span = shown.span;
  std::erase_if(rows, [&](const TimelineRow& row) {
    return !chosen(words, run, row.call) || row.call.begin >= span.end_ns || row.call.end < span.begin_ns;
  });
  return rows;
}

// The calls of the period, the ranks and the function, at most `limit`: the earliest or longest ones in that order, or
// all as they are stored when neither an order nor a limit is given. What had not returned comes last, but among the
// longest in its place. `all`: how many there are.
template <class Visit>
Status visit_calls(const InspectWords& words, InspectedRun& run, const Shown& shown, std::optional<std::uint64_t> limit,
                   std::uint64_t& all, Visit&& visit) {
  const bool sorted = limit || words.order, longest = words.order == views::MessageOrder::duration;
  const std::uint64_t most = limit.value_or(UINT64_MAX);
  std::vector<TimelineRow> first;  // a heap, the last on top
  const auto order = [&](const TimelineRow& a, const TimelineRow& b) { return before(words, a, b); };
  const auto offer = [&](const TimelineRow& row) {
    if (first.size() >= most) {
      if (most == 0 || !order(row, first.front())) return;
      std::pop_heap(first.begin(), first.end(), order);
      first.pop_back();
    }
    first.push_back(row);
    std::push_heap(first.begin(), first.end(), order);
  };
  all = 0;
  bool go_on = true;
  const Status read = run.session->mpi_calls(shown.span, [&](std::span<const MpiCall> batch) {
    for (const MpiCall& call : batch) {
      if (!chosen(words, run, call)) continue;
      ++all;
      if (sorted) offer({call});
      else if (!(go_on = visit(TimelineRow{call}))) return false;
    }
    return true;
  });
  std::vector<TimelineRow> open = running(words, run, shown);
  if (longest) {
    for (const TimelineRow& row : open) offer(row);
    open.clear();
  }
  std::sort_heap(first.begin(), first.end(), order);
  for (const auto* rows : {&first, &open})
    for (std::size_t i = 0; i < rows->size() && go_on; ++i)
      if (rows != &open || first.size() + i < most) go_on = visit((*rows)[i]);
  return read;
}

// With what is known of its waits.
TimelineRow with_waits(const TimelineRow& row, const Shown& shown) {
  return row.running || shown.live ? row : views::timeline_row(row.call, shown.waits);
}

// Rows go out as they come: a dump may hold more calls than fit into memory.
Status stream(const InspectWords& words, InspectedRun& run, const Shown& shown, const views::Sites& sites,
              bool& written) {
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
  std::uint64_t all = 0;
  const Status status = visit_calls(words, run, shown, words.limit, all,
                                    [&](const TimelineRow& row) { return put(with_waits(row, shown)); });
  written = written && print(buffer + (json ? "\n]}\n" : ""));
  return status;
}

Status as_text(const InspectWords& words, InspectedRun& run, const Shown& shown, const views::Sites& sites,
               bool& written) {
  const std::uint64_t limit = words.limit.value_or(calls_as_text);
  std::vector<TimelineRow> rows;
  std::uint64_t all = 0;
  const Status status = visit_calls(words, run, shown, limit, all, [&](const TimelineRow& row) {
    rows.push_back(with_waits(row, shown));
    return true;
  });
  written = print_lines(views::timeline_lines(rows, sites, inspect_page(words).width));
  if (all > limit && !words.limit && written) {
    const bool longest = words.order == views::MessageOrder::duration;
    const bool some = words.function || !words.ranks.empty() || words.from_ns || words.to_ns;
    written = print((longest ? "longest " : "first ") + std::to_string(limit) + " of " + text::format_count(all) +
                    (some ? " such" : "") + (shown.live ? " calls" : " stored calls") + "; --limit N shows more" +
                    (longest ? "\n" : ", --rank, --from and --function others, --sort duration the longest\n"));
  }
  return status;
}

int show_timeline(const InspectWords& words, InspectedRun& run) {
  const auto span = span_of(words, run);
  if (!span) return fail(span.error());
  Shown shown;
  shown.span = *span;
  shown.live = run.session->live();
  if (shown.live) {
    const auto newest = listen_to_calls(run);
    if (!newest) return fail(could_not, newest.error().message);
    for (const MpiCall& call : newest->running) shown.running.push_back({call, true});
    say(newest->words);
  } else {
    shown.running = views::running_calls(run.snapshot);
  }
  const session::CallCount count = run.session->mpi_call_count();
  if (!count.told)
    return fail(could_not, "this dump has no single calls: it was written by an earlier version of pclscope");
  if (count.stored == 0 && count.not_stored == 0 && run.snapshot.retention.keep == Keep::summaries)
    return fail(could_not, "this dump has no single calls: it was written with --keep summaries");
  if (const Status read = read_waits(words, run, *span, shown.waits); !read)
    return fail(could_not, read.error().message);
  const views::Sites sites(run.snapshot.sites);
  bool written = true;
  const Status status = words.format == Format::text ? as_text(words, run, shown, sites, written)
                                                     : stream(words, run, shown, sites, written);
  if (!status) return fail(could_not, status.error().message);
  if (written && count.not_stored > 0 && !shown.live) {
    say(text::format_count(count.not_stored) + " more calls were made but not stored" +
        (count.shed > 0 ? ", " + text::format_count(count.shed) + " of them for lack of time" : ""));
  }
  return written ? done : could_not;
}

}  // namespace

extern const Topic timeline_topic;
const Topic timeline_topic{"timeline",
                           takes::tables | takes::rank | takes::period | takes::sort | takes::function | takes::lines,
                           show_timeline};

}  // namespace pclscope::commands
