// What ranks wait for, as far as events tell. The deadlock detection asks, for ranks that seem stuck.
#include <algorithm>

#include "analysis/match/matcher.hpp"

namespace pclscope {

using record::any_source;
using record::any_tag;

namespace {
std::uint64_t count_of(const SendEntry& send) { return send.unrecorded ? send.bytes : 1; }
std::uint64_t count_of(const RecvEntry& recv) {
  return recv.state == RecvState::gone ? 0 : recv.state == RecvState::unrecorded ? recv.bytes : 1;
}
bool is_complete(const RecvEntry& recv) {
  return recv.state == RecvState::completed || recv.state == RecvState::unrecorded;
}
}  // namespace

std::uint64_t Matcher::sends_of(const Channel& c) const {
  std::uint64_t count = 0;
  for (std::uint32_t at = c.send_head; at != no_index; at = sends_[at].next) count += count_of(sends_[at]);
  return count;
}

// Those before `end`; all without it.
std::uint64_t Matcher::receives_of(const Channel& c, std::uint32_t end) const {
  std::uint64_t count = c.late == no_index ? 0 : late_[c.late].size();
  for (std::uint32_t at = c.recv_head; at != end && at != no_index; at = recvs_[at].next) count += count_of(recvs_[at]);
  return count;
}

// Sends of the channel that no receive before `end` takes.
bool Matcher::spare_send(const Channel& c, std::uint32_t end) const { return sends_of(c) > receives_of(c, end); }

bool Matcher::is_behind(std::int32_t rank) const {
  return is_rank(rank) && (ranks_[rank].parked > 0 || owes(ranks_[rank]));
}

std::optional<Outstanding> Matcher::outstanding_receive(std::int32_t rank, std::uint64_t number) const {
  if (!is_rank(rank)) return std::nullopt;
  const std::uint32_t entry = ranks_[rank].posted.find(number);
  if (entry == no_index) return std::nullopt;
  const RecvEntry& recv = recvs_[entry];
  Outstanding out;
  if (recv.state != RecvState::wildcard) {
    const Channel& c = channels_[recv.channel];
    // Of receives that several threads posted at once, any may get the message.
    const bool spare = ranks_[rank].several ? undelivered(c) > 0 : spare_send(c, entry);
    out = {c.source, c.tag, c.comm, sends_in_doubt(c) || receives_in_doubt(c) || spare};
    return out;
  }
  out = {pattern_source(recv.wait), pattern_tag(recv.wait), recv.bytes, false};
  channels_.for_each([&](std::uint32_t index) {
    const Channel& c = channels_[index];
    if (c.destination != rank || c.comm != out.comm || c.send_head == no_index) return;
    if (out.source != any_source && out.source != c.source) return;
    if (out.tag != any_tag && out.tag != c.tag) return;
    // Receives of the channel that were posted later do not come before a wildcard.
    out.could_take_sent |= sends_in_doubt(c) || receives_in_doubt(c) || undelivered(c) > 0;
  });
  return out;
}

bool Matcher::send_taken(std::int32_t rank, std::uint64_t number) const {
  if (!is_rank(rank)) return true;
  bool taken = true;
  channels_.for_each([&](std::uint32_t index) {
    const Channel& c = channels_[index];
    if (c.source != rank || !taken) return;
    std::size_t before = 0;
    std::uint32_t at = c.send_head;
    for (; at != no_index && sends_[at].ordinal != number; at = sends_[at].next) ++before;
    if (at != no_index) taken = receives_of(c) > before || wildcard_covers(c);
  });
  return taken;
}

bool Matcher::receive_would_take(std::int32_t rank, std::int32_t source, std::uint64_t comm, std::int32_t tag) const {
  if (!is_rank(rank)) return true;
  Channel asked;
  asked.comm = comm;
  asked.source = source;
  asked.destination = rank;
  asked.tag = tag;
  if (wildcard_covers(asked)) return true;
  const std::uint32_t index = channels_.find(comm, source, rank, tag);
  if (index == no_index) return ranks_[rank].lossy;
  const Channel& c = channels_[index];
  return receives_in_doubt(c) || receives_of(c) > sends_of(c);
}

// Sends without receives that are complete; negative: receives that are ahead.
std::int64_t Matcher::undelivered(const Channel& c) const {
  std::uint64_t complete = c.late == no_index ? 0 : late_[c.late].size();
  for (std::uint32_t at = c.recv_head; at != no_index; at = recvs_[at].next)
    if (is_complete(recvs_[at])) complete += count_of(recvs_[at]);
  return static_cast<std::int64_t>(sends_of(c)) - static_cast<std::int64_t>(complete);
}

bool Matcher::received_ahead(std::int32_t rank, std::int32_t source, std::uint64_t comm, std::int32_t tag) const {
  if (!is_rank(rank)) return false;
  const std::uint32_t index = channels_.find(comm, source, rank, tag);
  if (index == no_index) return false;
  const Channel& c = channels_[index];
  return !sends_in_doubt(c) && !receives_in_doubt(c) && undelivered(c) < 0;
}

bool Matcher::message_waits(std::int32_t rank, std::int32_t source, std::uint64_t comm, std::int32_t tag,
                            bool posted_too) const {
  if (!is_rank(rank)) return true;
  const auto waits = [&](const Channel& c) {
    return sends_in_doubt(c) || receives_in_doubt(c) || (posted_too ? undelivered(c) > 0 : spare_send(c, no_index));
  };
  if (source != any_source && tag != any_tag) {
    const std::uint32_t index = channels_.find(comm, source, rank, tag);
    return index != no_index && waits(channels_[index]);
  }
  bool found = false;
  channels_.for_each([&](std::uint32_t index) {
    const Channel& c = channels_[index];
    if (found || c.destination != rank || c.comm != comm) return;
    if ((source == any_source || source == c.source) && (tag == any_tag || tag == c.tag)) found = waits(c);
  });
  return found;
}

Matcher::Unpaired Matcher::earliest_unpaired(std::uint64_t from) const {
  Unpaired unpaired;
  channels_.for_each([&](std::uint32_t index) {
    const Channel& c = channels_[index];
    ++unpaired.looked_at;
    if (c.recv_head == no_index || c.send_head != no_index || sends_in_doubt(c) || receives_in_doubt(c)) return;
    for (std::uint32_t at = c.recv_head; at != no_index; at = recvs_[at].next) {
      const RecvEntry& recv = recvs_[at];
      ++unpaired.looked_at;
      if (recv.state == RecvState::completed && !(recv.bits & recv_bit::unseen_end) && recv.end >= from)
        unpaired.end = std::min(unpaired.end, recv.end);
    }
  });
  return unpaired;
}

void Matcher::outstanding_sends(const std::function<bool(std::int32_t rank)>& wanted, const VisitSend& visit) const {
  channels_.for_each([&](std::uint32_t index) {
    const Channel& c = channels_[index];
    if (c.send_head == no_index || !wanted(c.source)) return;
    const bool open = sends_in_doubt(c) || receives_in_doubt(c) || wildcard_covers(c);
    std::uint64_t receives = receives_of(c);
    for (std::uint32_t at = c.send_head; at != no_index; at = sends_[at].next) {
      if (!sends_[at].unrecorded)
        visit(c.source, sends_[at].ordinal, c.destination, c.comm, c.tag, open || receives > 0);
      receives -= std::min(receives, count_of(sends_[at]));
    }
  });
}

bool Matcher::takings(const std::function<bool(std::int32_t rank)>& wanted, const VisitTaking& visit) const {
  bool all_known = true;
  channels_.for_each([&](std::uint32_t index) {
    const Channel& c = channels_[index];
    if (!wanted(c.destination)) return;
    if (receives_in_doubt(c) || receives_of(c) > sends_of(c)) visit(c.destination, c.source, c.comm, c.tag);
  });
  for (std::int32_t rank = 0; is_rank(rank); ++rank) {
    if (!wanted(rank)) continue;
    all_known = all_known && !ranks_[rank].lossy;
    ranks_[rank].posted.for_each([&](std::uint32_t entry) {
      const RecvEntry& recv = recvs_[entry];
      if (recv.state == RecvState::wildcard) visit(rank, pattern_source(recv.wait), recv.bytes, pattern_tag(recv.wait));
    });
  }
  return all_known;
}

bool Matcher::wildcard_covers(const Channel& c) const {
  bool covers = false;
  ranks_[c.destination].posted.for_each([&](std::uint32_t entry) {
    const RecvEntry& recv = recvs_[entry];
    if (recv.state != RecvState::wildcard || recv.bytes != c.comm) return;
    const std::int32_t source = pattern_source(recv.wait), tag = pattern_tag(recv.wait);
    covers |= (source == any_source || source == c.source) && (tag == any_tag || tag == c.tag);
  });
  return covers;
}

}  // namespace pclscope
