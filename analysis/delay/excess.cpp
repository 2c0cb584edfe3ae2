#include "analysis/delay/excess.hpp"

#include <algorithm>

namespace pclscope {
namespace {

using Kind = RankCall::Kind;
using Calls = std::vector<RankCall>;

constexpr int most_collectives = 4;  // newest ones of the late rank that are looked up with the other
constexpr int most_overlaps = 8;     // calls that overlap the begin of an interval (several threads)

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
InStep from_what_is_known(const CallsOfRanks& calls, const Search& s, std::int32_t late, std::int32_t waiting) {
  const auto begin = [&](const Calls& of, std::size_t end, std::int64_t otherwise) {
    const std::size_t first = back(end, s.l.look_back);
    return first < of.size() ? of[first].begin : otherwise;
  };
  const auto whole = [&](std::int32_t rank, std::size_t end) {
    return rank_of(calls, rank).complete && end <= s.l.look_back;
  };
  const std::int64_t a = begin(s.late, s.late_end, s.l.late_ns), b = begin(s.waiting, s.waiting_end, s.l.waiting_ns);
  const bool all = whole(late, s.late_end) && whole(waiting, s.waiting_end);
  const std::int64_t since = std::min(all ? std::min(a, b) : std::max(a, b), s.l.waiting_ns);
  return {since, since, false};
}

}  // namespace

InStep last_in_step(const CallsOfRanks& calls, const Lateness& l) {
  const CallsOfRanks::Rank &late = rank_of(calls, l.late), &waiting = rank_of(calls, l.waiting);
  Search search{late.calls,   waiting.calls, l, late.first_from(l.late_ns), waiting.first_from(l.waiting_ns),
                l.wait() / 16};
  search.calls_of_late();
  search.calls_of_waiting();
  return search.found ? InStep{search.late_ns, search.waiting_ns, true}
                      : from_what_is_known(calls, search, l.late, l.waiting);
}

// Tells the visitor phases between calls, waits and other time inside MPI in [from, to), which they fill without
// overlaps. Calls further back than `look_back` are as if they had not been.
template <class Visitor>
void Excess::walk(const CallsOfRanks::Rank& rank, std::int64_t from, std::int64_t to, std::size_t look_back,
                  Visitor& visitor) {
  const Calls& calls = rank.calls;
  const std::size_t end = rank.first_from(to);
  const std::size_t least = back(end, look_back);
  std::size_t i = end;
  while (i > least && calls[i - 1].begin >= from) --i;
  for (int n = 0; i > least && n < most_overlaps && calls[i - 1].end > from; ++n) --i;
  const RankCall none;
  const RankCall* previous = i > 0 ? &calls[i - 1] : &none;
  std::int64_t now = from;
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
  if (now < to) visitor.phase(*previous, end < calls.size() ? calls[end] : none, now, to - now);
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

namespace {
// A posted receive and the call that completes it have one site: they are told apart.
std::uint8_t kinds_of(const RankCall& before, const RankCall& after) {
  return static_cast<std::uint8_t>(static_cast<unsigned>(before.kind) << 4 | static_cast<unsigned>(after.kind));
}
}  // namespace

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
};

struct Excess::OfWaiting {
  Excess& e;
  void phase(const RankCall& before, const RankCall& after, std::int64_t, std::int64_t ns) {
    if (ns < e.negligible_) return;
    if (Phase* s = e.phase(after.site, before.site, kinds_of(before, after), false)) s->waiting_ns += ns;
  }
  void wait(std::size_t call, std::int64_t ns) {
    e.waiting_waited_ += ns;
    e.waiting_waits_.push_back({call, ns});
  }
  void inside(std::int64_t ns) { e.waiting_inside_ += ns; }
};

void Excess::compare(const CallsOfRanks& calls, const Lateness& l, const InStep& since) {
  phases_.clear();
  late_waits_.clear();
  waiting_waits_.clear();
  late_waited_ = waiting_waited_ = late_inside_ = waiting_inside_ = 0;
  negligible_ = l.wait() / 256;
  OfLate of_late{*this};
  walk(rank_of(calls, l.late), since.late_ns, l.late_ns, l.look_back, of_late);
  OfWaiting of_waiting{*this};
  walk(rank_of(calls, l.waiting), since.waiting_ns, l.waiting_ns, l.look_back, of_waiting);
}

}  // namespace pclscope
