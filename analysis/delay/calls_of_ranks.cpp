#include "analysis/delay/calls_of_ranks.hpp"

#include <algorithm>
#include <tuple>

#include "interpose/record/event.hpp"

namespace pclscope {
namespace {

using Kind = RankCall::Kind;

std::uint32_t site_id(std::uint64_t site) { return site > UINT32_MAX ? 0 : static_cast<std::uint32_t>(site); }

// Of receives that one call completed, the one that was sent last comes first; equal ones in any order of arrival.
struct Before {
  bool operator()(const RankCall& a, const RankCall& b) const {
    if (a.begin != b.begin) return a.begin < b.begin;
    return std::tie(a.kind, a.end, b.wait_end, a.peer, a.site) < std::tie(b.kind, b.end, a.wait_end, b.peer, b.site);
  }
};
constexpr Before before;

// They come nearly in order; std::sort for the rest.
void sort_calls(std::vector<RankCall>::iterator first, std::vector<RankCall>::iterator last) {
  std::ptrdiff_t moves_left = 8 * (last - first);
  for (auto it = first; it != last; ++it) {
    if (it == first || !before(*it, it[-1])) continue;
    const RankCall call = *it;
    auto hole = it;
    for (; hole != first && before(call, hole[-1]); --hole, --moves_left) *hole = hole[-1];
    *hole = call;
    if (moves_left < 0) return std::sort(first, last, before);
  }
}

bool same_call(const RankCall& a, const RankCall& b) {
  return a.begin == b.begin && a.kind == b.kind && a.end == b.end && a.kind == Kind::completion;
}

// Two parts of one call, the longer wait first: it is told by that, at the place where it posted a receive.
RankCall joined(const RankCall& first, const RankCall& second) {
  RankCall call = first;
  if (first.of_send && !second.of_send) call.site = second.site;
  return call;
}

// Of sorted calls: each call's parts become one. Returns the new end.
std::vector<RankCall>::iterator join_parts(std::vector<RankCall>::iterator first,
                                           std::vector<RankCall>::iterator last) {
  auto to = first;
  for (auto it = first; it != last; ++it) {
    if (it != first && same_call(to[-1], *it)) to[-1] = joined(to[-1], *it);
    else *to++ = *it;
  }
  return to;
}

// A blocking send that returned after its receiver came, and that MPI did not merely copy. One that MPI copies returns
// at once, unless its buffer is freed only when the receiver is in MPI next: long after it began, right before or after
// the receive is posted.
bool waited_for_receiver(const Message& m) {
  namespace flag = record::flag;
  if (m.flags & (flag::nonblocking | flag::persistent | flag::partitioned | flag::buffered)) return false;
  if (m.source == m.destination || m.recv_post <= m.send_begin) return false;
  const bool may_wait = (m.flags & flag::synchronous) || m.bytes >= CallsOfRanks::eager_bytes;
  if (may_wait && m.recv_post <= m.send_end) return true;
  const std::int64_t post = CallsOfRanks::cut(m.recv_post), end = CallsOfRanks::cut(m.send_end);
  const std::int64_t waited = std::min(post, end) - CallsOfRanks::cut(m.send_begin);
  return waited >= CallsOfRanks::long_wait_ns && std::max(post, end) - std::min(post, end) <= waited / 8;
}

}  // namespace

// Doubles its stride from where it was.
std::size_t CallsOfRanks::Rank::first_from(std::int64_t time) const {
  std::size_t low = std::min(near, settled), high = low, stride = 1;  // all before low begin earlier, from high on not
  if (low < settled && calls[low].begin < time) {
    for (; high < settled && calls[high].begin < time; stride *= 2) {
      low = high + 1;
      high = std::min(settled, high + stride);
    }
  } else {
    for (; low > 0 && calls[low - 1].begin >= time; stride *= 2) {
      high = low - 1;
      low = high > stride ? high - stride : 0;
    }
  }
  const auto from = calls.begin() + static_cast<std::ptrdiff_t>(low);
  const auto to = calls.begin() + static_cast<std::ptrdiff_t>(high);
  const auto it = std::partition_point(from, to, [=](const RankCall& c) { return c.begin < time; });
  return near = static_cast<std::size_t>(it - calls.begin());
}

CallsOfRanks::Rank& CallsOfRanks::append(std::int32_t rank, const RankCall& call) {
  const auto i = static_cast<std::size_t>(rank);
  Rank& r = ranks_[i];
  r.calls.push_back(call);
  if (is_touched_[i]) return r;
  is_touched_[i] = true;
  touched_.push_back(rank);
  return r;
}

// Mostly the receives of one call follow each other.
void CallsOfRanks::complete(std::int32_t rank, const RankCall& receive) {
  Rank& r = ranks_[static_cast<std::size_t>(rank)];
  if (r.completion >= r.calls.size() || !same_call(r.calls[r.completion], receive)) {
    append(rank, receive);
    r.completion = r.calls.size() - 1;
  } else {
    RankCall& call = r.calls[r.completion];
    call = before(receive, call) ? joined(receive, call) : joined(call, receive);
  }
}

bool CallsOfRanks::add(const Message& m) {
  if (!knows(m.source) || !knows(m.destination)) return false;
  const bool seen = !(m.flags & message_flag::unseen_completion);
  const bool timed =
      seen && !(m.flags & (message_flag::clock_violation | message_flag::clock_unclear)) && m.recv_end >= m.send_begin;
  RankCall send;
  send.kind = Kind::send;
  send.begin = send.wait_end = cut(m.send_begin);
  send.end = std::max(cut(m.send_end), send.begin);
  send.other = timed ? std::max(cut(m.recv_wait), send.begin) : INT64_MAX;  // not timed: it aligns nobody
  send.site = site_id(m.send_site);
  send.peer = m.destination;
  const bool waited = timed && waited_for_receiver(m);
  if (waited && !(m.flags & message_flag::sendrecv_send)) send.wait_end = std::min(cut(m.recv_post), send.end);
  append(m.source, send);
  if (waited && m.flags & message_flag::sendrecv_send) {  // what ended the call is whatever came last
    RankCall both = send;
    both.kind = Kind::completion;
    both.of_send = true;
    both.wait_end = std::min(cut(m.recv_post), send.end);
    complete(m.source, both);
  }

  RankCall receive;
  receive.site = site_id(m.recv_site);
  receive.peer = m.source;
  if (!seen || m.recv_post != m.recv_wait) {
    receive.kind = Kind::post;
    receive.begin = receive.end = receive.wait_end = cut(m.recv_post);
    append(m.destination, receive);
  }
  if (!seen) return true;
  receive.kind = Kind::completion;
  receive.first_come = (m.flags & record::flag::first_come) != 0;
  receive.begin = receive.wait_end = cut(m.recv_wait);
  receive.end = std::max(cut(m.recv_end), receive.begin);
  if (timed && m.source != m.destination) receive.wait_end = std::max(receive.begin, std::min(send.begin, receive.end));
  complete(m.destination, receive);
  return true;
}

// A nonblocking collective is a post, and, when that is known, the call that completed it.
bool CallsOfRanks::add(const CollectiveCall& c) {
  if (!knows(c.rank)) return false;
  RankCall call;
  call.site = site_id(c.site);
  call.group = group_of(c);
  // Begin and end of the job: there is nothing before, or behind, to be compared.
  if (call.group == WaitGroup::start_up || call.group == WaitGroup::finish) return true;
  call.kind = Kind::collective;
  if (c.nonblocking) {
    call.kind = Kind::post;
    call.begin = call.end = call.wait_end = cut(c.begin);
    append(c.rank, call);
    if (c.completing <= 0) return true;
    call.kind = Kind::collective;
  }
  if (call.group == WaitGroup::point_to_point) {
    call.kind = Kind::completion;
    call.of_send = c.shape == CollectiveShape::send;
    call.first_come = of_any_source(c);
  }
  call.begin = call.wait_end = cut(c.wait_begin());
  call.end = std::max(cut(c.end), call.begin);
  if (c.awaited != c.rank && knows(c.awaited)) {
    call.peer = c.awaited;
    call.wait_end = std::clamp(cut(c.awaited_begin), call.begin, call.end);
  }
  if (call.kind == Kind::completion) {
    complete(c.rank, call);
    return true;
  }
  if (c.shape != CollectiveShape::unknown && !c.nonblocking) {
    const std::uint64_t key = (c.comm + 0x9e3779b97f4a7c15u) * 0xbf58476d1ce4e5b9u ^ c.ordinal * 0x94d049bb133111ebu ^
                              static_cast<std::uint64_t>(c.function) << 48;
    call.other = static_cast<std::int64_t>(key | 1);
  }
  append(c.rank, call);
  return true;
}

void CallsOfRanks::settle(std::int64_t least_wait, std::vector<Wait>* waits) {
  for (const std::int32_t rank : touched_) settle_rank(rank, least_wait, waits);
}

void CallsOfRanks::settle_rank(std::int32_t rank, std::int64_t least_wait, std::vector<Wait>* waits) {
  Rank& r = ranks_[static_cast<std::size_t>(rank)];
  auto& calls = r.calls;
  if (r.settled == calls.size()) return;
  const auto fresh = calls.begin() + static_cast<std::ptrdiff_t>(r.settled);
  // A receive that was posted long ago is told when it completes: its place is in the history, which is written.
  if (!r.history.empty())
    calls.erase(
        std::remove_if(fresh, calls.end(), [end = r.history.end_ns()](const RankCall& c) { return c.end < end; }),
        calls.end());
  if (r.settled == calls.size()) return;
  sort_calls(fresh, calls.end());
  calls.erase(join_parts(fresh, calls.end()), calls.end());
  std::size_t from = r.settled;
  if (from > 0 && before(*fresh, calls[from - 1])) {  // told late
    const auto first = std::upper_bound(calls.begin(), fresh, *fresh, before);
    from = static_cast<std::size_t>(first - calls.begin());
    std::inplace_merge(first, fresh, calls.end(), before);
  }
  // Parts of a call may be told in different rounds: the longest wait counts, unless a shorter one has been followed.
  std::size_t to = from;
  for (std::size_t i = from; i < calls.size(); ++i) {
    RankCall& c = calls[i];
    bool has_other = false;  // with a shorter wait, told before
    if (c.fresh) {
      c.fresh = false;
      if (to > 0 && same_call(calls[to - 1], c)) continue;
      has_other = i + 1 < calls.size() && same_call(c, calls[i + 1]);
      if (has_other && calls[i + 1].followed) continue;
      if (has_other) c = joined(c, calls[i + 1]);
      if (waits && c.wait() > 0 && c.wait() >= least_wait) waits->push_back({rank, c});
    }
    if (to != i) calls[to] = c;
    ++to;
    i += has_other;
  }
  calls.resize(to);
  r.settled = calls.size();
  r.completion = SIZE_MAX;
}

RankCall* CallsOfRanks::find(const Wait& wait) {
  Rank& rank = ranks_[static_cast<std::size_t>(wait.rank)];
  auto& calls = rank.calls;
  auto it = calls.begin() + static_cast<std::ptrdiff_t>(rank.first_from(wait.call.begin));
  if (it != calls.end() && before(*it, wait.call)) it = std::lower_bound(it, calls.end(), wait.call, before);
  if (it == calls.end() || !(it->begin == wait.call.begin && it->kind == wait.call.kind)) return nullptr;
  if (it->end != wait.call.end || it->wait_end != wait.call.wait_end || it->peer != wait.call.peer) return nullptr;
  return &*it;
}

}  // namespace pclscope
