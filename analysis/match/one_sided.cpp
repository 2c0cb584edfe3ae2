#include "analysis/match/one_sided.hpp"

#include <algorithm>
#include <string_view>

#include "analysis/values/site_key.hpp"
#include "interpose/record/functions.hpp"

namespace pclscope {

using record::Event;
using record::Function;

namespace {

constexpr std::size_t most_epochs = 1 << 16;
constexpr std::size_t locks_kept = 128;  // of a target

CollectiveCall waited(const auto& window, std::int32_t rank, std::uint64_t number, const auto& call,
                      CollectiveShape shape, std::int32_t awaited, std::int64_t awaited_begin) {
  CollectiveCall c;
  c.comm = window.first;
  c.ordinal = number;
  c.rank = rank;
  c.awaited = awaited;
  c.function = call.function;
  c.shape = shape;
  c.begin = call.begin;
  c.end = call.end;
  c.awaited_begin = awaited_begin;
  c.site = call.site;
  return c;
}

bool within(std::int64_t moment, const auto& call) { return moment > call.begin && moment <= call.end; }

}  // namespace

bool OneSided::concerns(std::uint16_t function) {
  switch (static_cast<Function>(function)) {
    case Function::Win_start:
    case Function::Win_post:
    case Function::Win_complete:
    case Function::Win_wait:
    case Function::Win_test:
    case Function::Win_lock:
    case Function::Win_unlock:
    case Function::Win_flush:
    case Function::Win_flush_local: return true;
    default: return false;
  }
}

void OneSided::add(std::int32_t rank, const Event& e, TickScale scale, const Sink& sink) {
  const Window window{e.comm, e.tag};
  const Call call{scale.to_ns(e.begin), scale.to_ns(e.end), site_key(e), e.function};
  const EpochKey key{window, rank, e.ordinal};
  make_room();
  due_.clear();
  due_origins_.clear();
  switch (static_cast<Function>(e.function)) {
    case Function::Win_start:
      if (e.peer < 0) return;
      origins_[key].start = call;
      origins_[key].size = e.bytes;
      pairs_[{window, rank, e.peer}].starts.push_back(e.ordinal);
      match(window, rank, e.peer);
      break;
    case Function::Win_post:
      if (e.peer < 0) return;
      targets_[key].post = call;
      targets_[key].size = e.bytes;
      pairs_[{window, e.peer, rank}].posts.push_back(e.ordinal);
      match(window, e.peer, rank);
      break;
    case Function::Win_complete:
      if (const auto it = origins_.find(key); it != origins_.end()) {
        it->second.complete = call;
        it->second.done = true;
        for (const EpochKey& target : it->second.targets) completed(target, rank, call.begin);
        try_origin(key, sink);
      }
      break;
    case Function::Win_wait:
    case Function::Win_test:
      if (const auto it = targets_.find(key); it != targets_.end()) {
        it->second.wait = call;
        it->second.done = true;
        try_target(key, sink);
      }
      break;
    default: add_lock(rank, e, call); return;
  }
  for (const EpochKey& target : due_) try_target(target, sink);
  for (const EpochKey& origin : due_origins_) try_origin(origin, sink);
}

void OneSided::match(const Window& window, std::int32_t origin, std::int32_t target) {
  const auto it = pairs_.find({window, origin, target});
  Pair& pair = it->second;
  if (pair.starts.empty() || pair.posts.empty()) return;
  const EpochKey of_origin{window, origin, pair.starts.front()}, of_target{window, target, pair.posts.front()};
  pair.starts.pop_front();
  pair.posts.pop_front();
  if (pair.starts.empty() && pair.posts.empty()) pairs_.erase(it);
  const auto o = origins_.find(of_origin);
  const auto t = targets_.find(of_target);
  if (o == origins_.end() || t == targets_.end()) return;
  ++o->second.matched;
  if (t->second.post.begin > o->second.last_post) {
    o->second.last_post = t->second.post.begin;
    o->second.awaited = target;
  }
  if (o->second.done) {
    completed(of_target, origin, o->second.complete.begin);
    due_origins_.push_back(of_origin);
  } else {
    o->second.targets.push_back(of_target);
  }
}

void OneSided::completed(const EpochKey& target, std::int32_t origin, std::int64_t begin) {
  const auto it = targets_.find(target);
  if (it == targets_.end()) return;
  ++it->second.completed;
  if (begin > it->second.last_complete) {
    it->second.last_complete = begin;
    it->second.awaited = origin;
  }
  due_.push_back(target);
}

void OneSided::try_origin(const EpochKey& key, const Sink& sink) {
  const auto it = origins_.find(key);
  if (it == origins_.end() || !it->second.done || it->second.matched < it->second.size) return;
  const Origin& o = it->second;
  const auto& [window, rank, number] = key;
  for (const Call* call : {&o.start, &o.complete}) {
    if (!within(o.last_post, *call)) continue;
    sink(waited(window, rank, number, *call, CollectiveShape::post, o.awaited, o.last_post));
    break;
  }
  origins_.erase(it);
}

void OneSided::try_target(const EpochKey& key, const Sink& sink) {
  const auto it = targets_.find(key);
  if (it == targets_.end() || !it->second.done || it->second.completed < it->second.size) return;
  const Target& t = it->second;
  const auto& [window, rank, number] = key;
  if (t.last_complete > t.wait.begin)
    sink(waited(window, rank, number, t.wait, CollectiveShape::complete, t.awaited, t.last_complete));
  targets_.erase(it);
}

void OneSided::add_lock(std::int32_t rank, const Event& e, const Call& call) {
  if (e.peer < 0) return;
  const Window window{e.comm, e.tag};
  const std::tuple key{window, rank, e.peer};
  if (static_cast<Function>(e.function) == Function::Win_lock) {
    Lock& lock = held_[key];
    lock = {};
    lock.rank = rank;
    lock.exclusive = e.bytes != 0;
    lock.lock = call;
    return;
  }
  const auto it = held_.find(key);
  if (it == held_.end()) return;
  if (static_cast<Function>(e.function) != Function::Win_unlock) {
    if (call.end - call.begin > it->second.flush.end - it->second.flush.begin) it->second.flush = call;
    return;
  }
  it->second.unlock = call;
  std::deque<Lock>& of_target = locks_[{window, e.peer}];
  of_target.push_back(it->second);
  if (of_target.size() > locks_kept) of_target.pop_front();
  held_.erase(it);
}

void OneSided::pass(std::int64_t until_ns, const Sink& sink) {
  for (auto& [target, locks] : locks_)
    for (Lock& lock : locks)
      if (!lock.judged && lock.unlock.end < until_ns) judge(target.first, locks, lock, sink);
}

void OneSided::judge(const Window& window, std::deque<Lock>& locks, Lock& lock, const Sink& sink) const {
  lock.judged = true;
  for (const Call* call : {&lock.lock, &lock.flush, &lock.unlock}) {
    const Lock* last = nullptr;  // of those who gave it up meanwhile
    for (const Lock& other : locks) {
      if (&other == &lock || !(other.exclusive || lock.exclusive) || !within(other.unlock.begin, *call)) continue;
      if (last == nullptr || other.unlock.begin > last->unlock.begin) last = &other;
    }
    if (last == nullptr) continue;
    sink(waited(window, lock.rank, 0, *call, CollectiveShape::lock, last->rank, last->unlock.begin));
    return;
  }
}

// A record with holes, or ranks far ahead of others: what waits for its other side is given up.
void OneSided::make_room() {
  if (origins_.size() + targets_.size() + pairs_.size() > most_epochs) {
    origins_.clear();
    targets_.clear();
    pairs_.clear();
  }
  if (held_.size() + locks_.size() > most_epochs) {
    held_.clear();
    locks_.clear();
  }
}

}  // namespace pclscope
