// Taking messages in, and forgetting them. Clocks of what is late, and questions: clock_propagation.cpp.
#include "analysis/order/clocks.hpp"

#include <bit>
#include <tuple>

namespace pclscope {

namespace {

constexpr std::int32_t highest_rank = 1 << 24;
constexpr std::size_t few = 64;         // messages: not worth more than a plain sort
constexpr std::size_t chunk_share = 8;  // a chunk of messages needs at most this part of the memory

constexpr auto by_position = [](const auto& a, const auto& b) { return a.position < b.position; };

std::vector<std::int32_t> usable(std::span<const std::int32_t> ranks) {
  std::vector<std::int32_t> result(ranks.begin(), ranks.end());
  std::erase_if(result, [](std::int32_t rank) { return rank < 0 || rank > highest_rank; });
  std::sort(result.begin(), result.end());
  result.erase(std::unique(result.begin(), result.end()), result.end());
  return result;
}

// The entries from `old_size` on are ascending, and so are those before: now all are.
void merge_tail(auto& entries, std::size_t old_size) {
  const auto middle = entries.begin() + static_cast<std::ptrdiff_t>(old_size);
  if (middle == entries.begin() || middle == entries.end() || !by_position(*middle, *(middle - 1))) return;
  std::inplace_merge(std::upper_bound(entries.begin(), middle, *middle, by_position), middle, entries.end(),
                     by_position);
}

}  // namespace

RegionClocks::RegionClocks(std::span<const std::int32_t> ranks, RegionClocksOptions options)
    : ranks_(usable(ranks)), options_(options), slab_(ranks_.size()) {
  const std::size_t count = ranks_.size();
  enabled_ = count > 0 && options_.most_bytes / count / (2 * sizeof(Position)) >= count;
  if (!enabled_) return;
  process_of_rank_.assign(static_cast<std::size_t>(ranks_.back()) + 1, none);
  for (std::uint32_t i = 0; i < count; ++i) process_of_rank_[ranks_[i]] = i;
  processes_.resize(count);
}

std::uint32_t RegionClocks::process_of(std::int32_t rank) const {
  return rank < 0 || static_cast<std::size_t>(rank) >= process_of_rank_.size() ? none : process_of_rank_[rank];
}

void RegionClocks::add(std::span<const Message> messages) {
  for (const Message& m : messages) put(m);
  add_put();
}

void RegionClocks::add_put() {
  if (items_.empty()) return;
  sort_items();
  const std::size_t most = std::max<std::size_t>(options_.most_bytes / chunk_share / cost_per_message(), 1);
  std::vector<Item> all = std::move(items_);
  for (std::size_t begin = 0; begin < all.size(); begin += most) {
    const std::span<Item> chunk = std::span(all).subspan(begin, std::min(most, all.size() - begin));
    make_room(chunk.size());
    items_.assign(chunk.begin(), chunk.end());
    std::erase_if(items_, [&](const Item& item) { return item.received < forgotten_; });
    too_late_ += chunk.size() - items_.size();
    take_in_order();
    if (items_.empty()) continue;
    insert(items_);
    compute(items_);
  }
  items_ = std::move(all);
  for (std::vector<Item>* items : {&items_, &sorted_}) {
    items->clear();
    if (items->capacity() * sizeof(Item) > options_.most_bytes / chunk_share / 4) items->shrink_to_fit();
  }
}

// If it is one of the region's own messages.
void RegionClocks::collect(const Message& m) {
  const std::uint32_t from = process_of(m.source), to = process_of(m.destination);
  if (from == none || to == none || !has_order(m)) return;
  ++messages_;
  const Item item{send_position(m), receive_position(m), from, to, none};
  if (from == to && item.sent > item.received) ++on_cycles_;
  else items_.push_back(item);
}

// Oldest receive first. A window's receives are spread over its time: first into as many parts of it as there are
// messages, then each part by itself.
void RegionClocks::sort_items() {
  const auto before = [](const Item& a, const Item& b) {
    return std::tie(a.received, a.to, a.from, a.sent) < std::tie(b.received, b.to, b.from, b.sent);
  };
  if (items_.size() < few) return std::sort(items_.begin(), items_.end(), before);
  Position first = items_[0].received, last = first;
  for (const Item& item : items_) {
    first = std::min(first, item.received);
    last = std::max(last, item.received);
  }
  const auto after_first = [first](Position p) {
    return static_cast<std::uint64_t>(p) - static_cast<std::uint64_t>(first);
  };
  const int bits = std::bit_width(items_.size()) - 1, too_many = std::bit_width(after_first(last)) - bits;
  const unsigned shift = static_cast<unsigned>(std::max(too_many, 0));
  bucket_ends_.assign((std::size_t{1} << bits) + 1, 0);
  for (const Item& item : items_) ++bucket_ends_[(after_first(item.received) >> shift) + 1];
  for (std::size_t i = 1; i < bucket_ends_.size(); ++i) bucket_ends_[i] += bucket_ends_[i - 1];
  sorted_.resize(items_.size());
  for (const Item& item : items_) sorted_[bucket_ends_[after_first(item.received) >> shift]++] = item;
  for (std::size_t i = 0, begin = 0; begin < sorted_.size(); begin = bucket_ends_[i++]) {
    const std::size_t end = bucket_ends_[i];
    if (end - begin > 1)
      std::sort(sorted_.begin() + static_cast<std::ptrdiff_t>(begin),
                sorted_.begin() + static_cast<std::ptrdiff_t>(end), before);
  }
  items_.swap(sorted_);
}

// Where sends begin before their receives end, the order of receives is one in which each clock comes after those it
// is made from. Where clocks disagree it need not be: a receive that a clock may have been made without is late.
void RegionClocks::take_in_order() {
  std::size_t late = 0;
  for (Item& item : items_) {
    if (in_order(item)) take(item);
    else items_[late++] = item;
  }
  items_.resize(late);
  sort_sends();
}

bool RegionClocks::in_order(const Item& item) const {
  const Process& to = processes_[item.to];
  return to.newest_send < item.received && (to.receives.empty() || to.receives.back().position <= item.received);
}

void RegionClocks::take(Item& item) {
  Process& to = processes_[item.to];
  const std::uint32_t previous = to.receives.empty() ? none : to.receives.back().slot;
  if (previous != none && to.receives.back().position == item.received) {
    item.slot = previous;  // the same call
  } else {
    item.slot = make_slot(item.to, item.received);
    info_[item.slot].made_now = false;
    begin_clock(item.slot, previous);
    to.receives.push_back({item.received, item.slot});
  }
  ++info_[item.slot].messages;
  add_send(item);
  if (item.from == item.to) return;
  // Whoever knows of a later event of the sender than its last receive knows what that knew.
  const std::uint32_t sender = clock_before(item.from, item.sent);
  if (sender != none && slab_[item.slot][item.from] < info_[sender].position) join(item.slot, sender);
  learn(item.slot, item.from, item.sent);
}

void RegionClocks::add_send(const Item& item) {
  if (item.sent < forgotten_) return;
  Process& from = processes_[item.from];
  if (item.sent >= from.newest_send && from.sorted == from.sends.size()) {
    ++from.sorted;
  } else if (from.sorted == from.sends.size()) {
    unsorted_.push_back(item.from);
  }
  from.newest_send = std::max(from.newest_send, item.sent);
  from.backwards |= item.sent > item.received;
  from.sends.push_back({item.sent, item.slot});
  ++sends_;
}

void RegionClocks::sort_sends() {
  for (const std::uint32_t process : unsorted_) {
    Process& p = processes_[process];
    std::sort(p.sends.begin() + static_cast<std::ptrdiff_t>(p.sorted), p.sends.end(), by_position);
    merge_tail(p.sends, p.sorted);
    p.sorted = p.sends.size();
  }
  unsorted_.clear();
}

void RegionClocks::insert(std::span<Item> items) {
  std::sort(items.begin(), items.end(), [](const Item& a, const Item& b) {
    return std::tie(a.to, a.received, a.from, a.sent) < std::tie(b.to, b.received, b.from, b.sent);
  });
  for (std::size_t begin = 0, end = 0; begin < items.size(); begin = end) {
    while (end < items.size() && items[end].to == items[begin].to) ++end;
    insert_receives(items.subspan(begin, end - begin));
    for (std::size_t i = end; i-- > begin;) {
      info_[items[i].slot].first_item = static_cast<std::uint32_t>(i);
      ++info_[items[i].slot].messages;
    }
  }
  for (const Item& item : items) add_send(item);
  sort_sends();
}

// Of one process, ascending.
void RegionClocks::insert_receives(std::span<Item> items) {
  const std::uint32_t process = items.front().to;
  std::vector<Entry>& receives = processes_[process].receives;
  const std::size_t old_size = receives.size();
  for (Item& item : items) {
    if (receives.size() > old_size && receives.back().position == item.received) {
      item.slot = receives.back().slot;
      continue;
    }
    const auto old_end = receives.begin() + static_cast<std::ptrdiff_t>(old_size);
    const auto there = std::lower_bound(receives.begin(), old_end, Entry{item.received, 0}, by_position);
    if (there != old_end && there->position == item.received) item.slot = there->slot;
    else receives.push_back({item.received, item.slot = make_slot(process, item.received)});
  }
  merge_tail(receives, old_size);
}

std::uint32_t RegionClocks::make_slot(std::uint32_t process, Position position) {
  const std::uint32_t slot = slab_.take();
  if (slot >= info_.size()) info_.resize(slab_.slots());
  info_[slot] = {position, process, 0, none, 0, false, true, false};
  return slot;
}

// Vectors grow by doubling: each entry counts twice.
std::size_t RegionClocks::cost_per_message() const {
  return ranks_.size() * sizeof(Position) + sizeof(SlotInfo) + sizeof(std::uint32_t) + 4 * sizeof(Entry);
}

std::size_t RegionClocks::used_bytes() const {
  return slab_.taken() * (cost_per_message() - 2 * sizeof(Entry)) + sends_ * 2 * sizeof(Entry);
}

// A quarter of what is there goes at a time, so that this is rare.
void RegionClocks::make_room(std::size_t messages) {
  std::vector<Position> positions;
  while (used_bytes() + messages * cost_per_message() > options_.most_bytes) {
    positions.clear();
    for (const Process& p : processes_)
      for (const Entry& e : p.receives) positions.push_back(e.position);
    if (positions.empty()) return;
    const auto quarter = positions.begin() + static_cast<std::ptrdiff_t>(positions.size() / 4);
    std::nth_element(positions.begin(), quarter, positions.end());
    forget_positions_before(*quarter + 1);
  }
}

void RegionClocks::forget_before(std::int64_t time_ns) {
  if (enabled_) forget_positions_before(position_of(time_ns));
}

void RegionClocks::forget_positions_before(Position position) {
  if (position <= forgotten_) return;
  forgotten_ = position;
  const auto tidy = [](std::vector<Entry>& entries) {
    if (entries.capacity() > 64 && entries.capacity() > 4 * entries.size()) entries.shrink_to_fit();
  };
  sends_ = 0;
  for (Process& p : processes_) {  // first: it asks for the receives' positions
    p.sends.erase(p.sends.begin(), std::lower_bound(p.sends.begin(), p.sends.end(), Entry{position, 0}, by_position));
    if (p.backwards) std::erase_if(p.sends, [&](const Entry& e) { return info_[e.slot].position < position; });
    sends_ += p.sorted = p.sends.size();
    p.newest_send = p.sends.empty() ? before_everything : p.sends.back().position;
    p.backwards &= !p.sends.empty();
    tidy(p.sends);
  }
  for (Process& p : processes_) {
    const auto end = std::lower_bound(p.receives.begin(), p.receives.end(), Entry{position, 0}, by_position);
    for (auto e = p.receives.begin(); e != end; ++e) slab_.give_back(e->slot);
    p.receives.erase(p.receives.begin(), end);
    tidy(p.receives);
  }
}

std::int64_t RegionClocks::retained_from_ns() const {
  return forgotten_ == before_everything ? INT64_MIN : moment_from(forgotten_);
}

std::size_t RegionClocks::bytes() const {
  std::size_t sum =
      sizeof *this + slab_.bytes() + info_.capacity() * sizeof(SlotInfo) +
      (items_.capacity() + sorted_.capacity()) * sizeof(Item) +
      (affected_.capacity() + unsorted_.capacity() + bucket_ends_.capacity() + process_of_rank_.capacity()) * 4 +
      ranks_.capacity() * 4 + processes_.capacity() * sizeof(Process);
  for (const Process& p : processes_) sum += (p.receives.capacity() + p.sends.capacity()) * sizeof(Entry);
  return sum;
}

}  // namespace pclscope
