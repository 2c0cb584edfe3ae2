// Clocks of the messages just added, of what depends on them, and the questions about them.
#include <algorithm>

#include "analysis/order/clocks.hpp"

namespace pclscope {

namespace {

template <class Entry>
bool before(const Entry& a, Position b) {
  return a.position < b;
}

}  // namespace

// Who needs this receive's clock: the next receive of its process, and the receives of what it sends until then.
template <class Visit>
void RegionClocks::for_successors(std::uint32_t slot, Visit visit) const {
  const Process& p = processes_[info_[slot].process];
  const Position position = info_[slot].position;
  const auto next = std::lower_bound(p.receives.begin(), p.receives.end(), position + 1, before<Entry>);
  if (next != p.receives.end()) visit(next->slot);
  const Position until = next != p.receives.end() ? next->position : INT64_MAX;
  for (auto send = std::lower_bound(p.sends.begin(), p.sends.end(), position, before<Entry>);
       send != p.sends.end() && send->position < until; ++send)
    visit(send->slot);
}

void RegionClocks::find_affected(std::span<const Item> items) {
  affected_.clear();
  const auto reach = [&](std::uint32_t slot) {
    if (info_[slot].affected) return;
    info_[slot].affected = true;
    affected_.push_back(slot);
  };
  for (const Item& item : items) reach(item.slot);
  for (std::size_t i = 0; i < affected_.size(); ++i)
    for_successors(affected_[i], [&](std::uint32_t next) {
      reach(next);
      ++info_[next].waiting;
    });
}

void RegionClocks::compute(std::span<const Item> items) {
  find_affected(items);
  std::vector<std::uint32_t> ready;
  for (const std::uint32_t slot : affected_)
    if (info_[slot].waiting == 0) ready.push_back(slot);
  for (std::size_t i = 0; i < ready.size(); ++i) {
    compute_one(ready[i], items);
    for_successors(ready[i], [&](std::uint32_t next) {
      if (--info_[next].waiting == 0) ready.push_back(next);
    });
  }
  if (ready.size() < affected_.size()) {  // cycles, and what comes after them
    std::vector<std::uint32_t> rest;
    for (const std::uint32_t slot : affected_)
      if (info_[slot].waiting > 0) rest.push_back(slot);
    std::sort(rest.begin(), rest.end(), [&](std::uint32_t a, std::uint32_t b) {
      return std::make_pair(info_[a].position, info_[a].process) < std::make_pair(info_[b].position, info_[b].process);
    });
    on_cycles_ += rest.size();
    for (const std::uint32_t slot : rest)  // all have defined content before any is used by another
      if (info_[slot].made_now) {
        std::fill_n(slab_[slot], ranks_.size(), before_everything);
        slab_[slot][info_[slot].process] = info_[slot].position;
      }
    for (const std::uint32_t slot : rest) compute_one(slot, items);
  }
  for (const std::uint32_t slot : affected_) {
    info_[slot].affected = info_[slot].made_now = info_[slot].changed = false;
    info_[slot].waiting = 0;
    info_[slot].first_item = none;
  }
}

// New clocks fetch what they depend on, old ones are told by whoever has changed.
void RegionClocks::compute_one(std::uint32_t slot, std::span<const Item> items) {
  pull(slot, items);
  if (!info_[slot].changed) return;
  for_successors(slot, [&](std::uint32_t next) {
    if (!info_[next].made_now && join(next, slot)) info_[next].changed = true;
  });
}

void RegionClocks::pull(std::uint32_t slot, std::span<const Item> items) {
  SlotInfo& info = info_[slot];
  bool news = info.made_now;
  if (info.made_now) begin_clock(slot, clock_before(info.process, info.position));
  std::uint32_t joined = none;
  for (std::size_t i = info.first_item; i < items.size() && items[i].slot == slot; ++i) {
    const Item& item = items[i];
    if (item.from == item.to) continue;  // the program order says it already
    const std::uint32_t sender = clock_before(item.from, item.sent);
    if (sender != none && sender != joined) news = join(slot, sender) || news;
    news = learn(slot, item.from, item.sent) || news;
    joined = sender;
  }
  info.changed = info.changed || news;
}

void RegionClocks::begin_clock(std::uint32_t slot, std::uint32_t previous) {
  if (previous == none) std::fill_n(slab_[slot], ranks_.size(), before_everything);
  else std::copy_n(slab_[previous], ranks_.size(), slab_[slot]);
  slab_[slot][info_[slot].process] = info_[slot].position;
}

bool RegionClocks::join(std::uint32_t into, std::uint32_t from) {
  Position* const a = slab_[into];
  const Position* const b = slab_[from];
  const std::size_t count = ranks_.size();
  std::uint64_t news = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const Position larger = std::max(a[i], b[i]);
    news |= static_cast<std::uint64_t>(larger ^ a[i]);
    a[i] = larger;
  }
  a[info_[into].process] = info_[into].position;  // only on cycles was it anything else
  return news != 0;
}

bool RegionClocks::learn(std::uint32_t slot, std::uint32_t process, Position position) {
  Position& known = slab_[slot][process];
  if (known >= position || process == info_[slot].process) return false;
  known = position;
  return true;
}

// The clock of the process's last receive before the position; none: there was none, or it is forgotten, and with
// it what it knew: of retained events nothing (but see clocks.hpp on clocks that disagree).
std::uint32_t RegionClocks::clock_before(std::uint32_t process, Position position) const {
  const Process& p = processes_[process];
  // Mostly it is one of the newest.
  auto next = p.receives.end();
  for (int looked = 0; next != p.receives.begin() && !before<Entry>(*(next - 1), position); --next)
    if (++looked == 8) {
      next = std::lower_bound(p.receives.begin(), next, position, before<Entry>);
      break;
    }
  return next != p.receives.begin() ? (next - 1)->slot : none;
}

std::uint32_t RegionClocks::clock_of(const Event& event) const {
  return clock_before(event.process, event.position + (event.position & 1));  // of a receive: its own
}

std::optional<RegionClocks::Event> RegionClocks::event(const Message& m, Side side) const {
  const std::uint32_t from = process_of(m.source), to = process_of(m.destination);
  if (!enabled_ || from == none || to == none || !has_order(m)) return std::nullopt;
  const Position sent = send_position(m), received = receive_position(m);
  if (side == Side::receive) {
    const std::vector<Entry>& receives = processes_[to].receives;
    const auto there = std::lower_bound(receives.begin(), receives.end(), received, before<Entry>);
    if (there == receives.end() || there->position != received) return std::nullopt;
    return Event{to, received};
  }
  const std::vector<Entry>& sends = processes_[from].sends;
  for (auto e = std::lower_bound(sends.begin(), sends.end(), sent, before<Entry>);
       e != sends.end() && e->position == sent; ++e)
    if (info_[e->slot].process == to && info_[e->slot].position == received) return Event{from, sent};
  return std::nullopt;
}

bool RegionClocks::happened_before(const Event& a, const Event& b) const {
  if (a.process >= processes_.size() || b.process >= processes_.size()) return false;
  if (a.process == b.process) return a.position < b.position;
  const std::uint32_t clock = clock_of(b);
  return clock != none && slab_[clock][a.process] >= a.position;
}

std::vector<std::uint64_t> RegionClocks::dense(const Event& event) const {
  std::vector<std::uint64_t> counts(ranks_.size());
  if (event.process >= processes_.size()) return counts;
  const std::uint32_t clock = clock_of(event);
  for (std::uint32_t i = 0; i < counts.size(); ++i) {
    Position known = clock == none ? before_everything : slab_[clock][i];
    if (i == event.process) known = event.position;
    if (known == before_everything) continue;
    const Process& p = processes_[i];
    for (const Entry& e : p.receives)
      if (e.position <= known) counts[i] += info_[e.slot].messages;
    counts[i] += std::lower_bound(p.sends.begin(), p.sends.end(), known + 1, before<Entry>) - p.sends.begin();
  }
  return counts;
}

}  // namespace pclscope
