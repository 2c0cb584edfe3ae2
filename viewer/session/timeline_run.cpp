#include "viewer/session/timeline_run.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "interpose/record/functions.hpp"
#include "viewer/session/run_path.hpp"
#include "viewer/session/summary_json.hpp"
#include "viewer/text/quantities.hpp"

namespace pclscope::session {
namespace {

struct Rows {
  std::vector<MpiCall> calls;
  std::vector<TimelineMessage> messages;
  std::vector<Message> path_messages;
  std::vector<CollectiveCall> path_collectives;
  WaitsOfRanks waits;
  bool path = true;

  bool on_path() const { return path && path_messages.size() + path_collectives.size() < most_on_path; }
  void add(const Message& m) {
    waits.add(m);
    if (!(m.flags & message_flag::unseen_completion))
      messages.push_back({m.send_begin, m.recv_end, m.source, m.destination});
    path = on_path();
    if (path) path_messages.push_back(m);
    else path_messages = {};
  }
  void add(const CollectiveCall& c) {
    waits.add(c);
    path = on_path();
    if (path) path_collectives.push_back(c);
    else path_collectives = {};
  }
};

// Calls that had not returned, of the summary.
std::vector<MpiCall> running_of(const Snapshot& snapshot) {
  std::vector<MpiCall> calls;
  const double end_s = elapsed_s(snapshot);
  for (const RankSummary& rank : snapshot.ranks) {
    if (rank.call_function == 0 || rank.finished || !std::isfinite(rank.call_for_s) || !std::isfinite(end_s)) continue;
    MpiCall& call = calls.emplace_back();
    call.rank = rank.rank;
    call.function = rank.call_function;
    call.peer = rank.call_peer >= 0 ? rank.call_peer : MpiCall::nobody;
    call.end = std::llround(std::clamp(end_s, 0.0, 4e9) * 1e9);
    call.begin = call.end - std::llround(std::clamp(rank.call_for_s, 0.0, 4e9) * 1e9);
    call.site = rank.call_site;
  }
  return calls;
}

// Each in its place, in two passes: a list that is sorted afterwards would need the memory twice.
class Arranger {
 public:
  explicit Arranger(TimelineRun& run) : run_(run) {}

  // First pass.
  void count(const MpiCall& c) {
    if (c.rank < 0 || c.rank >= run_.ranks) return;
    if (counted_ == nullptr || last_ != std::pair(c.rank, c.thread)) {
      last_ = {c.rank, c.thread};
      counted_ = &threads_[last_];
    }
    ++counted_->count;
  }
  void lay_out() {
    std::size_t at = 0;
    for (auto& [who, thread] : threads_) {
      thread.next = at;
      run_.threads.push_back({who.first, who.second, at, at + thread.count});
      at += thread.count;
    }
    run_.calls.resize(at);
    counted_ = nullptr;
  }
  // Second pass, of the same calls.
  void put(const MpiCall& c, bool running) {
    if (c.rank < 0 || c.rank >= run_.ranks) return;
    if (counted_ == nullptr || last_ != std::pair(c.rank, c.thread)) {
      const auto found = threads_.find({c.rank, c.thread});
      if (found == threads_.end()) return;
      last_ = {c.rank, c.thread};
      counted_ = &found->second;
    }
    if (counted_->count == 0) return;  // a file that changed meanwhile
    --counted_->count;
    run_.calls[counted_->next++] = timeline_call(c, running);
  }
  void finish() {
    for (auto& thread : run_.threads) {
      const Counted& counted = threads_[{thread.rank, thread.thread}];
      thread.end -= counted.count;  // that did not come again
      const auto calls = std::span(run_.calls).subspan(thread.first, thread.end - thread.first);
      const auto before = [](const TimelineCall& a, const TimelineCall& b) {
        return a.begin != b.begin ? a.begin < b.begin : a.end < b.end;
      };
      if (!std::is_sorted(calls.begin(), calls.end(), before)) std::stable_sort(calls.begin(), calls.end(), before);
      // A broken record may have calls that overlap: each begins where the one before ended.
      for (std::size_t i = 1; i < calls.size(); ++i) {
        calls[i].begin = std::max(calls[i].begin, calls[i - 1].end);
        calls[i].end = std::max(calls[i].end, calls[i].begin);
      }
      if (calls.empty()) continue;
      run_.begin_ns = any_ ? std::min(run_.begin_ns, calls.front().begin) : calls.front().begin;
      run_.end_ns = any_ ? std::max(run_.end_ns, calls.back().end) : calls.back().end;
      any_ = true;
    }
    run_.end_ns = std::max(run_.end_ns, run_.begin_ns + 1);
    run_.first_of.assign(static_cast<std::size_t>(run_.ranks) + 1, 0);
    for (const TimelineThread& thread : run_.threads) ++run_.first_of[static_cast<std::size_t>(thread.rank) + 1];
    for (std::size_t i = 1; i < run_.first_of.size(); ++i) run_.first_of[i] += run_.first_of[i - 1];
  }

 private:
  struct Counted {
    std::size_t count = 0, next = 0;
  };
  TimelineRun& run_;
  std::map<std::pair<std::int32_t, std::uint16_t>, Counted> threads_;
  Counted* counted_ = nullptr;
  std::pair<std::int32_t, std::uint16_t> last_;
  bool any_ = false;
};

// MPI_Finalize tells its entry only; how long its rank was in it for others is known.
void lengthen_finalize(TimelineRun& run, const Snapshot& snapshot) {
  for (const RankSummary& rank : snapshot.ranks) {
    if (!(rank.finalize_s > 0) || !std::isfinite(rank.finalize_s)) continue;
    for (const TimelineThread& thread : run.of(rank.rank)) {
      if (thread.end == thread.first) continue;
      TimelineCall& last = run.calls[thread.end - 1];
      if (last.ending != CallEnding::unseen || record::function_name(last.function) != "MPI_Finalize") continue;
      last.end = last.begin + std::llround(std::min(rank.finalize_s, 4e9) * 1e9);
      run.end_ns = std::max(run.end_ns, last.end);
    }
  }
}

void settle(TimelineRun& run, Rows&& rows) {
  run.waits = std::move(rows.waits);
  run.waits.settle();
  run.messages = std::move(rows.messages);
  std::sort(run.messages.begin(), run.messages.end(),
            [](const TimelineMessage& a, const TimelineMessage& b) { return a.send_begin < b.send_begin; });
  for (const TimelineMessage& m : run.messages)
    run.longest_message_ns = std::max(run.longest_message_ns, m.recv_end - m.send_begin);
  if (rows.path) run.path = critical_path(run.ranks, rows.path_messages, rows.path_collectives).steps;
}

// Calls are not counted over time, but most come with messages.
Result<PartToRead> part_of_calls(Session& session, const CallCount& count, std::uint64_t most, const TimeSpan& wanted) {
  if (most >= count.stored || count.stored == 0) return PartToRead{};
  return part_to_read(
      session,
      static_cast<double>(session.message_count()) * static_cast<double>(most) / static_cast<double>(count.stored),
      wanted);
}

}  // namespace

TimelineCall timeline_call(const MpiCall& c, bool running) {
  return {c.begin,
          std::max(c.begin, c.end),
          static_cast<float>(c.outside),
          static_cast<float>(c.bytes),
          static_cast<std::uint32_t>(c.site),
          c.peer,
          c.function,
          c.ending,
          running};
}

std::span<const TimelineThread> TimelineRun::of(std::int32_t rank) const {
  const auto at = static_cast<std::size_t>(rank);
  if (rank < 0 || at + 1 >= first_of.size()) return {};
  return std::span(threads).subspan(first_of[at], first_of[at + 1] - first_of[at]);
}

std::span<const TimelineCall> TimelineRun::within(const TimelineThread& thread, std::int64_t begin_ns,
                                                  std::int64_t end_ns) const {
  const auto all = std::span(calls).subspan(thread.first, thread.end - thread.first);
  // Ends ascend as begins do.
  const auto first =
      std::partition_point(all.begin(), all.end(), [&](const TimelineCall& call) { return call.end < begin_ns; });
  const auto end =
      std::partition_point(first, all.end(), [&](const TimelineCall& call) { return call.begin < end_ns; });
  return {first, end};
}

std::shared_ptr<const TimelineRun> timeline_of(std::int32_t ranks, std::span<const MpiCall> calls,
                                               std::span<const Message> messages,
                                               std::span<const CollectiveCall> collectives, bool path) {
  auto run = std::make_shared<TimelineRun>();
  run->ranks = ranks;
  run->count = {true, calls.size(), 0, 0};
  Arranger arranger(*run);
  for (const MpiCall& call : calls) arranger.count(call);
  arranger.lay_out();
  for (const MpiCall& call : calls) arranger.put(call, false);
  arranger.finish();
  Rows rows;
  rows.path = path;
  for (const Message& m : messages) rows.add(m);
  for (const CollectiveCall& c : collectives) rows.add(c);
  settle(*run, std::move(rows));
  return run;
}

std::shared_ptr<const TimelineRun> timeline_of_newest(std::int32_t ranks, std::span<const MpiCall> calls,
                                                      std::span<const MpiCall> running, std::int64_t begin_ns,
                                                      std::int64_t end_ns) {
  auto run = std::make_shared<TimelineRun>();
  run->ranks = std::max(ranks, 0);
  run->live = true;
  run->count = {true, calls.size(), 0, 0};
  Arranger arranger(*run);
  for (const auto& all : {calls, running})
    for (const MpiCall& call : all) arranger.count(call);
  arranger.lay_out();
  for (const MpiCall& call : calls) arranger.put(call, false);
  for (const MpiCall& call : running) arranger.put(call, true);
  arranger.finish();
  run->begin_ns = begin_ns;
  run->end_ns = std::max(end_ns, begin_ns + 1);
  run->waits.settle();
  return run;
}

Result<std::shared_ptr<TimelineRun>> read_timeline(Session& session, const Snapshot& snapshot,
                                                   const std::function<bool(double)>& progress,
                                                   const TimelineReading& reading) {
  auto run = std::make_shared<TimelineRun>();
  run->ranks = std::max(snapshot.application.ranks, 0);
  run->count = session.mpi_call_count();
  const std::uint64_t wanted = std::min<std::uint64_t>(run->count.stored, reading.most_calls);
  if (const auto part = part_of_calls(session, run->count, wanted, reading.wanted); part) run->part = *part;
  else return part.error();
  TimeSpan span = run->part.span;
  bool cut = false;  // there are more calls in it than are read
  const double all = static_cast<double>(std::max<std::uint64_t>(2 * wanted + session.message_count(), 1));
  std::uint64_t done = 0;
  bool stopped = false;
  std::int64_t last_ns = INT64_MIN;
  const auto each_call = [&](auto&& take) {
    std::uint64_t left = wanted;
    return session.mpi_calls(span, [&](std::span<const MpiCall> batch) {
      for (const MpiCall& call : batch) {
        if (left == 0) {
          cut = true;
          return false;
        }
        --left;
        take(call);
      }
      done += batch.size();
      return !(stopped = !progress(std::min(1.0, static_cast<double>(done) / all)));
    });
  };
  Arranger arranger(*run);
  Status read = each_call([&](const MpiCall& call) {
    arranger.count(call);
    last_ns = std::max(last_ns, call.end);
  });
  cut = cut || span.end_ns != INT64_MAX;
  const std::vector<MpiCall> running = cut ? std::vector<MpiCall>() : running_of(snapshot);
  for (const MpiCall& call : running) arranger.count(call);
  arranger.lay_out();
  if (read && !stopped) read = each_call([&](const MpiCall& call) { arranger.put(call, false); });
  for (const MpiCall& call : running) arranger.put(call, true);
  arranger.finish();
  lengthen_finalize(*run, snapshot);
  if (cut) span.end_ns = last_ns;  // what is not shown is not read
  if (cut || !run->part.all) {
    run->part = {span, false};
    run->lacks = words_of_part("calls", run->calls.size(), run->count.stored, run->begin_ns, run->end_ns);
  }
  Rows rows;
  if (read && !stopped) {
    read = session.messages(span, [&](std::span<const Message> batch) {
      for (const Message& m : batch) rows.add(m);
      done += batch.size();
      return !(stopped = !progress(std::min(1.0, static_cast<double>(done) / all)));
    });
  }
  if (read && !stopped) {
    read = session.collectives(span, [&](std::span<const CollectiveCall> batch) {
      for (const CollectiveCall& c : batch) rows.add(c);
      return !(stopped = !progress(1));
    });
  }
  if (!read) return read.error();
  settle(*run, std::move(rows));
  return run;
}

}  // namespace pclscope::session
