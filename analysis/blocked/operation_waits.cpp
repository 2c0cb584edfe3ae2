// What ranks wait for in calls on windows and files.
#include <algorithm>

#include "analysis/blocked/call_kind.hpp"
#include "analysis/blocked/rank_waits.hpp"

namespace pclscope::blocked {

namespace {

bool counted_together(CallKind kind) {
  return kind == CallKind::fence || kind == CallKind::free_window || kind == CallKind::make_window ||
         kind == CallKind::open_file;
}
Together together(CallKind kind) {
  if (kind == CallKind::make_window) return Together::make_window;
  return kind == CallKind::open_file ? Together::open_file : Together::fence;
}

}  // namespace

bool RankWaits::inside(std::int32_t rank, std::initializer_list<CallKind> kinds, const CurrentCall& of) const {
  const auto& calls = ranks_[static_cast<std::size_t>(rank)].calls;
  return std::any_of(calls.begin(), calls.end(), [&](const CurrentCall& call) {
    return call.comm == of.comm && call.tag == of.tag &&
           std::find(kinds.begin(), kinds.end(), call_kind(call.function)) != kinds.end();
  });
}

void RankWaits::add_operation(Waiter& w, const CurrentCall& call) {
  switch (const CallKind kind = call_kind(call.function); kind) {
    case CallKind::start: add_start(w, call, true); break;
    case CallKind::complete: add_start(w, call, false); break;
    case CallKind::wait_post: add_wait_post(w, call); break;
    case CallKind::lock: add_lock(w, call); break;
    default:
      if (counted_together(kind)) add_together(w, call, kind);
  }
}

// Win_free needs everybody (MPI demands a barrier); in the others somebody who has not come is missing.
void RankWaits::add_together(Waiter& w, const CurrentCall& call, CallKind kind) {
  const Participants::Comm* comm = participants_.comm(call.comm);
  const auto own = operations_.count(together(kind), call.comm, call.tag, w.rank);
  if (comm == nullptr || !comm->complete || comm->foreign || !own) return;
  std::vector<std::int32_t> missing;
  for (const Participants::Member& m : comm->members) {
    const auto count = operations_.count(together(kind), call.comm, call.tag, m.rank);
    if (!count || !here(m.rank)) return;
    const bool in_it = together(kind) == Together::fence
                           ? inside(m.rank, {CallKind::fence, CallKind::free_window}, call)
                           : inside(m.rank, {kind}, call);
    if (*count + (in_it ? 1 : 0) <= *own) missing.push_back(m.rank);
  }
  if (kind == CallKind::free_window) add_each(w, missing);
  else add(w, one_of(std::move(missing)));
}

// Start or Complete: one of the targets that have not posted.
void RankWaits::add_start(Waiter& w, const CurrentCall& call, bool starting) {
  const Operations::Window window(call.comm, call.tag);
  const Operations::Epochs* own = operations_.epochs(window, w.rank);
  if (!operations_.certain(w.rank) || (!starting && (own == nullptr || !own->open_start))) return;
  std::vector<std::int32_t> targets;
  if (starting) {
    if (call.awaited.size() != call.awaited_count) return;
    for (const std::uint64_t what : call.awaited)
      targets.push_back(static_cast<std::int32_t>(static_cast<std::uint32_t>(what)));
  } else {
    targets = own->started;
  }
  std::vector<std::int32_t> missing;
  for (const std::int32_t target : targets) {
    if (!knows(target) || !here(target) || !operations_.certain(target)) return;
    const auto named = [](const std::map<std::int32_t, std::uint64_t>& by, std::int32_t rank) -> std::uint64_t {
      const auto at = by.find(rank);
      return at == by.end() ? 0 : at->second;
    };
    const Operations::Epochs* other = operations_.epochs(window, target);
    const std::uint64_t starts = (own == nullptr ? 0 : named(own->starts, target)) + (starting ? 1 : 0);
    const std::uint64_t posts = other == nullptr ? 0 : named(other->posts, w.rank);
    if (posts < starts && !inside(target, {CallKind::post}, call)) missing.push_back(target);
  }
  add(w, one_of(std::move(missing)));
}

// Win_wait: every origin of the newest Post that has not completed.
void RankWaits::add_wait_post(Waiter& w, const CurrentCall& call) {
  const Operations::Window window(call.comm, call.tag);
  const Operations::Epochs* own = operations_.epochs(window, w.rank);
  if (!operations_.certain(w.rank) || own == nullptr || !own->open_post) return;
  for (const std::int32_t origin : own->posted) {
    if (!knows(origin) || !here(origin) || !operations_.certain(origin)) continue;
    std::uint64_t completed = 0;
    if (const Operations::Epochs* other = operations_.epochs(window, origin)) {
      const auto starts = other->starts.find(w.rank);
      completed = starts == other->starts.end() ? 0 : starts->second;
      const auto& now = other->started;
      if (other->open_start && std::find(now.begin(), now.end(), w.rank) != now.end()) --completed;
    }
    if (completed < own->posts.at(origin) && !inside(origin, {CallKind::complete}, call)) add(w, exactly(origin));
  }
}

// Who holds a lock that excludes this one; or the target, which may have to help. An MPI in which Win_lock waits gives
// a lock when Win_lock returns.
void RankWaits::add_lock(Waiter& w, const CurrentCall& call) {
  const Participants::Comm* comm = participants_.comm(call.comm);
  if (comm == nullptr || !comm->complete || comm->foreign || !knows(call.peer) || call.awaited.size() != 1) return;
  for (const Participants::Member& m : comm->members)
    if (!here(m.rank) || !operations_.certain(m.rank)) return;
  const bool exclusive = (call.awaited[0] & 1) != 0;
  std::vector<std::int32_t> ranks;
  for (const Operations::Lock& lock : operations_.locks({call.comm, call.tag})) {
    if (lock.target != call.peer && lock.target != record::any_source) continue;
    if ((exclusive || lock.exclusive) && lock.holder != w.rank) ranks.push_back(lock.holder);
  }
  if (ranks.empty()) return;
  ranks.push_back(call.peer);
  add(w, one_of(std::move(ranks)));
}

}  // namespace pclscope::blocked
