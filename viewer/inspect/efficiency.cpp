// pclscope inspect TARGET efficiency: how well ranks' time is used, of the job, of parts that the program named, of
// patterns, regions and periods.
#include "analysis/efficiency/efficiency.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "analysis/delay/critical_path.hpp"
#include "viewer/inspect/efficiencies.hpp"
#include "viewer/inspect/stored_calls.hpp"
#include "viewer/inspect/topic.hpp"
#include "viewer/session/regions.hpp"
#include "viewer/views/efficiency_rows.hpp"

namespace pclscope::commands {
namespace {

using efficiency::RankTime;
using session::Json;
using session::TimeSpan;
using views::EfficiencyRow;
using Scope = EfficiencyRow::Scope;

constexpr std::uint64_t most_at_once = 3'000'000;  // messages that are read without being asked for a period

struct Answer {
  std::vector<EfficiencyRow> rows;
  std::vector<RankTime> ranks;  // of the first row
  std::string why_partial;
};

std::int64_t ns(double s) { return std::llround(std::clamp(s, -4e9, 4e9) * 1e9); }

bool is_whole(const TimeSpan& span) { return span.begin_ns == INT64_MIN && span.end_ns == INT64_MAX; }

TimeSpan interval_of(const Region& region) {
  TimeSpan span;
  if (region.from_s > 0) span.begin_ns = ns(region.from_s);
  if (region.until_s >= 0) span.end_ns = ns(region.until_s);
  return span;
}

TimeSpan overlap_of(const TimeSpan& a, const TimeSpan& b) {
  return {std::max(a.begin_ns, b.begin_ns), std::min(a.end_ns, b.end_ns)};
}

bool is_of_run(const Snapshot& s) { return s.pattern.changes == 0; }

// Of ranks' times in a span: the first row is of all ranks.
void add_rows(const std::vector<RankTime>& times, double replayed, Scope scope, std::span<const Region* const> regions,
              bool all_ranks, Answer& answer) {
  if (all_ranks) answer.rows.push_back({scope, -1, efficiency::efficiency_of(times, replayed), {}});
  for (const Region* region : regions)
    answer.rows.push_back({Scope::region, region->id, efficiency::efficiency_of(times, replayed, region->ranks), {}});
  if (answer.ranks.empty()) answer.ranks = times;
}

// None where nobody waited for a message: there is no path.
std::optional<double> path_useful_s(const Snapshot& s, const StoredCalls& calls, const TimeSpan& span) {
  double sum = 0;
  const CriticalPath path = critical_path(s.application.ranks, calls.messages, calls.collectives, span.begin_ns,
                                          span.end_ns, lives_of(calls, s));
  if (path.shares.empty()) return std::nullopt;
  for (const PathShare& share : path.shares)
    if (share.kind == PathKind::computation) sum += share.on_path_s;
  return sum;
}

// Of a span, from the messages and calls in the dump.
Status add_stored(InspectedRun& run, const TimeSpan& span, Scope scope, std::span<const Region* const> regions,
                  bool all_ranks, Answer& answer) {
  TimeSpan wanted = span;
  wanted.or_end = true;  // what was under way at its ends, too
  const auto calls = read_calls(wanted, run);
  if (!calls) return calls.error();
  const auto times =
      efficiency::rank_times(run.snapshot, {calls->messages, calls->collectives}, span.begin_ns, span.end_ns);
  if (!times) return times.error();
  const std::size_t first = answer.rows.size();
  add_rows(*times, 1, scope, regions, all_ranks, answer);
  if (all_ranks) answer.rows[first].path_useful_s = path_useful_s(run.snapshot, *calls, span);
  if (answer.why_partial.empty()) answer.why_partial = calls->why_partial;
  return {};
}

std::vector<const Region*> chosen_regions(const InspectWords& words, const Snapshot& s, bool ended) {
  std::vector<const Region*> list;
  for (const std::vector<Region>* regions : {&s.regions, &s.ended_regions}) {
    if (regions == &s.ended_regions && !ended) break;
    for (const Region& region : *regions)
      if (!words.region || *words.region == region.id) list.push_back(&region);
  }
  return list;
}

// Patterns one after the other, each with its regions.
Status add_patterns(const InspectWords& words, InspectedRun& run, const TimeSpan& asked, Answer& answer) {
  std::vector<const Region*> regions = chosen_regions(words, run.snapshot, true);
  std::stable_sort(regions.begin(), regions.end(), [](const Region* a, const Region* b) {
    return std::pair(a->from_s, a->until_s) < std::pair(b->from_s, b->until_s);
  });
  for (std::size_t i = 0; i < regions.size();) {
    const auto same = [&](const Region* r) {
      return r->from_s == regions[i]->from_s && r->until_s == regions[i]->until_s;
    };
    std::size_t end = i;
    while (end < regions.size() && same(regions[end])) ++end;
    const TimeSpan span = overlap_of(asked, interval_of(*regions[i]));
    if (span.begin_ns < span.end_ns)
      if (const Status added =
              add_stored(run, span, Scope::pattern, std::span(regions).subspan(i, end - i), !words.region, answer);
          !added)
        return added;
    i = end;
  }
  return {};
}

Result<Answer> answer_to(const InspectWords& words, const TimeSpan& span, InspectedRun& run) {
  Answer answer;
  const Snapshot& s = run.snapshot;
  const bool whole = is_whole(span), live = run.session->live();
  if (words.region)
    if (const auto found = session::find_region(s, *words.region); !found) return found.error();
  const auto none_of_run = [&](const Status& status) { return Error{status.error()}; };
  if (whole) {
    answer.why_partial = why_incomplete(run);
    const auto times = efficiency::rank_times(s);
    const auto regions = is_of_run(s) ? chosen_regions(words, s, false) : std::vector<const Region*>();
    add_rows(times, efficiency::replayed(s), Scope::job, regions, !words.region, answer);
    if (!words.region)
      for (const Marker& m : s.markers)
        answer.rows.push_back({Scope::marker, -1, efficiency::efficiency_of(m, times), {}, m.name});
    const bool few = run.session->message_count() <= most_at_once;
    if (!live && few && !words.region && !answer.ranks.empty())
      if (const auto calls = read_calls(span, run)) answer.rows.front().path_useful_s = path_useful_s(s, *calls, span);
    if (is_of_run(s)) return answer;
    if (live && words.region)
      return Error{ErrorCode::bad_argument, "a running job tells the efficiency of regions of its first pattern only"};
    if (live || !few) return answer;
    if (const Status added = add_patterns(words, run, span, answer); !added) return none_of_run(added);
    return answer;
  }
  if (live) return Error{ErrorCode::bad_argument, "a running job gives summaries only: give the dump file instead"};
  if (!is_of_run(s)) {
    if (!words.region)
      if (const Status added = add_stored(run, span, Scope::job, {}, true, answer); !added) return none_of_run(added);
    if (const Status added = add_patterns(words, run, span, answer); !added) return none_of_run(added);
    return answer;
  }
  const std::vector<const Region*> regions = chosen_regions(words, s, false);
  if (const Status added = add_stored(run, span, Scope::job, regions, !words.region, answer); !added)
    return none_of_run(added);
  return answer;
}

bool is_nothing_known(const Answer& answer) {
  return std::none_of(answer.rows.begin(), answer.rows.end(), [](const EfficiencyRow& row) { return row.of.known(); });
}

int show_efficiency(const InspectWords& words, InspectedRun& run) {
  const auto span = span_of(words, run);
  if (!span) return fail(span.error());
  auto found = answer_to(words, *span, run);
  if (!found) return fail(could_not, found.error().message);
  Answer& answer = *found;
  if (is_nothing_known(answer))
    return fail(could_not, is_whole(*span)
                               ? "it is not known when its ranks began and ended: an older dump, or none has come yet"
                               : "no rank was between MPI_Init and MPI_Finalize in this period, as far as is known");
  cut(words, answer.rows);
  const auto json = [&]() -> Json {
    const Efficiency of = efficiency::efficiency_of(answer.ranks, 0);
    return {
        {"efficiencies", array_of(answer.rows, [](const EfficiencyRow& row) { return views::efficiency_json(row); })},
        {"ranks", array_of(answer.ranks, [&](const RankTime& t) { return views::rank_time_json(t, of); })}};
  };
  return show(
      words, run, answer.why_partial,
      [&](const views::PageOptions& page) { return views::efficiency_lines(answer.rows, page.width); },
      [&] { return views::efficiency_rows(answer.rows); }, json);
}

}  // namespace

std::vector<EfficiencyRow> efficiencies_of_run(InspectedRun& run) {
  auto answer = answer_to({}, {}, run);
  return answer ? std::move(answer->rows) : std::vector<EfficiencyRow>();
}

extern const Topic efficiency_topic;
const Topic efficiency_topic{"efficiency", takes::tables | takes::region | takes::period, show_efficiency};

}  // namespace pclscope::commands
