#include "tests/analysis/logical/reference.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

namespace pclscope::test {
namespace {

using logical::Event;
using logical::Kind;
using logical::LogicalTime;
using Key = std::tuple<int, std::int32_t, std::int32_t, std::uint32_t>;

struct Open {
  std::set<std::int32_t> ranks;
  std::set<Key> keys;
  std::set<std::uint32_t> events;
  bool empty() const { return events.empty(); }
};

class Reference {
 public:
  explicit Reference(const LogicalTime& time) : t_(time), n_(time.events.size()) {
    reach_.assign(n_, std::vector<bool>(n_));
    for (std::uint32_t i = 0; i < n_; ++i) {
      reach_[i][i] = true;
      if (i > 0 && t_.rank_of[i] == t_.rank_of[i - 1]) reach_[i - 1][i] = true;
      for (const std::uint32_t tied : ties(i)) reach_[i][tied] = reach_[tied][i] = true;
    }
    for (std::uint32_t k = 0; k < n_; ++k)
      for (std::uint32_t i = 0; i < n_; ++i)
        if (reach_[i][k])
          for (std::uint32_t j = 0; j < n_; ++j)
            if (reach_[k][j]) reach_[i][j] = true;
  }

  std::vector<ReferencePhase> phases() {
    std::vector<bool> done(n_);
    std::vector<Open> open;
    for (std::int32_t r = 0; r + 1 < static_cast<std::int32_t>(t_.first.size()); ++r) {
      open.emplace_back();
      open.back().ranks = {r};
    }
    std::set<std::int32_t> newest;  // ranks of the layer before
    for (const Open& o : open) newest.insert(o.ranks.begin(), o.ranks.end());
    while (std::find(done.begin(), done.end(), false) != done.end()) {
      std::set<std::uint32_t> layer;
      for (std::size_t most = 1; layer.empty(); most *= 2) {
        layer = layer_of(done, newest, most);
        if (layer.empty()) layer = layer_of(done, {}, most);
      }
      newest.clear();
      for (const std::uint32_t i : layer) newest.insert(t_.rank_of[i]);
      for (const std::uint32_t i : layer) done[i] = true;
      take(open, pieces_of(layer));
    }
    for (const Open& o : open) close(o);
    return result_;
  }

 private:
  std::vector<std::uint32_t> ties(std::uint32_t i) const {
    const Event& e = t_.events[i];
    const auto of = e.kind == Kind::collective ? t_.members_of(e.partner) : t_.partners_of(e);
    return {of.begin(), of.end()};
  }

  static std::set<Key> keys_of(const LogicalTime& t, std::uint32_t i, const std::vector<std::uint32_t>& ties) {
    const Event& e = t.events[i];
    if (e.kind == Kind::receive) return {};
    std::set<Key> keys;
    for (const std::uint32_t tied : ties)
      keys.insert(e.kind == Kind::send
                      ? Key{0, t.rank_of[i], t.rank_of[tied], e.site}
                      : Key{1, t.rank_of[ties[0]], static_cast<std::int32_t>(ties.size()), t.events[ties[0]].site});
    return keys;
  }

  // The next events of `ranks` (of all when there are none), each with what must come with it, where no key is there
  // more than `most` times.
  std::set<std::uint32_t> layer_of(const std::vector<bool>& done, const std::set<std::int32_t>& ranks,
                                   std::size_t most) const {
    std::set<std::uint32_t> layer;
    for (std::size_t r = 0; r + 1 < t_.first.size(); ++r) {
      std::uint32_t next = t_.first[r];
      while (next < t_.first[r + 1] && done[next]) ++next;
      if (next == t_.first[r + 1] || (!ranks.empty() && !ranks.count(static_cast<std::int32_t>(r)))) continue;
      std::set<std::uint32_t> with;
      std::map<Key, std::size_t> counts;
      for (std::uint32_t i = 0; i < n_; ++i) {
        if (done[i] || !reach_[i][next]) continue;
        with.insert(i);
        const std::vector<std::uint32_t> tied = ties(i);
        const Event& e = t_.events[i];
        if (e.kind == Kind::send)
          for (const std::uint32_t other : tied) ++counts[{0, t_.rank_of[i], t_.rank_of[other], e.site}];
        else if (e.kind == Kind::collective && tied[0] == i) ++counts[*keys_of(t_, i, tied).begin()];
      }
      if (std::all_of(counts.begin(), counts.end(), [&](const auto& count) { return count.second <= most; }))
        layer.insert(with.begin(), with.end());
    }
    return layer;
  }

  // What its ties connect.
  std::vector<Open> pieces_of(const std::set<std::uint32_t>& layer) const {
    std::vector<Open> pieces;
    for (const std::uint32_t i : layer) {
      Open piece;
      piece.events = {i};
      piece.ranks = {t_.rank_of[i]};
      for (const std::uint32_t tied : ties(i)) piece.ranks.insert(t_.rank_of[tied]);
      piece.keys = keys_of(t_, i, ties(i));
      join(pieces, piece);
    }
    return pieces;
  }

  static bool meet(const Open& a, const Open& b) {
    return std::any_of(a.ranks.begin(), a.ranks.end(), [&](std::int32_t r) { return b.ranks.count(r) > 0; });
  }
  static void join(std::vector<Open>& to, Open one) {
    for (std::size_t i = 0; i < to.size();) {
      if (!meet(to[i], one)) {
        ++i;
        continue;
      }
      one.ranks.insert(to[i].ranks.begin(), to[i].ranks.end());
      one.keys.insert(to[i].keys.begin(), to[i].keys.end());
      one.events.insert(to[i].events.begin(), to[i].events.end());
      to.erase(to.begin() + static_cast<std::ptrdiff_t>(i));
    }
    to.push_back(std::move(one));
  }

  void take(std::vector<Open>& open, const std::vector<Open>& pieces) {
    std::vector<Open> groups;  // what open phases and pieces come to together
    for (const Open& o : open) join(groups, o);
    for (const Open& p : pieces) join(groups, p);
    std::vector<Open> next;
    for (const Open& group : groups) {
      bool repeats = false, goes_on = false;
      for (const Open& p : pieces) {
        if (!meet(p, group)) continue;
        goes_on = true;
        for (const Open& o : open)
          if (meet(o, group))
            for (const Key& key : p.keys) repeats = repeats || (o.keys.count(key) > 0);
      }
      if (!repeats && goes_on) {
        next.push_back(group);
        continue;
      }
      std::set<std::int32_t> left = group.ranks;
      for (const Open& o : open)
        if (meet(o, group)) close(o);
      for (const Open& p : pieces)
        if (meet(p, group)) {
          next.push_back(p);
          for (const std::int32_t r : p.ranks) left.erase(r);
        }
      for (const std::int32_t r : left) {
        next.emplace_back();
        next.back().ranks = {r};
      }
    }
    open = next;
  }

  void close(const Open& o) {
    if (o.empty()) return;
    ReferencePhase phase;
    phase.events.assign(o.events.begin(), o.events.end());
    phase.steps = steps_of(o);
    result_.push_back(phase);
  }

  // Least numbers that the rules allow, until nothing changes. `Rule(event)`: what it must be at least.
  template <class Rule>
  bool settle(const Open& o, std::map<std::uint32_t, std::uint32_t>& number, Rule rule) const {
    for (const std::uint32_t e : o.events) number[e] = 0;
    for (bool changed = true; changed;) {
      changed = false;
      for (const std::uint32_t e : o.events) {
        const std::uint32_t least = rule(e);
        if (least > 4 * n_ + 4) return false;  // a cycle
        if (least > number[e]) number[e] = least, changed = true;
      }
    }
    return true;
  }

  std::vector<std::uint32_t> steps_of(const Open& o) const {
    const auto is_send = [&](std::uint32_t e) { return t_.events[e].kind != Kind::receive; };
    const auto before = [&](std::uint32_t e) {
      return e > 0 && o.events.count(e - 1) && t_.rank_of[e - 1] == t_.rank_of[e];
    };
    // How many sends come before: of receives, before what follows them.
    std::map<std::uint32_t, std::uint32_t> position;
    const bool good = settle(o, position, [&](std::uint32_t e) {
      std::uint32_t least = position[e];
      if (before(e)) least = std::max(least, position[e - 1] + is_send(e - 1));
      for (const std::uint32_t tied : ties(e)) {
        if (t_.events[e].kind == Kind::receive) least = std::max(least, position[tied] + 1);
        if (t_.events[e].kind == Kind::collective) least = std::max(least, position[tied]);
      }
      return least;
    });
    if (!good) return {};
    std::map<std::uint32_t, std::uint32_t> step;
    settle(o, step, [&](std::uint32_t e) {
      std::uint32_t least = step[e];
      if (before(e)) least = std::max(least, step[e - 1] + 1);
      if (t_.events[e].kind == Kind::receive)
        for (const std::uint32_t tied : ties(e)) least = std::max(least, step[tied] + 1);
      if (is_send(e))
        for (const std::uint32_t other : o.events) {
          if (!is_send(other)) continue;
          if (position[other] == position[e]) least = std::max(least, step[other]);
          if (position[other] + 1 == position[e]) least = std::max(least, step[other] + 1);
        }
      return least;
    });
    std::vector<std::uint32_t> steps;
    for (const auto& [e, s] : step) steps.push_back(s);
    return steps;
  }

  const LogicalTime& t_;
  const std::size_t n_;
  std::vector<std::vector<bool>> reach_;
  std::vector<ReferencePhase> result_;
};

}  // namespace

std::vector<ReferencePhase> reference_phases(const logical::LogicalTime& time) { return Reference(time).phases(); }

}  // namespace pclscope::test
