#include "analysis/delay/excess.hpp"

#include <algorithm>

namespace pclscope {
namespace {

using Kind = RankCall::Kind;
using Calls = std::vector<RankCall>;

constexpr int most_collectives = 4;  // newest ones of the late rank that are looked up with the other
constexpr std::size_t many_calls = 128;
constexpr int most_overlaps = 8;  // calls that overlap the begin of an interval (several threads)

const CallsOfRanks::Rank& rank_of(const CallsOfRanks& calls, std::int32_t rank) {
  return calls.ranks()[static_cast<std::size_t>(rank)];
}

std::size_t back(std::size_t index, std::size_t look_back) { return index > look_back ? index - look_back : 0; }

struct Search {
  const Calls &late, &waiting;
  const Lateness& l;
  std::size_t late_end, waiting_end;  // behind the calls that begin before the awaited call, and before the wait
  std::int64_t tolerance;
  // The best so far. Not an InStep: copied in one piece, it would wait for its parts to be written.
  std::int64_t late_ns = 0;
  bool found = false;
  std::int64_t waiting_ns = 0;

  void offer(std::int64_t of_late, std::int64_t of_waiting) {
    if (of_late >= l.late_ns || of_waiting > l.waiting_ns || of_late > of_waiting + tolerance) return;
    if (found && of_late <= late_ns) return;
    late_ns = of_late;
    waiting_ns = of_waiting;
    found = true;
  }

  void collective(const RankCall& of_late) {
    for (std::size_t i = waiting_end, stop = back(waiting_end, l.look_back); i > stop; --i) {
      const RankCall& c = waiting[i - 1];
      if (c.kind != Kind::collective || c.other != of_late.other) continue;
      return offer(of_late.wait_end, c.wait_end);
    }
  }

  void calls_of_late() {
    int collectives = 0;
    for (std::size_t i = late_end, stop = back(late_end, l.look_back); i > stop; --i) {
      const RankCall& c = late[i - 1];
      if (found && c.end <= late_ns) return;
      if (c.kind == Kind::send && c.peer == l.waiting) offer(c.begin, c.other);
      if (c.kind == Kind::collective && c.other != 0 && collectives++ < most_collectives) collective(c);
    }
  }

  // Its sends count when the late rank was already there for them.
  void calls_of_waiting() {
    for (std::size_t i = waiting_end, stop = back(waiting_end, l.look_back); i > stop; --i) {
      const RankCall& c = waiting[i - 1];
      if (found && c.begin + tolerance < late_ns) return;
      if (c.kind == Kind::send && c.peer == l.late) offer(c.other, c.begin);
    }
  }
};

// Never seen in step: from where both are known.
InStep from_what_is_known(const CallsOfRanks& calls, const Lateness& l) {
  const CallsOfRanks::Rank &late = rank_of(calls, l.late), &waiting = rank_of(calls, l.waiting);
  const auto begin = [&](const CallsOfRanks::Rank& rank, std::int64_t otherwise) {
    if (!rank.history.empty()) return rank.history.begin_ns();
    return rank.settled > 0 ? rank.calls.front().begin : otherwise;
  };
  const std::int64_t a = begin(late, l.late_ns), b = begin(waiting, l.waiting_ns);
  const bool all = late.complete && waiting.complete;
  const std::int64_t since = std::min(all ? std::min(a, b) : std::max(a, b), l.waiting_ns);
  return {since, since, false};
}

}  // namespace

InStep last_in_step(const CallsOfRanks& calls, const Lateness& l) {
  const CallsOfRanks::Rank &late = rank_of(calls, l.late), &waiting = rank_of(calls, l.waiting);
  Search search{late.calls,   waiting.calls, l, late.first_from(l.late_ns), waiting.first_from(l.waiting_ns),
                l.wait() / 16};
  search.calls_of_late();
  search.calls_of_waiting();
  return search.found ? InStep{search.late_ns, search.waiting_ns, true} : from_what_is_known(calls, l);
}

// Tells the visitor phases between calls, waits and other time inside MPI in [from, to), which they fill without
// overlaps: of the rank's history, then of its calls. What is in neither is not told.
template <class Visitor>
void Excess::walk(const CallsOfRanks::Rank& rank, std::int64_t from, std::int64_t to, Visitor& visitor) {
  const Calls& calls = rank.calls;
  const std::size_t end = rank.first_from(to);
  std::size_t i = end;
  while (i > 0 && calls[i - 1].begin >= from) --i;
  for (int n = 0; i > 0 && n < most_overlaps && calls[i - 1].end > from; ++n) --i;
  RankCall none;
  const RankCall* previous = i > 0 ? &calls[i - 1] : &none;
  std::int64_t now = from;
  if (i == 0 && !rank.history.empty()) {
    none.site = rank.history.last_site();
    none.kind = static_cast<RankCall::Kind>(rank.history.last_kind());
    const std::vector<Stretch>& stretches = rank.history.stretches();
    for (std::size_t n = 0; n < stretches.size(); ++n) {
      const Stretch& s = stretches[n];
      const std::int64_t common = std::min(s.end_ns, to) - std::max(s.begin_ns, from);
      if (common > 0) visitor.stretch(n, s, static_cast<double>(common) / static_cast<double>(s.end_ns - s.begin_ns));
    }
    now = std::max(now, std::min(rank.history.end_ns(), to));
  } else if (i == 0 && !rank.complete) {
    now = std::max(now, end > 0 ? std::min(calls[0].begin, to) : to);
  }
  for (; i < end; ++i) {
    const RankCall& c = calls[i];
    if (c.begin > now) visitor.phase(*previous, c, now, c.begin - now);
    const std::int64_t begin = std::max(now, c.begin), until = std::max(begin, std::min(c.end, to));
    const std::int64_t waited = std::clamp(c.wait_end, begin, until) - begin;
    if (waited > 0) visitor.wait(i, waited);
    visitor.inside(until - begin - waited);
    now = std::max(now, until);
    previous = &c;
  }
  if (now < to) visitor.phase(*previous, end < calls.size() ? calls[end] : RankCall(), now, to - now);
}

Excess::Phase* Excess::phase(std::uint32_t site, std::uint32_t after_site, std::uint8_t kinds, bool make) {
  for (Phase& s : phases_)
    if (s.site == site && s.after_site == after_site && s.kinds == kinds) return &s;
  if (!make) return nullptr;
  if (phases_.size() >= most_phases) return &phases_.back();
  Phase& s = phases_.emplace_back();
  s.site = site;
  s.after_site = after_site;
  s.kinds = kinds;
  return &s;
}

void Excess::add_waiting(std::uint32_t site, std::uint32_t after_site, std::uint8_t kinds, std::int64_t ns) {
  if (Phase* s = phase(site, after_site, kinds, false)) {
    s->waiting_ns += ns;
    return;
  }
  for (auto& [of_site, sum] : surplus_)
    if (of_site == site) {
      sum += ns;
      return;
    }
  if (surplus_.size() < most_phases) surplus_.emplace_back(site, ns);
}

// Ranks may come to the same call by other ones (which receive completes first, what a loop's first round did): the
// waiting rank's time before it stands against the late one's, whatever was before.
void Excess::cut_surplus() {
  for (const Phase& p : phases_) {
    if (p.waiting_ns <= p.late_ns) continue;
    const auto found = std::find_if(surplus_.begin(), surplus_.end(), [&](const auto& s) { return s.first == p.site; });
    if (found != surplus_.end()) found->second += p.waiting_ns - p.late_ns;
    else surplus_.emplace_back(p.site, p.waiting_ns - p.late_ns);
  }
  for (const auto& [site, surplus] : surplus_) {
    std::int64_t excess = 0;
    for (const Phase& p : phases_)
      if (p.site == site) excess += p.excess();
    if (excess <= 0) continue;
    const double part = std::min(1.0, static_cast<double>(surplus) / static_cast<double>(excess));
    for (Phase& p : phases_)
      if (p.site == site) p.cut_ns = static_cast<std::int64_t>(part * static_cast<double>(p.excess()));
  }
}

struct Excess::OfLate {
  Excess& e;
  void phase(const RankCall& before, const RankCall& after, std::int64_t begin, std::int64_t ns) {
    if (ns < e.negligible_) return;
    Phase& s = *e.phase(after.site, before.site, kinds_of(before, after), true);
    s.late_ns += ns;
    if (ns <= s.longest_ns) return;
    s.longest_ns = ns;
    s.visit_ns = begin;
  }
  void wait(std::size_t call, std::int64_t ns) {
    e.late_waited_ += ns;
    e.late_waits_.push_back({call, ns});
  }
  void inside(std::int64_t ns) { e.late_inside_ += ns; }
  void stretch(std::size_t index, const Stretch& s, double share) {
    for (const Stretch::Phase& p : s.phases) {
      const auto ns = static_cast<std::int64_t>(share * static_cast<double>(p.ns));
      if (ns == 0 || ns < e.negligible_) continue;
      Phase& phase = *e.phase(p.site, p.after_site, p.kinds, true);
      phase.late_ns += ns;
      if (p.longest_ns <= phase.longest_ns) continue;
      phase.longest_ns = p.longest_ns;
      phase.visit_ns = p.visit_ns;
    }
    const auto waited = static_cast<std::int64_t>(share * static_cast<double>(s.waited_ns));
    e.late_waited_ += waited;
    if (waited > 0) e.late_waits_.push_back({index, waited, true});
    e.late_inside_ += static_cast<std::int64_t>(share * static_cast<double>(s.inside_ns));
  }
};

struct Excess::OfWaiting {
  Excess& e;
  void phase(const RankCall& before, const RankCall& after, std::int64_t, std::int64_t ns) {
    if (ns < e.negligible_) return;
    e.add_waiting(after.site, before.site, kinds_of(before, after), ns);
  }
  void wait(std::size_t call, std::int64_t ns) {
    e.waiting_waited_ += ns;
    e.waiting_waits_.push_back({call, ns});
  }
  void inside(std::int64_t ns) { e.waiting_inside_ += ns; }
  void stretch(std::size_t index, const Stretch& s, double share) {
    for (const Stretch::Phase& p : s.phases) {
      const auto ns = static_cast<std::int64_t>(share * static_cast<double>(p.ns));
      if (ns == 0 || ns < e.negligible_) continue;
      e.add_waiting(p.site, p.after_site, p.kinds, ns);
    }
    const auto waited = static_cast<std::int64_t>(share * static_cast<double>(s.waited_ns));
    e.waiting_waited_ += waited;
    if (waited > 0) e.waiting_waits_.push_back({index, waited, true});
    e.waiting_inside_ += static_cast<std::int64_t>(share * static_cast<double>(s.inside_ns));
  }
};

void Excess::compare(const CallsOfRanks& calls, const Lateness& l, const InStep& since) {
  phases_.clear();
  surplus_.clear();
  late_waits_.clear();
  waiting_waits_.clear();
  late_waited_ = waiting_waited_ = late_inside_ = waiting_inside_ = 0;
  // Many short visits may add up, where there are many.
  const CallsOfRanks::Rank& late = rank_of(calls, l.late);
  const bool many = late.first_from(l.late_ns) > late.first_from(since.late_ns) + many_calls;
  negligible_ = l.wait() / (many ? 4096 : 256);
  OfLate of_late{*this};
  walk(rank_of(calls, l.late), since.late_ns, l.late_ns, of_late);
  OfWaiting of_waiting{*this};
  walk(rank_of(calls, l.waiting), since.waiting_ns, l.waiting_ns, of_waiting);
  cut_surplus();
}

}  // namespace pclscope
