#include "analysis/logical/layers.hpp"

namespace pclscope::logical {

Layers::Layers(std::int32_t ranks)
    : open_(at(ranks)),
      joined_(at(ranks)),
      pieces_(at(ranks)),
      ranks_(at(ranks)),
      repeats_(at(ranks)),
      goes_on_(at(ranks)) {
  for (std::int32_t rank = 0; rank < ranks; ++rank) {
    state(rank).next = rank;
    before_.push_back(rank);
  }
}

void Layers::attach(LogicalTime& time, Stepper& stepper, std::span<const std::uint32_t> line_of_site) {
  time_ = &time;
  stepper_ = &stepper;
  line_of_site_ = line_of_site;
  seen_.assign(time.first_member.size(), false);
  clear_limits();
  alive_.clear();
  for (std::size_t r = 0; r < ranks_.size(); ++r) {
    RankState& s = ranks_[r];
    const std::uint32_t known_layers = s.done - s.phase;
    s.phase = time.first[r];
    s.layer = s.done = s.until = s.phase + known_layers;
    for (std::uint32_t e = s.phase; e < s.done; ++e)
      if (time.events[e].kind == Kind::collective) seen_[time.events[e].partner] = true;
    if (!ended(static_cast<std::int32_t>(r))) alive_.push_back(static_cast<std::int32_t>(r));
  }
}

void Layers::find(std::int64_t until, bool decides) {
  all_known_ = until == INT64_MAX;
  decides_ = decides;
  for (std::size_t r = 0; r < ranks_.size(); ++r) {
    const auto begin = time_->events.begin() + ranks_[r].done, end = time_->events.begin() + time_->first[r + 1];
    const auto known = all_known_ ? end : std::partition_point(begin, end, [&](const Event& e) {
      return (e.kind == Kind::send ? e.begin : e.end) < until;
    });
    ranks_[r].known = static_cast<std::uint32_t>(known - time_->events.begin());
  }
  while (find_layer()) join_or_close();
}

std::vector<std::uint32_t> Layers::open_phases() const {
  std::vector<std::uint32_t> first;
  for (const RankState& s : ranks_) first.push_back(s.phase);
  return first;
}

// Of ranks the next event, with all that is before an event of it and all that is tied to one, where that repeats
// nothing: of those that were in the layer before; if that is nobody, of all; if nobody again, where nothing is there
// more than twice, four times ... False: nothing is left, or what is left is not known yet.
bool Layers::find_layer() {
  active_.clear();
  lacks_ = false;
  const bool found = ask_all();
  if (found && (decides_ || !lacks_)) {
    operations_.clear();
    undo_.clear();
    return true;
  }
  take_back_layer();
  if (!all_known_ || before_.empty()) return false;
  return true;  // the last: phases that are open are over
}

bool Layers::ask_all() {
  for (most_ = 1;; most_ *= 2) {
    ask(before_);
    if (!active_.empty()) return true;
    std::erase_if(alive_, [&](std::int32_t rank) { return ended(rank); });
    ask(alive_);
    if (!active_.empty()) return true;
    if (alive_.empty() || lacks_) return false;
    clear_limits();
  }
}

void Layers::ask(const std::vector<std::int32_t>& ranks) {
  for (const std::int32_t rank : ranks) {
    RankState& s = state(rank);
    if (s.done > s.layer) continue;
    if (s.done == s.known) {
      lacks_ = lacks_ || !all_known_;
      continue;
    }
    ++attempt_;
    operations_before_ = operations_.size();
    undo_before_ = undo_.size();
    const std::uint32_t event = s.done;
    if (reach(event)) {
      accept();
    } else {
      take_back();
      set_limit(rank, event);
    }
  }
}

bool Layers::reach(std::uint32_t event) {
  if (!want(event)) return false;
  while (!waiting_.empty()) {
    const std::int32_t rank = waiting_.back();
    RankState& s = state(rank);
    if (s.done == s.until) {
      waiting_.pop_back();
    } else if (!look_at(rank, s.done)) {
      set_limit(rank, s.done);
      return false;
    } else {
      ++s.done;
    }
  }
  return true;
}

bool Layers::want(std::uint32_t event) {
  const std::int32_t rank = time_->rank_of[event];
  RankState& s = state(rank);
  if (event < s.until) return true;
  if (is_beyond(s, event)) {
    failed_rank_ = s.limit_rank, failed_first_ = s.limit_first;
    return false;
  }
  if (event >= s.known) {
    lacks_ = true;
    failed_rank_ = -1;
    return false;
  }
  if (s.attempt != attempt_) {
    s.attempt = attempt_;
    touched_.emplace_back(rank, s.done);
  }
  if (s.done == s.until) waiting_.push_back(rank);
  s.until = event + 1;
  return true;
}

bool Layers::look_at(std::int32_t rank, std::uint32_t event) {
  const Event& e = time_->events[event];
  if (e.kind == Kind::collective) {
    const auto members = time_->members_of(e.partner);
    // At the first member only: in the order of its rank, as sends are.
    if (event == members[0] && !note({rank, -static_cast<std::int32_t>(members.size()), line_of(e)}, event))
      return false;
    if (seen_[e.partner]) return true;
    seen_[e.partner] = true;
    operations_.push_back(e.partner);
    return std::all_of(members.begin(), members.end(), [&](std::uint32_t member) { return tie(rank, member); });
  }
  for (const std::uint32_t partner : time_->partners_of(e)) {
    if (e.kind == Kind::send && !note({rank, time_->rank_of[partner], line_of(e)}, event)) return false;
    if (!tie(rank, partner)) return false;
  }
  return true;
}

bool Layers::tie(std::int32_t rank, std::uint32_t other) {
  ties_.emplace_back(rank, time_->rank_of[other]);
  return want(other);
}

bool Layers::note(const LastSeen::Key& what, std::uint32_t event) {
  const LastSeen::When& when = last_seen_.add(what, layer_, event, undo_);
  if (when.before != none && when.before >= state(what.from).since) repeating_.push_back(what.from);
  if (when.count <= most_) return true;
  failed_rank_ = what.from, failed_first_ = when.first;
  return false;
}

// What an event brings with it only becomes less: what it repeats stays, until the first of it is in a layer.
bool Layers::is_beyond(RankState& s, std::uint32_t event) {
  if (event < s.limit) return false;
  if (s.limit_rank < 0 || state(s.limit_rank).layer <= s.limit_first) return true;
  s.limit = none;
  return false;
}

void Layers::set_limit(std::int32_t rank, std::uint32_t event) {
  RankState& s = state(rank);
  if (is_beyond(s, event)) return;
  s.limit = event, s.limit_rank = failed_rank_, s.limit_first = failed_first_;
  if (!std::exchange(s.is_limited, true)) limited_.push_back(rank);
}

void Layers::clear_limits() {
  for (const std::int32_t rank : limited_) {
    state(rank).limit = none;
    state(rank).is_limited = false;
  }
  limited_.clear();
}

void Layers::accept() {
  for (const auto& [rank, done] : touched_)
    if (done == state(rank).layer) active_.push_back(rank);
  for (const auto& [a, b] : ties_) pieces_.unite(a, b);
  for (const std::int32_t rank : repeating_) repeats_[at(rank)] = true;
  clear_attempt();
}

void Layers::take_back() {
  for (const auto& [rank, done] : touched_) state(rank).done = state(rank).until = done;
  for (; operations_.size() > operations_before_; operations_.pop_back()) seen_[operations_.back()] = false;
  last_seen_.take_back(undo_, undo_before_);
  waiting_.clear();
  clear_attempt();
}

void Layers::take_back_layer() {
  for (const std::int32_t rank : active_) {
    RankState& s = state(rank);
    s.done = s.until = s.layer;
    repeats_[at(rank)] = false;
    pieces_.reset(rank);
  }
  for (; !operations_.empty(); operations_.pop_back()) seen_[operations_.back()] = false;
  last_seen_.take_back(undo_, 0);
  active_.clear();
}

void Layers::clear_attempt() {
  touched_.clear();
  ties_.clear();
  repeating_.clear();
}

}  // namespace pclscope::logical
