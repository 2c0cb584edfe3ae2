#include "analysis/whatif/replay.hpp"

#include <algorithm>

namespace pclscope::whatif {
namespace {

constexpr std::int64_t unknown = INT64_MIN;

// Of any times, damaged ones too.
std::int64_t sum_of(std::int64_t a, std::int64_t b) {
  constexpr std::int64_t most = INT64_MAX / 2;
  std::int64_t sum = 0;
  if (__builtin_add_overflow(a, b, &sum)) return a > 0 ? most : -most;
  return std::clamp(sum, -most, most);
}

// How it goes otherwise than measured.
struct Rules {
  std::span<const std::int64_t> gaps, lags;
  const Moved* moved = nullptr;                  // none: what lies before the stretches happens as measured
  std::vector<std::int64_t>* returns = nullptr;  // by call
  bool ideal = false;                            // calls cost nothing by themselves
};

class Engine {
 public:
  Engine(const Graph& graph, std::span<const Stretch> ranks, const Rules& rules)
      : graph_(graph),
        stretches_(ranks),
        gaps_(rules.gaps),
        lags_(rules.lags),
        rules_(rules),
        begin_(graph.nodes(), unknown),
        waiting_(graph.nodes(), nobody),
        ranks_(ranks.size()) {
    for (const Join& join : graph.joins()) missing_.push_back(join.feeders);
    latest_.assign(missing_.size(), unknown);
    times_.ends.assign(ranks_.size(), unknown);
  }

  Times run() {
    for (std::size_t r = 0; r < ranks_.size(); ++r) begin_outside(r);
    for (std::size_t r = ranks_.size(); r-- > 0;) {
      const Stretch& s = stretches_[r];
      ranks_[r].now = moved(r, s.start);
      ranks_[r].next = s.first;
      if (s.first < s.end) ready_.push_back(static_cast<std::uint32_t>(r));
    }
    for (;;) {
      while (!ready_.empty()) {
        const std::uint32_t r = ready_.back();
        ready_.pop_back();
        go_on(r);
      }
      if (!break_cycle()) return times_;
    }
  }

  const std::vector<std::int64_t>& begins() const { return begin_; }  // by node

 private:
  struct Rank {
    std::int64_t now = 0;
    std::uint32_t next = 0;     // call
    std::uint32_t arrival = 0;  // of its arrivals, the next to look at
    bool inside = false;
    std::uint32_t waits_for = nobody;  // node
    std::uint32_t other = nobody;      // the next rank that waits for the same
  };

  // What is not replayed begins as measured; but for the call that a rank enters last.
  void begin_outside(std::size_t r) {
    const auto rank = static_cast<std::int32_t>(r);
    const Stretch& s = stretches_[r];
    for (std::uint32_t c = graph_.first(rank); c < graph_.end(rank); ++c)
      if (c < s.first || c > s.end || s.first == s.end) begins(c, moved(r, graph_.calls()[c].begin));
  }

  std::int64_t moved(std::size_t r, std::int64_t measured) const {
    return rules_.moved == nullptr ? measured : (*rules_.moved)(static_cast<std::int32_t>(r), measured);
  }

  void begins(std::uint32_t call, std::int64_t when) {
    if (begin_[call] != unknown) return;
    begin_[call] = when;
    begun_.push_back(call);
    while (!begun_.empty()) {
      const std::uint32_t node = begun_.back();
      begun_.pop_back();
      for (std::uint32_t r = waiting_[node]; r != nobody;) {
        const std::uint32_t next = ranks_[r].other;
        ranks_[r].waits_for = ranks_[r].other = nobody;
        ready_.push_back(r);
        r = next;
      }
      waiting_[node] = nobody;
      for (const std::uint32_t join : graph_.joins_of(node)) {
        const std::size_t j = join - graph_.calls().size();
        latest_[j] = std::max(latest_[j], begin_[node]);
        if (--missing_[j] > 0) continue;
        begin_[join] = latest_[j];
        begun_.push_back(join);
      }
    }
  }

  void go_on(std::uint32_t r) {
    Rank& rank = ranks_[r];
    const Stretch& s = stretches_[r];
    const std::vector<Call>& calls = graph_.calls();
    while (rank.next < s.end) {
      const Call& call = calls[rank.next];
      if (!rank.inside) {
        enter(rank, s, call);
        rank.arrival = call.first_arrival;
        rank.inside = true;
      }
      const auto arrivals = graph_.arrivals(rank.next);
      const auto to = call.first_arrival + static_cast<std::uint32_t>(arrivals.size());
      for (; rank.arrival < to; ++rank.arrival) {
        const std::uint32_t node = graph_.arrivals()[rank.arrival].node;
        const std::int64_t came = node == nobody ? 0 : begin_[node];
        if (came == unknown) {
          rank.waits_for = node;
          rank.other = waiting_[node];
          waiting_[node] = r;
          return;
        }
        rank.now = std::max(rank.now, sum_of(came, lags_[rank.arrival]));
      }
      if (rules_.returns != nullptr) (*rules_.returns)[rank.next] = rank.now;
      ++rank.next;
      rank.inside = false;
    }
    const std::int64_t end = sum_of(rank.now, s.tail);
    times_.end = std::max(times_.end, end);
    if (s.first < s.end) times_.ends[r] = end;
    if (s.end < graph_.end(static_cast<std::int32_t>(r))) begins(s.end, end);
  }

  // `now` is then the moment at which it returns, if it waits for nobody.
  void enter(Rank& rank, const Stretch& s, const Call& call) {
    std::int64_t gap = gaps_[rank.next];
    if (rank.next == s.first) {
      const std::int64_t measured = graph_.gap(rank.next), inside = call.begin - s.start;
      if (measured <= 0) gap = inside;
      else if (inside < measured)
        gap = static_cast<std::int64_t>(static_cast<double>(inside) * static_cast<double>(gap) /
                                        static_cast<double>(measured));
    }
    const std::int64_t begin = sum_of(rank.now, gap);
    begins(rank.next, begin);
    // On an ideal network a call costs nothing; but of one aside whose cause is not known nobody knows what would stay.
    const bool free = rules_.ideal && (call.part != Part::aside || !graph_.arrivals(rank.next).empty());
    rank.now = sum_of(begin, free ? 0 : call.own);
  }

  // Everybody waits for somebody. In sound data a call waits for nothing that begins after its own end, so there is
  // none; else the earliest call waits no longer for that.
  bool break_cycle() {
    std::uint32_t earliest = nobody;
    for (std::uint32_t r = 0; r < ranks_.size(); ++r) {
      if (ranks_[r].waits_for == nobody) continue;
      if (earliest == nobody || graph_.calls()[ranks_[r].next].begin < graph_.calls()[ranks_[earliest].next].begin)
        earliest = r;
    }
    if (earliest == nobody) return false;
    Rank& rank = ranks_[earliest];
    std::uint32_t* link = &waiting_[rank.waits_for];
    while (*link != earliest) link = &ranks_[*link].other;
    *link = rank.other;
    rank.waits_for = rank.other = nobody;
    ++rank.arrival;
    ++times_.left_out;
    ready_.push_back(earliest);
    return true;
  }

  const Graph& graph_;
  std::span<const Stretch> stretches_;
  std::span<const std::int64_t> gaps_, lags_;
  const Rules& rules_;
  std::vector<std::int64_t> begin_;     // by node
  std::vector<std::uint32_t> waiting_;  // by node: the first rank that waits for it
  std::vector<std::uint32_t> missing_;  // by join
  std::vector<std::int64_t> latest_;
  std::vector<Rank> ranks_;
  std::vector<std::uint32_t> ready_;  // ranks that may go on
  std::vector<std::uint32_t> begun_;  // nodes whose followers do not know yet
  Times times_;
};

}  // namespace

std::vector<Stretch> stretches(const Graph& graph, const Period& period) {
  std::vector<Stretch> list(static_cast<std::size_t>(graph.ranks()));
  const std::vector<Call>& calls = graph.calls();
  for (std::int32_t r = 0; r < graph.ranks(); ++r) {
    Stretch& s = list[static_cast<std::size_t>(r)];
    s.first = graph.first(r);
    while (s.first < graph.end(r) && calls[s.first].end <= period.from_ns) ++s.first;
    s.end = s.first;
    while (s.end < graph.end(r) && calls[s.end].end <= period.to_ns) ++s.end;
    if (s.first == s.end) continue;
    const Call &first = calls[s.first], &last = calls[s.end - 1];
    const std::int64_t computed_from = s.first > graph.first(r) ? calls[s.first - 1].end : first.begin;
    s.start = std::min(std::max(computed_from, period.from_ns), first.begin);
    if (s.end < graph.end(r)) s.tail = std::max<std::int64_t>(std::min(calls[s.end].begin, period.to_ns) - last.end, 0);
  }
  return list;
}

Times replay(const Graph& graph, std::span<const Stretch> ranks, std::span<const std::int64_t> gaps,
             std::span<const std::int64_t> lags, Trace* trace) {
  if (trace != nullptr) trace->returns.assign(graph.calls().size(), unknown);
  const Rules rules{gaps, lags, nullptr, trace == nullptr ? nullptr : &trace->returns};
  Engine engine(graph, ranks, rules);
  Times times = engine.run();
  if (trace != nullptr) trace->begins = engine.begins();
  return times;
}

IdealTimes replay_ideal(const Graph& graph, std::span<const Stretch> ranks, const Moved& moved) {
  std::vector<std::int64_t> gaps, lags;
  gaps.reserve(graph.calls().size());
  for (std::uint32_t c = 0; c < graph.calls().size(); ++c) gaps.push_back(graph.gap(c));
  lags.reserve(graph.arrivals().size());
  for (const Arrival& a : graph.arrivals()) lags.push_back(a.node == nobody ? a.lag : 0);
  IdealTimes times;
  times.returns.assign(graph.calls().size(), unknown);
  const Rules rules{gaps, lags, &moved, &times.returns, true};
  times.left_out = Engine(graph, ranks, rules).run().left_out;
  return times;
}

}  // namespace pclscope::whatif
