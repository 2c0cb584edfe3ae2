#include "analysis/blocked/blocked.hpp"

#include <algorithm>

#include "analysis/blocked/call_kind.hpp"
#include "analysis/blocked/process_tasks.hpp"
#include "analysis/values/site_key.hpp"

namespace pclscope::blocked {
namespace {

// Lists of ranks in snapshots are cut: with everybody waiting for everybody they would grow with the square of the
// ranks.
constexpr std::size_t most_listed = 64;

std::vector<std::int32_t> listed(std::vector<std::int32_t> ranks) {
  if (ranks.size() > most_listed) ranks.resize(most_listed);
  return ranks;
}

bool names_its_partner(CallKind kind) {
  return kind == CallKind::receive || kind == CallKind::send || kind == CallKind::exchange;
}

}  // namespace

Blocked::Blocked(std::int32_t ranks, std::int64_t window_ns, const Matcher& matcher, SiteOf site_of)
    : matcher_(matcher),
      site_of_(std::move(site_of)),
      times_(ranks, window_ns),
      participants_(std::max(ranks, 0)),
      operations_(ranks),
      ranks_(static_cast<std::size_t>(std::max(ranks, 0))),
      shown_(ranks_.size()) {}

void Blocked::set_tick_scale(TickScale scale) {
  scale_ = scale;
  times_.set_tick_scale(scale);
}

void Blocked::add(std::int32_t rank, std::uint32_t thread, std::span<const record::Event> events) {
  times_.add(rank, thread, events);
  participants_.add(rank, events);
  operations_.add(rank, events);
}

std::uint64_t Blocked::now_ticks() const {
  return scale_.origin_ticks + static_cast<std::uint64_t>(static_cast<double>(now_ns_) / scale_.ns_per_tick);
}

void Blocked::sample(std::span<const ThreadView> threads, std::int64_t now_ns) {
  now_ns_ = now_ns;
  for (RankNow& rank : ranks_) {
    rank.calls.clear();
    rank.headers.clear();
    rank.blocked = false;
  }
  inside_.clear();
  CurrentCall call;
  for (const ThreadView& view : threads) {
    if (view.rank < 0 || static_cast<std::size_t>(view.rank) >= ranks_.size()) continue;
    RankNow& rank = ranks_[static_cast<std::size_t>(view.rank)];
    rank.many_threads = view.header->threads != record::Threads::one_at_a_time;
    rank.headers.push_back(view.header);
    rank.finished = view.header->state.load(std::memory_order_acquire) == record::ProcessState::finalizing;
    read_current_call(*view.header, call);
    if (call.function == 0) continue;
    call.thread = view.thread;
    inside_.push_back({view.rank, call.function, call.since, view.thread});
    rank.calls.push_back(call);
  }
  times_.sample(inside_, now_ticks());
  show_calls();
}

// Of several threads the one that has been inside longest.
void Blocked::show_calls() {
  for (std::size_t r = 0; r < ranks_.size(); ++r) {
    const auto& calls = ranks_[r].calls;
    const auto longest = std::min_element(calls.begin(), calls.end(),
                                          [](const CurrentCall& a, const CurrentCall& b) { return a.since < b.since; });
    shown_[r].call = longest == calls.end() ? CurrentCall{} : *longest;
  }
}

void Blocked::look(std::span<const ThreadView> threads, bool all_found) {
  for (Shown& shown : shown_) shown.waits_since = 0;
  waits_.clear();
  if (!someone_blocked()) {
    deadlocks_.clear();
    return;
  }
  judge(threads, all_found);
  RankWaits waits(ranks_, matcher_, participants_, operations_);
  note_waits(waits);
  note_deadlocks(waits);
  if (!for_others_) return;
  waits_ = waits.reports();
  for (std::size_t r = 0; r < waits_.size(); ++r) {
    if (!waits_[r].blocked) continue;
    waits_[r].since_ns = scale_.to_ns(ranks_[r].calls[0].since);
    waits_[r].looked_ns = now_ns_;
  }
}

bool Blocked::someone_blocked() const {
  return std::any_of(shown_.begin(), shown_.end(),
                     [&](const Shown& s) { return s.call.function != 0 && lasts(s.call, blocked_after_ns); });
}

// Which ranks can do nothing but what their calls wait for, and are known completely.
void Blocked::judge(std::span<const ThreadView> threads, bool all_found) {
  std::vector<ThreadView> by_rank(threads.begin(), threads.end());
  std::stable_sort(by_rank.begin(), by_rank.end(),
                   [](const ThreadView& a, const ThreadView& b) { return a.rank < b.rank; });
  for (auto first = by_rank.begin(); first != by_rank.end();) {
    const auto last = std::find_if(first, by_rank.end(), [&](const ThreadView& t) { return t.rank != first->rank; });
    if (first->rank >= 0 && static_cast<std::size_t>(first->rank) < ranks_.size()) {
      RankNow& now = ranks_[static_cast<std::size_t>(first->rank)];
      now.blocked = all_found && nothing_else_can_run(now, {first, last});
      now.ending = !deadlocks_.empty() && being_ended(now, {first, last});
    }
    first = last;
  }
}

bool Blocked::nothing_else_can_run(const RankNow& now, std::span<const ThreadView> of_rank) const {
  if (now.calls.empty() || now.finished) return false;
  for (const CurrentCall& call : now.calls)
    if (!lasts(call, blocked_after_ns)) return false;
  std::uint64_t dropped = 0;
  const record::SegmentHeader* main = nullptr;
  for (const ThreadView& view : of_rank) {
    if (view.unread) return false;
    dropped += view.header->dropped.load(std::memory_order_relaxed);
    if (view.thread == 0) main = view.header;
  }
  const std::int32_t rank = of_rank.front().rank;
  if (main == nullptr || matcher_.is_behind(rank) || participants_.in_doubt(rank) ||
      dropped != participants_.lost(rank))
    return false;
  if (!now.many_threads) return true;
  // Threads that never called MPI have no ring; those that ended have an empty one.
  const std::uint32_t mpi_own = main->tasks == 0 ? 0 : main->tasks - 1;
  const std::uint32_t tasks = main->threads == record::Threads::many && main->tasks > 0 ? process_tasks(main->pid) : 0;
  return tasks > mpi_own && now.calls.size() >= tasks - mpi_own;
}

// Its threads are fewer than those that MPI had at the start: it is being killed.
bool Blocked::being_ended(const RankNow& now, std::span<const ThreadView> of_rank) {
  const auto main =
      std::find_if(of_rank.begin(), of_rank.end(), [](const ThreadView& view) { return view.thread == 0; });
  return now.many_threads && main != of_rank.end() && main->header->tasks > 0 &&
         process_tasks(main->header->pid) < main->header->tasks;
}

void Blocked::note_waits(const RankWaits& waits) {
  const auto& waiters = waits.graph().waiters;
  for (std::size_t w = 0; w < waiters.size(); ++w) {
    const auto rank = static_cast<std::size_t>(waiters[w].rank);
    Shown& shown = shown_[rank];
    if (ranks_[rank].calls[waits.call_of(w)].since != shown.call.since) continue;
    shown.waits_for = waits.waits_for(w);
    shown.waits_since = shown.call.since;
  }
}

namespace {

bool touches(const Deadlock& one, const Deadlock& other) {
  return std::any_of(one.members.begin(), one.members.end(), [&](const DeadlockMember& a) {
    return std::any_of(other.members.begin(), other.members.end(),
                       [&](const DeadlockMember& b) { return a.rank == b.rank; });
  });
}

}  // namespace

void Blocked::note_deadlocks(const RankWaits& waits) {
  std::vector<Deadlock> found;
  for (const Knot& knot : find_knots(waits.graph())) {
    const bool long_enough = std::all_of(knot.ranks.begin(), knot.ranks.end(), [&](std::int32_t r) {
      const auto& calls = ranks_[static_cast<std::size_t>(r)].calls;
      return std::all_of(calls.begin(), calls.end(), [&](const CurrentCall& c) { return lasts(c, deadlock_after_ns); });
    });
    if (long_enough) found.push_back(describe(knot, waits));
  }
  for (Deadlock& deadlock : found) {
    const auto before = std::find_if(deadlocks_.begin(), deadlocks_.end(),
                                     [&](const Deadlock& d) { return d.members == deadlock.members; });
    if (before != deadlocks_.end()) deadlock.found_s = before->found_s;
    tell_once(deadlock);
  }
  // What was proven stays so while nobody has left: of processes that are being killed it cannot be proven anew.
  for (Deadlock& before : deadlocks_)
    if (ends_inside(before) &&
        std::none_of(found.begin(), found.end(), [&](const Deadlock& d) { return touches(d, before); }))
      found.push_back(std::move(before));
  deadlocks_ = std::move(found);
}

bool Blocked::ends_inside(const Deadlock& deadlock) const {
  const bool ending = std::any_of(deadlock.members.begin(), deadlock.members.end(), [&](const DeadlockMember& member) {
    return ranks_[static_cast<std::size_t>(member.rank)].ending;
  });
  return ending && std::all_of(deadlock.members.begin(), deadlock.members.end(), [&](const DeadlockMember& member) {
           const auto& calls = ranks_[static_cast<std::size_t>(member.rank)].calls;
           return std::any_of(calls.begin(), calls.end(), [&](const CurrentCall& c) {
             return c.function == member.function && seconds(c.since) == member.since_s;
           });
         });
}

Deadlock Blocked::describe(const Knot& knot, const RankWaits& waits) const {
  Deadlock deadlock;
  deadlock.on_finished = knot.on_finished;
  deadlock.found_s = static_cast<double>(now_ns_) * 1e-9;
  const auto& waiters = waits.graph().waiters;
  for (const std::int32_t rank : knot.ranks) {
    const auto first = std::lower_bound(waiters.begin(), waiters.end(), rank,
                                        [](const Waiter& w, std::int32_t r) { return w.rank < r; });
    const auto w = static_cast<std::size_t>(first - waiters.begin());
    const CurrentCall& call = ranks_[static_cast<std::size_t>(rank)].calls[waits.call_of(w)];
    WaitsFor waits_for = waits.waits_for(w);
    DeadlockMember member;
    member.rank = rank;
    member.function = call.function;
    member.site = site_of(rank, call);
    member.comm = call.comm;
    member.called = waits.called(rank);
    member.tag = call.tag;
    member.waits_for = listed(std::move(waits_for.ranks));
    member.waits_for_any = waits_for.any;
    member.since_s = seconds(call.since);
    deadlock.since_s = std::max(deadlock.since_s, member.since_s);
    deadlock.members.push_back(std::move(member));
  }
  return deadlock;
}

void Blocked::tell_once(const Deadlock& deadlock) {
  bool fresh = true;
  for (const DeadlockMember& m : deadlock.members) {
    Shown& shown = shown_[static_cast<std::size_t>(m.rank)];
    fresh = fresh && shown.told_since != shown.call.since;
    shown.told_since = shown.call.since;
  }
  if (fresh) news_.push_back(deadlock);
}

std::vector<Deadlock> Blocked::news() {
  std::vector<Deadlock> news;
  news.swap(news_);
  return news;
}

std::vector<SiteTime> Blocked::site_times() const {
  if (!site_of_) return {};
  return times_.sites().list(scale_.ns_per_tick * 1e-9, [this](std::int32_t rank, std::uint64_t key) {
    return site_of_(rank, site_address(key), site_function(key));
  });
}

void Blocked::fill_density(Snapshot& snapshot) {
  snapshot.call_density = shown_density_.of(times_.density(), times_.running(inside_, now_ticks()), snapshot.ended);
}

DensityPart Blocked::density(const DensityQuestion& question) {
  return times_.density().part(question, times_.running(inside_, now_ticks()));
}

std::vector<MpiCall> Blocked::running_calls() const {
  std::vector<MpiCall> running;
  for (std::size_t r = 0; r < ranks_.size(); ++r) {
    if (ranks_[r].finished) continue;
    for (const CurrentCall& current : ranks_[r].calls) {
      const std::int64_t begin = scale_.to_ns(current.since);
      if (call_kind(current.function) == CallKind::polling || begin > now_ns_) continue;
      MpiCall& call = running.emplace_back();
      call.comm = current.comm;
      call.rank = static_cast<std::int32_t>(r);
      call.thread = static_cast<std::uint16_t>(current.thread);
      call.function = current.function;
      call.peer = current.peer >= 0 ? current.peer : MpiCall::nobody;
      call.begin = begin;
      call.end = now_ns_;
      call.site = current.site;
    }
  }
  return running;
}

void Blocked::fill(Snapshot& snapshot, const AliveUntil& alive_until) const {
  snapshot.functions = times_.list(inside_, now_ticks());
  snapshot.deadlocks = deadlocks_;
  std::vector<std::int32_t> unfinished;
  for (std::size_t r = 0; r < ranks_.size() && unfinished.size() < most_listed; ++r)
    if (!ranks_[r].finished) unfinished.push_back(static_cast<std::int32_t>(r));
  for (std::size_t r = 0; r < std::min(ranks_.size(), snapshot.ranks.size()); ++r) {
    RankSummary& summary = snapshot.ranks[r];
    const Shown& shown = shown_[r];
    const CurrentCall& call = shown.call;
    summary.finished |= ranks_[r].finished;
    if (summary.finished) summary.waits_for = unfinished;
    if (call.function == 0) continue;
    summary.call_function = call.function;
    summary.call_peer = call.peer;
    summary.call_comm = call.comm;
    summary.call_tag = call.tag;
    summary.call_site = site_of(static_cast<std::int32_t>(r), call);
    const std::int64_t until_ns = std::min(now_ns_, alive_until(static_cast<std::int32_t>(r)));
    summary.call_for_s = std::max(0.0, static_cast<double>(until_ns) * 1e-9 - seconds(call.since));
    if (shown.waits_since == call.since) {
      summary.waits_for = listed(shown.waits_for.ranks);
      summary.waits_for_any = shown.waits_for.any;
    }
    const bool partner = call.peer >= 0 && static_cast<std::size_t>(call.peer) < ranks_.size();
    if (summary.waits_for.empty() && partner && names_its_partner(call_kind(call.function)))
      summary.waits_for = {call.peer};
  }
}

}  // namespace pclscope::blocked
