// The part of MessageRetention that follows the regions' periods: which waiting window is stored for whom, and what
// is held for the middle and the end of a period.
#include <utility>

#include "analysis/window/retention_state.hpp"

namespace pclscope {

MessageRetention::Waiting* MessageRetention::waiting_window(std::uint64_t number) {
  const auto it = std::lower_bound(waiting_windows_.begin(), waiting_windows_.end(), number,
                                   [](const Waiting& w, std::uint64_t n) { return w.origin->number < n; });
  return it != waiting_windows_.end() && it->origin->number == number ? &*it : nullptr;
}

MessageRetention::Candidate MessageRetention::candidate_at(std::uint64_t number) {
  const Waiting* window = waiting_window(number);
  return {number, window ? window->origin : nullptr, nullptr};
}

void MessageRetention::decide_all(const Evolutions& evolutions) {
  for (const Evolutions::Verdict& v : evolutions.verdicts()) decide(v.region, v.window, v.kind, v.first);
  for (const std::int32_t region : evolutions.ended()) {
    const auto state = regions_.find(region);
    if (state == regions_.end()) continue;
    end_period(state->second, region);
    regions_.erase(state);
  }
}

void MessageRetention::decide(std::int32_t region, std::uint64_t number, PeriodKind kind, bool first) {
  RegionState& state = regions_[region];
  if (state.any && number < state.decided_until) return;  // was decided in a hurry
  first = first || !state.any || kind != state.kind;
  if (first) end_period(state, region);
  state.any = true;
  state.kind = kind;
  state.decided_until = number + 1;
  Waiting* window = waiting_window(number);
  if (window) std::erase(window->undecided, region);
  if (kind != PeriodKind::other) {
    if (window) window->origin->mark(region);
    return;
  }
  if (first && window) window->origin->mark(region);
  state.inside.add([&] { return candidate_at(number); });
  state.last = candidate_at(number);
}

// Stores the middle and the last window of an `other` period, if they are not in the file already.
void MessageRetention::end_period(RegionState& state, std::int32_t region) {
  if (state.any && state.kind == PeriodKind::other) {
    if (const auto* middle = state.inside.nearest()) store(middle->second, region);
    store(state.last, region);
  }
  state.inside.clear();
  state.last = {};
}

void MessageRetention::store(const Candidate& candidate, std::int32_t region) {
  if (!candidate.origin || candidate.origin->is_stored(region)) return;
  Origin& origin = *candidate.origin;
  if (waiting_window(origin.number)) return origin.mark(region);  // in its turn
  const KeptWindow* from = candidate.messages.get();
  for (const Waiting& w : released_)
    if (!from && w.origin == candidate.origin) from = w.packed.get();
  if (from)
    write_those(*from, origin, [&](const Message& m) { return origin.touches(m, region) && !origin.in_file(m); });
  write_calls(origin, [&](std::int32_t rank) { return origin.region_of(rank) == region; });
  origin.mark(region);
}

template <class Wanted>
void MessageRetention::write_those(const KeptWindow& window, const Origin& origin, Wanted&& wanted) {
  const double now_s = std::exchange(now_s_, origin.begin_s);
  buffer_.clear();
  window.messages.each([&](const Message& m) {
    if (!wanted(m)) return left_out(now_s_);
    buffer_.push_back(m);
    if (buffer_.size() < buffer_.capacity()) return;
    write(buffer_);
    buffer_.clear();
  });
  write(buffer_);
  buffer_.clear();
  now_s_ = now_s;
}

// --- the oldest waiting window goes ---

void MessageRetention::release_decided() {
  while (!waiting_windows_.empty() && waiting_windows_.front().undecided.empty()) release_oldest();
}

void MessageRetention::force_oldest(const Evolutions& evolutions) {
  Waiting& oldest = waiting_windows_.front();
  const std::uint64_t number = oldest.origin->number;
  const std::vector<std::int32_t> undecided = oldest.undecided;
  for (const std::int32_t region : undecided) {
    const PeriodKind kind = evolutions.provisional(region, number);
    decide(region, number, kind, false);
    std::erase(oldest.undecided, region);
  }
  release_oldest();
}

void MessageRetention::release_oldest() {
  Waiting window = std::move(waiting_windows_.front());
  waiting_windows_.pop_front();
  waiting_ -= window.packed->messages.count();
  const Origin& origin = *window.origin;
  std::vector<char> wanted(origin.region_of_rank->size());
  for (std::size_t rank = 0; rank < wanted.size(); ++rank)
    wanted[rank] = origin.is_stored((*origin.region_of_rank)[rank]);
  const bool none_outside = origin.is_stored(-1);
  const auto of = [&](std::int32_t rank) {
    return rank >= 0 && static_cast<std::size_t>(rank) < wanted.size() ? wanted[static_cast<std::size_t>(rank)] != 0
                                                                       : none_outside;
  };
  if (origin.stored.empty()) left_out(origin.begin_s);
  else write_those(*window.packed, origin, [&](const Message& m) { return of(m.source) || of(m.destination); });
  if (!origin.stored.empty()) write_calls(origin, of);
  released_.push_back(std::move(window));
  settle_middles(released_.back());
  if (released_.size() > 2) forget_oldest_released();
}

void MessageRetention::forget_oldest_released() {
  settle_lasts(released_.front());
  released_.pop_front();
}

// The messages of some regions, each packed by itself, as far as memory allows: one pass over the window.
void MessageRetention::fill_parts(const Waiting& window, Parts& parts) const {
  const Origin& origin = *window.origin;
  const std::size_t held = bytes();
  std::size_t room = held >= memory_ ? 0 : memory_ - held;
  const auto put = [&](const Message& m, std::int32_t region) {
    const auto part = parts.find(region);
    if (part == parts.end() || !part->second) return;
    const std::size_t before = part->second->bytes();
    const bool fits = part->second->messages.append({&m, 1}, room + part->second->messages.bytes());
    const std::size_t after = part->second->bytes();
    if (!fits) part->second = nullptr;
    room = fits ? room - std::min(room, after - before) : room + before;
  };
  for (auto& [region, part] : parts) part = std::make_shared<KeptWindow>();
  window.packed->messages.each([&](const Message& m) {
    if (origin.in_file(m)) return;
    const std::int32_t from = origin.region_of(m.source), to = origin.region_of(m.destination);
    put(m, from);
    if (to != from) put(m, to);
  });
  for (auto& [region, part] : parts)
    if (part) part->messages.close();
}

// Those for whom it may become the middle take their messages along.
void MessageRetention::settle_middles(const Waiting& window) {
  const auto is_here = [&](const Candidate& c) { return c.origin == window.origin && !c.messages; };
  Parts parts;
  for (const std::int32_t region : window.regions)
    if (const auto state = regions_.find(region); state != regions_.end() && !window.origin->is_stored(region))
      for (const auto& [index, candidate] : state->second.inside.kept())
        if (is_here(candidate)) parts[region] = nullptr;
  if (parts.empty()) return;
  fill_parts(window, parts);
  for (const auto& [region, part] : parts) {
    auto& inside = regions_[region].inside;
    for (auto& [index, candidate] : inside.kept())
      if (is_here(candidate)) candidate.messages = part;
    inside.remove(is_here);  // there was no room
  }
}

// Those whose last window it still is take their messages along: the region has been silent since.
void MessageRetention::settle_lasts(const Waiting& window) {
  Parts parts;
  for (const std::int32_t region : window.regions)
    if (const auto state = regions_.find(region); state != regions_.end() && !window.origin->is_stored(region))
      if (const Candidate& last = state->second.last; last.origin == window.origin && !last.messages)
        parts[region] = nullptr;
  if (parts.empty()) return;
  fill_parts(window, parts);
  for (const auto& [region, part] : parts) regions_[region].last.messages = part;
}

std::size_t MessageRetention::bytes() const {
  std::size_t sum = buffer_.capacity() * sizeof(Message) + held_call_bytes_;
  const auto window = [&](const Waiting& w) {
    sum += sizeof w + sizeof(Origin) + (w.regions.capacity() + w.undecided.capacity()) * 4 + w.packed->bytes();
  };
  for (const Waiting& w : waiting_windows_) window(w);
  for (const Waiting& w : released_) window(w);
  for (const auto& [region, state] : regions_) {
    sum += sizeof state + 64;
    for (const auto& [index, candidate] : state.inside.kept())
      sum += sizeof candidate + 8 + (candidate.messages ? candidate.messages->bytes() : 0);
    if (state.last.messages) sum += state.last.messages->bytes();
  }
  return sum;
}

// The next window may need a quarter of its own.
void MessageRetention::keep_memory_bound(const Evolutions& evolutions) {
  const std::size_t most = memory_ - largest_window();
  while (waiting_windows_.size() > retention::most_waiting) force_oldest(evolutions);
  while (bytes() > most && !waiting_windows_.empty()) force_oldest(evolutions);
  while (bytes() > most && !released_.empty()) forget_oldest_released();
  for (int again = 0; again < 4 && bytes() > most; ++again)
    for (auto& [region, state] : regions_) {
      state.inside.thin();
      if (again < 3) continue;
      state.inside.remove([](const Candidate& c) { return c.messages != nullptr; });
      state.last = {};
    }
}

}  // namespace pclscope
