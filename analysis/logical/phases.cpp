// Cuts the run into layers, and joins layers to phases (docs/methods.md, "Logical time").
#include <utility>

#include "analysis/logical/last_seen.hpp"
#include "analysis/logical/trace.hpp"

namespace pclscope::logical {
namespace {

class Layers {
 public:
  Layers(LogicalTime& time, std::span<const std::uint32_t> line_of_site, Stepper& stepper)
      : time_(time),
        line_of_site_(line_of_site),
        stepper_(stepper),
        open_(time.first.size() - 1),
        joined_(time.first.size() - 1),
        pieces_(time.first.size() - 1) {
    const std::size_t ranks = time.first.size() - 1;
    seen_.assign(time.first_member.size(), false);
    repeats_.assign(ranks, false);
    goes_on_.assign(ranks, false);
    for (std::size_t r = 0; r < ranks; ++r) {
      const auto rank = static_cast<std::int32_t>(r);
      const std::uint32_t first = time.first[r];
      ranks_.push_back({first, first, first, first, 0, none, 0, rank});
      if (!ended(rank)) alive_.push_back(rank);
    }
    before_ = alive_;
  }

  void all() {
    do {
      find_layer();
      join_or_close();
      ++layer_;
    } while (!before_.empty());
  }

 private:
  struct RankState {
    std::uint32_t phase;  // first event of its open phase, of the layer that is looked for
    std::uint32_t layer;
    std::uint32_t done;     // events before it were looked at
    std::uint32_t until;    // events before it are wanted
    std::uint32_t since;    // the first layer of its open phase
    std::uint32_t limit;    // this event and those behind it repeat too much for this layer
    std::uint32_t attempt;  // the last that touched it
    std::int32_t next;      // rank of the same open phase, in a circle
  };

  RankState& state(std::int32_t rank) { return ranks_[at(rank)]; }
  bool ended(std::int32_t rank) { return state(rank).done == time_.first[at(rank) + 1]; }

  // --- layers ---

  // Of ranks the next event, with all that is before an event of it and all that is tied to one, where that repeats
  // nothing: of those that were in the layer before; if that is nobody, of all; if nobody again, where nothing is there
  // more than twice, four times ...
  void find_layer() {
    active_.clear();
    for (most_ = 1; active_.empty(); most_ *= 2) {
      ask(before_);
      if (!active_.empty()) break;
      std::erase_if(alive_, [&](std::int32_t rank) { return ended(rank); });
      if (alive_.empty()) break;
      ask(alive_);
      for (const std::int32_t rank : limited_) state(rank).limit = none;
      limited_.clear();
    }
    for (const std::int32_t rank : limited_) state(rank).limit = none;
    limited_.clear();
  }

  void ask(const std::vector<std::int32_t>& ranks) {
    for (const std::int32_t rank : ranks) {
      if (ended(rank) || state(rank).done > state(rank).layer) continue;
      ++attempt_;
      const std::uint32_t event = state(rank).done;
      if (reach(event)) {
        accept();
      } else {
        take_back();
        set_limit(rank, event);
      }
    }
  }

  bool reach(std::uint32_t event) {
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

  bool want(std::uint32_t event) {
    const std::int32_t rank = time_.rank_of[event];
    RankState& s = state(rank);
    if (event < s.until) return true;
    if (event >= s.limit) return false;
    if (s.attempt != attempt_) {
      s.attempt = attempt_;
      touched_.emplace_back(rank, s.done);
    }
    if (s.done == s.until) waiting_.push_back(rank);
    s.until = event + 1;
    return true;
  }

  bool look_at(std::int32_t rank, std::uint32_t event) {
    const Event& e = time_.events[event];
    if (e.kind == Kind::collective) {
      if (seen_[e.partner]) return true;
      seen_[e.partner] = true;
      operations_.push_back(e.partner);
      const auto members = time_.members_of(e.partner);
      const std::int32_t first = time_.rank_of[members[0]];
      if (!note({first, -static_cast<std::int32_t>(members.size()), line_of(time_.events[members[0]])})) {
        set_limit(first, members[0]);
        return false;
      }
      return std::all_of(members.begin(), members.end(), [&](std::uint32_t member) { return tie(rank, member); });
    }
    for (const std::uint32_t partner : time_.partners_of(e)) {
      if (e.kind == Kind::send && !note({rank, time_.rank_of[partner], line_of(e)})) return false;
      if (!tie(rank, partner)) return false;
    }
    return true;
  }

  bool tie(std::int32_t rank, std::uint32_t other) {
    ties_.emplace_back(rank, time_.rank_of[other]);
    return want(other);
  }

  bool note(const LastSeen::Key& what) {
    const LastSeen::When& when = last_seen_.add(what, layer_, undo_);
    if (when.before != none && when.before >= state(what.from).since) repeating_.push_back(what.from);
    return when.count <= most_;
  }

  std::uint32_t line_of(const Event& e) const { return e.site < line_of_site_.size() ? line_of_site_[e.site] : e.site; }

  void set_limit(std::int32_t rank, std::uint32_t event) {
    RankState& s = state(rank);
    if (s.limit == none) limited_.push_back(rank);
    s.limit = std::min(s.limit, event);
  }

  void accept() {
    for (const auto& [rank, done] : touched_)
      if (done == state(rank).layer) active_.push_back(rank);
    for (const auto& [a, b] : ties_) pieces_.unite(a, b);
    for (const std::int32_t rank : repeating_) repeats_[at(rank)] = true;
    undo_.clear();
    clear_attempt();
  }

  void take_back() {
    for (const auto& [rank, done] : touched_) state(rank).done = state(rank).until = done;
    for (const std::uint32_t operation : operations_) seen_[operation] = false;
    last_seen_.take_back(undo_);
    waiting_.clear();
    clear_attempt();
  }

  void clear_attempt() {
    touched_.clear();
    ties_.clear();
    repeating_.clear();
    operations_.clear();
  }

  // --- phases ---

  // A layer belongs to the phases before it that it connects, unless it repeats something of one. Then these are over,
  // and each set of ranks that the layer connects begins one. So are phases that it has no event of.
  void join_or_close() {
    for (const std::int32_t rank : active_) joined_.unite(open_.find(rank), open_.find(pieces_.find(rank)));
    for (const std::int32_t rank : active_) {
      const std::size_t set = at(joined_.find(open_.find(rank)));
      goes_on_[set] = true;
      if (std::exchange(repeats_[at(rank)], false)) closes_.push_back(set);
    }
    for (const std::size_t set : closes_) repeats_[set] = true;
    over_.clear();
    for (const auto* ranks : {&active_, &before_})
      for (const std::int32_t rank : *ranks)
        if (const std::size_t set = at(joined_.find(open_.find(rank))); repeats_[set] || !goes_on_[set])
          over_.push_back(open_.find(rank));
    for (const std::size_t set : closes_) repeats_[set] = false;
    closes_.clear();
    for (const auto* ranks : {&active_, &before_})
      for (const std::int32_t rank : *ranks) {
        const std::int32_t set = open_.find(rank);
        goes_on_[at(joined_.find(set))] = false;
        unjoined_.push_back(set);
      }
    for (const std::int32_t set : unjoined_) joined_.reset(set);
    unjoined_.clear();
    for (const std::int32_t set : over_) close(set);
    for (const std::int32_t rank : active_)
      if (const std::int32_t other = pieces_.find(rank); open_.unite(rank, other) >= 0)
        std::swap(state(rank).next, state(other).next);  // two circles become one
    for (const std::int32_t rank : active_) pieces_.reset(rank), state(rank).layer = state(rank).done;
    before_.swap(active_);
  }

  void close(std::int32_t set) {
    if (open_.find(set) != set) return;
    parts_.clear();
    for (std::int32_t rank = set, next = set;; rank = next) {
      RankState& s = state(rank);
      next = std::exchange(s.next, rank);
      if (s.layer > s.phase) parts_.push_back({rank, s.phase, s.layer});
      s.phase = s.layer;
      s.since = layer_;
      open_.reset(rank);
      if (next == set) break;
    }
    if (parts_.empty()) return;
    std::sort(parts_.begin(), parts_.end(), [](const Part& a, const Part& b) { return a.rank < b.rank; });
    stepper_.add_phase(parts_);
  }

  LogicalTime& time_;
  std::span<const std::uint32_t> line_of_site_;
  Stepper& stepper_;
  RankSets open_;    // ranks that the open phases connect,
  RankSets joined_;  // phases that the layer connects, by their names in `open_`,
  RankSets pieces_;  // ranks that the layer connects
  std::vector<RankState> ranks_;
  std::vector<bool> seen_;  // operations
  std::vector<char> repeats_, goes_on_;
  LastSeen last_seen_;
  std::uint32_t layer_ = 0, attempt_ = 0, most_ = 1;
  std::vector<std::int32_t> alive_, active_, before_;  // not ended; in this layer; in the one before
  // Of an attempt to have a rank's next event in the layer.
  std::vector<std::int32_t> waiting_, repeating_;
  std::vector<std::pair<std::int32_t, std::uint32_t>> touched_;  // ranks, and what was done of them
  std::vector<std::pair<std::int32_t, std::int32_t>> ties_;
  std::vector<std::uint32_t> operations_;
  std::vector<LastSeen::Undo> undo_;
  std::vector<std::int32_t> limited_, over_, unjoined_;
  std::vector<std::size_t> closes_;
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
