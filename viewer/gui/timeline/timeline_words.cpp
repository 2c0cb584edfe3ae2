#include "viewer/gui/timeline/timeline_words.hpp"

#include <algorithm>

#include "viewer/gui/base/selected_call.hpp"
#include "viewer/text/quantities.hpp"
#include "viewer/views/function_names.hpp"

namespace pclscope::gui {
namespace {

double in_seconds(std::int64_t ns) { return static_cast<double>(ns) * 1e-9; }

}  // namespace

TimelinePlace place_at(const session::TimelineRun& run, std::int32_t rank, std::int64_t at_ns, std::int64_t reach_ns) {
  TimelinePlace best;
  std::int64_t distance = reach_ns + 1;
  for (const session::TimelineThread& thread : run.of(rank)) {
    for (const session::TimelineCall& call : run.within(thread, at_ns - reach_ns, at_ns + reach_ns + 1)) {
      const std::int64_t off = at_ns < call.begin ? call.begin - at_ns : std::max<std::int64_t>(at_ns - call.end, 0);
      if (off < distance) {
        distance = off;
        best = {rank, thread.thread, static_cast<std::size_t>(&call - run.calls.data()), false};
      }
    }
    if (best.rank >= 0) continue;
    // Outside MPI: the call behind says so.
    const auto all = std::span(run.calls).subspan(thread.first, thread.end - thread.first);
    const auto next = std::partition_point(all.begin(), all.end(),
                                           [&](const session::TimelineCall& call) { return call.begin <= at_ns; });
    if (next != all.end() && next->begin - static_cast<std::int64_t>(next->outside) <= at_ns)
      best = {rank, thread.thread, static_cast<std::size_t>(&*next - run.calls.data()), true};
  }
  return best;
}

std::string call_words(const session::TimelineRun& run, const TimelinePlace& place, const views::Sites& sites) {
  const session::TimelineCall& call = run.calls[place.call];
  const bool threads = run.of(place.rank).size() > 1;
  std::string text =
      "rank " + std::to_string(place.rank) + (threads ? ", thread " + std::to_string(place.thread) : "") + ": ";
  if (place.outside) {
    return text + "outside MPI for " + text::format_seconds(static_cast<double>(call.outside) * 1e-9) + "\nthen " +
           views::function_name(call.function) + " at " + sites.brief(call.site) + ", " +
           text::format_moment(in_seconds(call.begin));
  }
  text += views::function_name(call.function) + " at " + sites.with_caller(call.site);
  text += "\nentered at " + text::format_moment(in_seconds(call.begin));
  if (call.running)
    text += ", for " + text::format_seconds(in_seconds(call.end - call.begin)) +
            (run.live ? " so far" : " until the record ended");
  else if (call.ending == CallEnding::unseen)
    text +=
        "; its return left no time" +
        (call.end > call.begin ? ", others were awaited for " + text::format_seconds(in_seconds(call.end - call.begin))
                               : std::string());
  else text += ", took " + text::format_seconds(in_seconds(call.end - call.begin));
  if (call.peer >= 0) text += "\npartner: rank " + std::to_string(call.peer);
  else if (call.peer == MpiCall::several) text += "\nseveral partners";
  if (call.bytes > 0)
    text += (call.peer >= 0 || call.peer == MpiCall::several ? ", " : "\n") +
            text::format_bytes(static_cast<double>(call.bytes));
  const auto inside = run.waits.inside(place.rank, call.begin, call.end);
  if (inside.longest != nullptr) {
    text += "\nwaited " + text::format_seconds(in_seconds(inside.waited_ns)) + " for rank " +
            std::to_string(inside.longest->awaited) + ": " + name_of(inside.longest->state);
  }
  if (call.outside > 0)
    text += "\noutside MPI before it: " + text::format_seconds(static_cast<double>(call.outside) * 1e-9);
  return text;
}

void select_call(const session::TimelineRun& run, const TimelinePlace& place, const Snapshot& snapshot,
                 Selection& selection) {
  const session::TimelineCall& call = run.calls[place.call];
  select_call({place.rank, place.thread, call.function, call.site, call.begin, call.end}, snapshot, selection);
  if (!place.outside) return;
  selection.call.reset();
  const std::int64_t begin = call.begin - static_cast<std::int64_t>(call.outside);
  if (call.begin > begin) selection.period = SelectedPeriod{in_seconds(begin), in_seconds(call.begin)};
}

}  // namespace pclscope::gui
