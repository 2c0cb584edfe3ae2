// Cuts the run into layers, and joins layers to phases (docs/methods.md, "Logical time").
#include <utility>

#include "analysis/logical/trace.hpp"

namespace pclscope::logical {
namespace {

// When something was last done: a table with open addressing.
class LastSeen {
 public:
  struct Key {
    std::int32_t from = 0, to = 0;
    std::uint32_t line = 0;
    bool operator==(const Key&) const = default;
  };

  // The layer in which it was done before, `none` if never; from now on it is `layer`.
  std::uint32_t replace(const Key& key, std::uint32_t layer) {
    if (2 * (used_ + 1) > slots_.size()) grow();
    Slot& slot = find(key);
    used_ += slot.layer == none;
    slot.key = key;
    return std::exchange(slot.layer, layer);
  }

 private:
  struct Slot {
    Key key;
    std::uint32_t layer = none;  // none: free
  };

  Slot& find(const Key& key) {
    std::uint64_t hash =
        static_cast<std::uint64_t>(static_cast<std::uint32_t>(key.from)) << 32 | static_cast<std::uint32_t>(key.to);
    hash = (hash ^ std::uint64_t{key.line} << 20) * 0x9e3779b97f4a7c15;
    for (std::size_t i = hash >> 20;; ++i)
      if (Slot& slot = slots_[i & (slots_.size() - 1)]; slot.layer == none || slot.key == key) return slot;
  }
  void grow() {
    std::vector<Slot> old(std::max<std::size_t>(1024, 2 * slots_.size()));
    old.swap(slots_);
    for (const Slot& slot : old)
      if (slot.layer != none) find(slot.key) = slot;
  }

  std::vector<Slot> slots_;
  std::size_t used_ = 0;
};

class Layers {
 public:
  Layers(LogicalTime& time, std::span<const std::uint32_t> line_of_site, Stepper& stepper)
      : time_(time),
        line_of_site_(line_of_site),
        stepper_(stepper),
        open_(time.first.size() - 1),
        pieces_(time.first.size() - 1) {
    const std::size_t ranks = time.first.size() - 1;
    seen_.assign(time.first_member.size(), false);
    repeats_.assign(ranks, false);
    goes_on_.assign(ranks, false);
    for (std::size_t r = 0; r < ranks; ++r) {
      ranks_.push_back({time.first[r], time.first[r], time.first[r], time.first[r], 0, 0});
      if (time.first[r + 1] > time.first[r]) alive_.push_back(static_cast<std::int32_t>(r));
    }
  }

  void all() {
    for (; !alive_.empty(); ++layer_) {
      find_layer();
      join_or_close();
      forget_ended();
    }
  }

 private:
  struct RankState {
    std::uint32_t phase;  // first event of its open phase, of its newest layer
    std::uint32_t layer;
    std::uint32_t done;   // events before it were looked at
    std::uint32_t until;  // events before it are in this layer or an earlier one
    std::uint32_t since;  // the first layer of its open phase
    std::int32_t set;     // that phase, before the newest layer
  };

  RankState& state(std::int32_t rank) { return ranks_[at(rank)]; }
  bool ended(std::int32_t rank) { return state(rank).done == time_.first[at(rank) + 1]; }

  // The least set that has each rank's next event, all that is before an event of it, and all that is tied to one. What
  // forms a cycle is in one layer, then.
  void find_layer() {
    for (const std::int32_t rank : alive_) {
      pieces_.reset(rank);
      state(rank).layer = state(rank).done;
    }
    for (const std::int32_t rank : alive_) {
      if (ended(rank) || state(rank).done > state(rank).layer) continue;
      want(state(rank).done);
      while (!waiting_.empty()) {
        const std::int32_t next = waiting_.back();
        if (state(next).done == state(next).until) waiting_.pop_back();
        else look_at(next, state(next).done++);
      }
    }
  }

  void want(std::uint32_t event) {
    const std::int32_t rank = time_.rank_of[event];
    RankState& s = state(rank);
    if (event < s.until) return;
    if (s.done == s.until) waiting_.push_back(rank);
    s.until = event + 1;
  }

  void look_at(std::int32_t rank, std::uint32_t event) {
    const Event& e = time_.events[event];
    if (e.kind == Kind::collective) {
      if (seen_[e.partner]) return;
      seen_[e.partner] = true;
      const auto members = time_.members_of(e.partner);
      const std::int32_t first = time_.rank_of[members[0]];
      note(first, {first, -static_cast<std::int32_t>(members.size()), line_of(time_.events[members[0]])});
      for (const std::uint32_t member : members) tie(rank, member);
      return;
    }
    for (const std::uint32_t partner : time_.partners_of(e)) {
      if (e.kind == Kind::send) note(rank, {rank, time_.rank_of[partner], line_of(e)});
      tie(rank, partner);
    }
  }

  void tie(std::int32_t rank, std::uint32_t other) {
    want(other);
    pieces_.unite(rank, time_.rank_of[other]);
  }

  std::uint32_t line_of(const Event& e) const { return e.site < line_of_site_.size() ? line_of_site_[e.site] : e.site; }

  void note(std::int32_t rank, const LastSeen::Key& what) {
    const std::uint32_t before = last_seen_.replace(what, layer_);
    if (before != none && before != layer_ && before >= state(rank).since) repeats_[at(rank)] = true;
  }

  // A layer belongs to the phases before it that it connects, unless it repeats something of one. Then these are over,
  // and each set of ranks that the layer connects begins one.
  void join_or_close() {
    for (const std::int32_t rank : alive_) state(rank).set = open_.find(rank);
    for (const std::int32_t rank : alive_) open_.unite(rank, pieces_.find(rank));
    for (const std::int32_t rank : alive_) {
      const std::int32_t set = open_.find(rank);
      if (repeats_[at(rank)]) repeats_[at(set)] = true;
      if (state(rank).done > state(rank).layer) goes_on_[at(set)] = true;
    }
    over_.clear();
    for (const std::int32_t rank : alive_)
      if (const std::int32_t set = open_.find(rank); repeats_[at(set)] || !goes_on_[at(set)])
        over_.emplace_back(state(rank).set, rank);
    if (!std::is_sorted(over_.begin(), over_.end())) std::sort(over_.begin(), over_.end());
    close_phases();
    for (const auto& [set, rank] : over_) open_.reset(rank);
    for (const auto& [set, rank] : over_) open_.unite(rank, pieces_.find(rank));
    for (const std::int32_t rank : alive_) repeats_[at(rank)] = goes_on_[at(rank)] = false;
  }

  void close_phases() {
    for (std::size_t i = 0; i < over_.size();) {
      parts_.clear();
      const std::int32_t set = over_[i].first;
      for (; i < over_.size() && over_[i].first == set; ++i) {
        RankState& s = state(over_[i].second);
        if (s.layer > s.phase) parts_.push_back({over_[i].second, s.phase, s.layer});
        s.phase = s.layer;
        s.since = layer_;
      }
      if (!parts_.empty()) stepper_.add_phase(parts_);
    }
  }

  void forget_ended() {
    std::erase_if(alive_, [&](std::int32_t rank) { return ended(rank) && state(rank).phase == state(rank).done; });
  }

  LogicalTime& time_;
  std::span<const std::uint32_t> line_of_site_;
  Stepper& stepper_;
  RankSets open_, pieces_;  // ranks that the open phases connect, that the layer does
  std::vector<RankState> ranks_;
  std::vector<bool> seen_;     // operations
  std::vector<char> repeats_;  // ranks; open phases, by their least rank
  std::vector<char> goes_on_;
  LastSeen last_seen_;
  std::uint32_t layer_ = 0;
  std::vector<std::int32_t> alive_, waiting_;
  std::vector<std::pair<std::int32_t, std::int32_t>> over_;  // open phase and rank
  std::vector<Part> parts_;
};

}  // namespace

void find_phases(LogicalTime& time, std::span<const std::uint32_t> line_of_site, Stepper& stepper) {
  Layers(time, line_of_site, stepper).all();
  // By step; what lies side by side by its least rank.
  const auto key = [&](const Phase& p) { return std::pair(p.first_step, time.parts[p.first_part].rank); };
  std::sort(time.phases.begin(), time.phases.end(), [&](const Phase& a, const Phase& b) { return key(a) < key(b); });
}

}  // namespace pclscope::logical
