#include "viewer/session/stored_replay.hpp"

#include <algorithm>
#include <optional>
#include <string>

#include "analysis/values/wait_state.hpp"
#include "viewer/text/quantities.hpp"
#include "viewer/text/rank_list.hpp"

namespace pclscope::session {
namespace {

constexpr std::size_t most_messages = 3'000'000;

// Empty when that is too much.
Result<std::optional<StoredCalls>> stored_in(Session& session, TimeSpan span, const std::function<bool()>& ended) {
  StoredCalls stored;
  stored.read = span;
  bool all = true, over = false;
  const auto append = [&](auto& rows, auto batch) {
    rows.insert(rows.end(), batch.begin(), batch.end());
    over = ended && ended();
    all = rows.size() <= most_messages;
    return all && !over;
  };
  span.or_end = true;
  Status read = session.messages(span, [&](std::span<const Message> b) { return append(stored.messages, b); });
  if (!read) return read.error();
  if (all && !over)
    read = session.collectives(span, [&](std::span<const CollectiveCall> b) { return append(stored.collectives, b); });
  if (!read) return read.error();
  if (over) return Error{ErrorCode::unreachable, "ended before all calls were read"};
  if (!all) return std::optional<StoredCalls>();
  return std::optional<StoredCalls>(std::move(stored));
}

// From the first begin to the last end.
TimeSpan extent(const StoredCalls& calls) {
  TimeSpan span{INT64_MAX, INT64_MIN};
  for (const Message& m : calls.messages) {
    span.begin_ns = std::min({span.begin_ns, m.send_begin, m.recv_post});
    span.end_ns = std::max(span.end_ns, m.recv_end);
  }
  for (const CollectiveCall& c : calls.collectives) {
    span.begin_ns = std::min(span.begin_ns, c.begin);
    span.end_ns = std::max(span.end_ns, c.end);
  }
  return span;
}

}  // namespace

Result<StoredCalls> read_calls(Session& session, TimeSpan around, const TimeSpan& span,
                               const std::function<bool()>& ended) {
  if (const std::uint64_t lost = session.collectives_not_stored(); lost > 0)
    return Error{ErrorCode::not_found, text::format_count(lost) +
                                           " calls of collectives are not in the dump, for which it had no room: a "
                                           "replay would miss who waited in them"};
  auto calls = stored_in(session, around, ended);
  if (calls && !*calls) calls = stored_in(session, span, ended);
  if (!calls) return calls.error();
  if (!*calls)
    return Error{ErrorCode::not_found, "more than " + text::format_count(most_messages) +
                                           " messages in this period: ask for a shorter one with --from and --to"};
  StoredCalls& stored = **calls;
  stored.some_left_out = session.messages_not_stored() > 0;
  if (stored.some_left_out) {
    const auto windows = session.windows();
    if (!windows) return windows.error();
    stored.whole = whatif::whole_parts(*windows, stored.messages, stored.read.begin_ns, stored.read.end_ns);
  }
  return std::move(stored);
}

NotReplayed not_replayed(const StoredCalls& stored, const TimeSpan& span, std::span<const std::int32_t> ranks,
                         const Snapshot& run) {
  NotReplayed n;
  const std::int32_t all = run.application.ranks;
  double waited = 0;
  for (const CollectiveCall& c : stored.collectives) {
    const std::int64_t begin = std::max(c.wait_begin(), span.begin_ns);
    const std::int64_t end = std::min(c.wait_begin() + c.wait(), span.end_ns);
    const WaitGroup group = group_of(c);
    if ((group != WaitGroup::one_sided && group != WaitGroup::file) || end <= begin) continue;
    if (!ranks.empty() && std::find(ranks.begin(), ranks.end(), c.awaited) == ranks.end()) continue;
    waited += static_cast<double>(end - begin) * 1e-9;
  }
  const TimeSpan there = extent(stored);
  const double period = static_cast<double>(std::min(there.end_ns, span.end_ns)) * 1e-9 -
                        static_cast<double>(std::max(there.begin_ns, span.begin_ns)) * 1e-9;
  if (period > 0 && all > 0) n.of_ranks = waited / (period * all);
  for (const RankSummary& r : run.ranks) {
    n.files += r.one_sided_s + r.file_s;
    n.other += r.other_s;
    if (r.other_s > n.worst) {
      n.worst = r.other_s;
      n.worst_rank = r.rank;
    }
  }
  const double time = run.duration_s * all;
  n.files = time > 0 ? n.files / time : 0;
  n.other = time > 0 ? n.other / time : 0;
  n.worst = time > 0 ? n.worst / run.duration_s : 0;
  return n;
}

Status is_told(const WhatIf& w, const NotReplayed& n, std::span<const std::int32_t> ranks) {
  constexpr double worth_telling = 0.05;
  const double gain = std::max(w.gain(), 0.0);
  if (n.of_ranks > std::max(worth_telling, gain))
    return Error{ErrorCode::not_found, "cannot be told: one-sided calls and files are not replayed, and for " +
                                           text::format_share(n.of_ranks) + " of their time ranks wait there" +
                                           (ranks.empty() ? ""
                                                          : (ranks.size() == 1 ? " for rank " : " for ranks ") +
                                                                text::compact_ranks({ranks.begin(), ranks.end()}, 24))};
  if (n.worst > std::max(worth_telling, gain))
    return Error{ErrorCode::not_found, "cannot be told: " + text::format_share(n.worst) + " of rank " +
                                           std::to_string(n.worst_rank) +
                                           "'s time is inside MPI in calls whose waits are not known, more than a "
                                           "replay of the others would save"};
  return {};
}

Status cut_to_calls(TimeSpan& span, StoredCalls& calls) {
  std::erase_if(calls.collectives, [](const CollectiveCall& c) {
    return group_of(c) != WaitGroup::collective && group_of(c) != WaitGroup::point_to_point;
  });
  const TimeSpan there = extent(calls);
  span.begin_ns = std::max(span.begin_ns, there.begin_ns);
  span.end_ns = std::min(span.end_ns, there.end_ns);
  if (span.begin_ns < span.end_ns) return {};
  return Error{ErrorCode::not_found, "no messages of this period are in the dump: nothing to replay"};
}

Result<WhatIf> replay_stored(std::int32_t ranks, std::span<const std::int32_t> node_of_rank, const StoredCalls& calls,
                             const TimeSpan& span, const whatif::Change& change) {
  const std::vector<whatif::Period> all = {{INT64_MIN, INT64_MAX}};
  auto result = whatif::what_if({ranks, calls.messages, calls.collectives, node_of_rank},
                                calls.some_left_out ? calls.whole : all, span.begin_ns, span.end_ns, change);
  if (!result && calls.some_left_out)
    return Error{result.error().code, result.error().message + "; pclscope run --keep all keeps them"};
  return result;
}

}  // namespace pclscope::session
