// What is not certain any more, and from where on. Nothing here ever pairs; everything errs towards ambiguous.
#include <algorithm>

#include "analysis/match/matcher.hpp"

namespace pclscope {

using record::any_source;
using record::any_tag;
namespace flag = record::flag;

namespace {
constexpr std::size_t poison_limit = 256;  // patterns per rank; beyond, everything the rank receives is in doubt
constexpr double clock_slack_ns = 20'000;  // between the clocks of one node's sockets
constexpr std::int64_t surplus_limit = std::int64_t{1} << 30;
}  // namespace

// An uncertain send and an uncertain receive of one channel may be the same message: count the larger number.
void Matcher::ambiguous_sends(Channel& c, std::uint64_t count) {
  const std::int64_t alone = std::max<std::int64_t>(-c.ambiguous_surplus, 0);  // receives without a send so far
  counts_.ambiguous += count - std::min(count, static_cast<std::uint64_t>(alone));
  const auto more = static_cast<std::int64_t>(std::min<std::uint64_t>(count, 2 * surplus_limit));
  c.ambiguous_surplus = static_cast<std::int32_t>(std::min(c.ambiguous_surplus + more, surplus_limit));
}
void Matcher::ambiguous_receives(Channel& c, std::uint64_t count) {
  const std::int64_t alone = std::max<std::int64_t>(c.ambiguous_surplus, 0);
  counts_.ambiguous += count - std::min(count, static_cast<std::uint64_t>(alone));
  const auto more = static_cast<std::int64_t>(std::min<std::uint64_t>(count, 2 * surplus_limit));
  c.ambiguous_surplus = static_cast<std::int32_t>(std::max(c.ambiguous_surplus - more, -surplus_limit));
}

// One of the uncertain sends was no message after all.
void Matcher::ambiguous_send_cancelled(Channel& c) {
  if (c.ambiguous_surplus > 0) --counts_.ambiguous;
  if (c.ambiguous_surplus > -surplus_limit) --c.ambiguous_surplus;
}

bool Matcher::Poison::covers(const Channel& c) const {
  return c.destination == rank && c.comm == comm && (source == any_source || source == c.source) &&
         (tag == any_tag || tag == c.tag);
}

void Matcher::mark_lossy(std::int32_t rank) {
  Rank& r = ranks_[rank];
  if (r.lossy) return;
  channels_.for_each([&](std::uint32_t index) {
    const Channel& c = channels_[index];
    if (c.source == rank) cut_sends(index);
    if (c.destination == rank) cut_receives(index, r, 0, true);
  });
  r.lossy = true;
  // Unresolved wildcards: their completions will be counted as they come, without a post.
  r.posted.for_each([&](std::uint32_t entry) {
    if (recvs_[entry].state == RecvState::wildcard) resolve_wildcard(r, entry);
    recvs_.give(entry);
  });
  r.posted.clear();
  r.wildcards.clear();
  flush_parked(rank, r);
}

// Keeps the sends whose fate needs no later event of the sender: a blocking send cannot be cancelled, and no untold
// send of another thread comes before it.
void Matcher::cut_sends(std::uint32_t index) {
  Channel& c = channels_[index];
  const Rank& r = ranks_[c.source];
  std::uint32_t last = no_index, at = c.send_head;
  while (at != no_index && !sends_[at].unrecorded && !can_be_cancelled(sends_[at]) &&
         !(r.several && record::number_of(sends_[at].ordinal) >= r.told_sends)) {
    sends_[at].raced = record::concurrent_of(sends_[at].ordinal) != 0;  // perhaps with one of the others
    last = at;
    at = sends_[at].next;
  }
  (last == no_index ? c.send_head : sends_[last].next) = no_index;
  c.send_tail = last;
  while (at != no_index) {
    const std::uint32_t next = sends_[at].next;
    ambiguous_sends(c, sends_[at].unrecorded ? sends_[at].bytes : 1);
    give_send(at);
    at = next;
  }
  mark_dirty(index);
}

// completed_only: keeps the receives whose turn is known now (completed, none of unknown fate before them).
// Otherwise keeps those posted before `from`. The others leave the channel; completed ones are ambiguous.
void Matcher::cut_receives(std::uint32_t index, Rank& r, std::uint64_t from, bool completed_only) {
  Channel& c = channels_[index];
  if (!completed_only) c.ambiguous_from = std::min(c.ambiguous_from, from);
  std::vector<std::uint32_t> kept;
  bool keep = true;
  while (front(c) != no_index) {
    const std::uint32_t entry = front(c);
    const RecvEntry& recv = recvs_[entry];
    const std::uint64_t number = record::number_of(recv.ordinal);
    pop_front(c);
    if (completed_only)
      keep = keep && recv.state != RecvState::posted && !(r.several && number >= r.told_recvs) &&
             r.wildcards.blocker(c.comm, c.source, c.tag, number, recvs_) == no_index;
    else keep = keep && number < from;
    if (keep) {
      // Perhaps with one of the others.
      if (completed_only && record::concurrent_of(recv.ordinal) != 0) recvs_[entry].bits |= recv_bit::out_of_order;
      kept.push_back(entry);
      continue;
    }
    if (recv.state == RecvState::completed) ambiguous_receives(c);
    if (recv.state == RecvState::unrecorded) ambiguous_receives(c, recv.bytes);
    // A lossy rank's table is emptied by its caller, entries included.
    const bool in_table = recv.state == RecvState::posted;
    if (in_table && completed_only) continue;
    if (in_table) r.posted.take(number);
    give_receive(entry);
  }
  for (const std::uint32_t entry : kept) append(c, entry);
  mark_dirty(index);
}

void Matcher::poison(std::int32_t rank, std::uint64_t comm, std::int32_t source, std::int32_t tag, std::uint64_t from) {
  Rank& r = ranks_[rank];
  if (r.lossy) return;
  const Poison added{rank, comm, source, tag, from};
  std::size_t of_rank = 0;
  for (const Poison& p : poisons_) {
    if (p.rank != rank) continue;
    ++of_rank;
    const bool wider = p.comm == comm && (p.source == any_source || p.source == source) &&
                       (p.tag == any_tag || p.tag == tag) && p.from <= from;
    if (wider) return;
  }
  if (of_rank >= poison_limit) return mark_lossy(rank);
  poisons_.push_back(added);
  std::vector<std::uint32_t> covered;
  channels_.for_each([&](std::uint32_t index) {
    if (added.covers(channels_[index])) covered.push_back(index);
  });
  for (const std::uint32_t index : covered) cut_receives(index, r, from, false);
}

// Of a pair that is about to be told: what speaks against it, nullptr: nothing.
const char* Matcher::contradiction_of(const Channel& c, const SendEntry& send, const RecvEntry& recv) const {
  if (recv.state != RecvState::completed || send.unrecorded) return nullptr;
  if (recv.bytes > send.bytes && recv.bytes != ~0ull && !(recv.bits & recv_bit::truncated)) [[unlikely]]
    return "a message was received with more bytes than it was sent with";
  if (recv.end < send.begin && !(recv.bits & recv_bit::unseen_end) && !ranks_[c.source].away) [[unlikely]] {
    const double early = static_cast<double>(send.begin - recv.end) * scale_.ns_per_tick;
    if (early > clock_slack_ns) return "a message was received before it was sent";
  }
  return nullptr;
}

void Matcher::contradict(std::uint32_t index, const char* what) {
  const Channel& c = channels_[index];
  ++counts_.contradictions;
  if (!contradiction_) contradiction_ = {c.comm, c.source, c.destination, c.tag, what};
  poison(c.destination, c.comm, c.source, c.tag, 0);
}

}  // namespace pclscope
