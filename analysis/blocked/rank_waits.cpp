#include "analysis/blocked/rank_waits.hpp"

#include <algorithm>
#include <numeric>
#include <string_view>

#include "analysis/blocked/call_kind.hpp"
#include "interpose/record/functions.hpp"

namespace pclscope::blocked {

using record::any_source;
using record::any_tag;

namespace {

// Of many that are needed, each suffices to show that a rank is stuck: keep the graph small.
constexpr std::size_t most_needs = 64;

bool is_awaited_collective(std::uint64_t what) {
  return !(what & (record::awaited_receive | record::awaited_send)) && (what & record::awaited_collective);
}

std::uint64_t number_in(std::uint64_t awaited) { return awaited & record::number_mask; }

// MPI_Bcast and MPI_Bcast_c are.
bool same_collective(std::uint16_t a, std::uint16_t b) {
  const auto name = [](std::uint16_t function) {
    const std::string_view text = record::function_name(function);
    return text.ends_with("_c") ? text.substr(0, text.size() - 2) : text;
  };
  return a == b || name(a) == name(b);
}

// Where the send of a Sendrecv goes: destination and tag.
std::optional<std::pair<std::int32_t, std::int32_t>> send_of(const CurrentCall& call) {
  if (call.awaited.empty() || !(call.awaited[0] & record::awaited_send)) return std::nullopt;
  return std::pair(static_cast<std::int32_t>(call.awaited[0] >> 31 & 0x7fffffff),
                   static_cast<std::int32_t>(call.awaited[0] & 0x7fffffff));
}

}  // namespace

RankWaits::RankWaits(std::span<const RankNow> ranks, const Matcher& matcher, const Participants& participants,
                     const Operations& operations)
    : ranks_(ranks),
      matcher_(matcher),
      participants_(participants),
      operations_(operations),
      called_(ranks.size()),
      sending_(ranks.size()) {
  graph_.ranks = static_cast<std::int32_t>(ranks.size());
  for (const RankNow& rank : ranks) graph_.finished.push_back(rank.finished);
  collect_sending();
  collect_sent();
  for (std::size_t r = 0; r < ranks.size(); ++r) {
    if (ranks[r].finished || !ranks[r].blocked) continue;
    for (std::size_t c = 0; c < ranks[r].calls.size(); ++c) add_waiter(static_cast<std::int32_t>(r), c);
  }
}

void RankWaits::collect_sending() {
  for (std::size_t r = 0; r < ranks_.size(); ++r) {
    const auto rank = static_cast<std::int32_t>(r);
    for (const CurrentCall& call : ranks_[r].calls) {
      const CallKind kind = call_kind(call.function);
      if (kind == CallKind::send && knows(call.peer)) {
        sending_[static_cast<std::size_t>(call.peer)].push_back({rank, call.comm, call.tag});
      } else if (kind == CallKind::exchange) {
        const auto to = send_of(call);
        if (to && knows(to->first))
          sending_[static_cast<std::size_t>(to->first)].push_back({rank, call.comm, to->second});
      }
    }
  }
}

// What becomes of the sends that somebody waits for: one walk over all outstanding sends for all of them.
void RankWaits::collect_sent() {
  std::vector<char> asks(ranks_.size(), 0);
  for (std::size_t r = 0; r < ranks_.size(); ++r) {
    if (!ranks_[r].blocked) continue;
    for (const CurrentCall& call : ranks_[r].calls) {
      if (call_kind(call.function) == CallKind::exchange) continue;
      for (const std::uint64_t what : call.awaited) {
        if (!(what & record::awaited_send)) continue;
        sent_[{static_cast<std::int32_t>(r), number_in(what)}] = {any_source, 0, any_tag, true};
        asks[r] = 1;
      }
    }
  }
  if (sent_.empty()) return;
  matcher_.outstanding_sends([&](std::int32_t rank) { return asks[static_cast<std::size_t>(rank)] != 0; },
                             [&](std::int32_t rank, std::uint64_t number, std::int32_t destination, std::uint64_t comm,
                                 std::int32_t tag, bool taken) {
                               const auto asked = sent_.find({rank, record::number_of(number)});
                               if (asked != sent_.end()) asked->second = {destination, comm, tag, taken};
                             });
}

void RankWaits::add_waiter(std::int32_t rank, std::size_t index) {
  const RankNow& now = ranks_[static_cast<std::size_t>(rank)];
  const CurrentCall& call = now.calls[index];
  Waiter w;
  w.rank = rank;
  const Pattern pattern{call.peer, call.comm, call.tag};
  const auto receive = [&] {
    add(w, message(rank, pattern, matcher_.message_waits(rank, call.peer, call.comm, call.tag, now.many_threads)));
  };
  switch (const CallKind kind = call_kind(call.function); kind) {
    case CallKind::receive: receive(); break;
    case CallKind::send: add(w, receiver(rank, call.peer, call.comm, call.tag)); break;
    case CallKind::exchange:
      receive();
      add(w, sendrecv_send(rank, call));
      break;
    case CallKind::wait_all: add_all(w, call); break;
    case CallKind::wait_any: add_any(w, call); break;
    case CallKind::creation: add_creation(w, call); break;
    default:
      if (is_collective(kind)) add_collective(w, call);
      else add_operation(w, call);
  }
  graph_.waiters.push_back(std::move(w));
  calls_.push_back(index);
}

void RankWaits::add_all(Waiter& w, const CurrentCall& call) {
  for (std::size_t i = 0; i < call.awaited.size(); ++i) {
    if (is_awaited_collective(call.awaited[i])) add_awaited_collective(w, call.awaited[i], call.awaited_comm[i]);
    else add(w, awaited(w.rank, call.awaited[i]));
  }
}

void RankWaits::add_any(Waiter& w, const CurrentCall& call) {
  if (call.awaited.size() != call.awaited_count) return;
  std::vector<std::int32_t> ranks;
  for (std::size_t i = 0; i < call.awaited.size(); ++i) {
    Waiter one;
    one.rank = w.rank;
    if (is_awaited_collective(call.awaited[i])) add_awaited_collective(one, call.awaited[i], call.awaited_comm[i]);
    else add(one, awaited(w.rank, call.awaited[i]));
    if (one.needs.empty()) return;
    for (const std::uint32_t need : one.needs)
      ranks.insert(ranks.end(), graph_.sets[need].begin(), graph_.sets[need].end());
  }
  add(w, one_of(std::move(ranks)));
}

void RankWaits::add_collective(Waiter& w, const CurrentCall& call) {
  const Participants::Comm* comm = participants_.comm(call.comm);
  const Participants::Member* self = comm == nullptr ? nullptr : comm->find(w.rank);
  const auto own = self == nullptr ? std::nullopt : begun(*self, call.comm);
  if (!own) return;
  const Missing& others = missing(call.comm, *own, false);
  if (others.all_known && others.ranks.empty()) return add_other_collectives(w, call, *comm, *own);
  const auto is_missing = [&](std::int32_t rank) {
    return std::binary_search(others.ranks.begin(), others.ranks.end(), rank);
  };
  const CallKind kind = call_kind(call.function);
  if (kind == CallKind::all_of_all || (kind == CallKind::all_to_root && call.peer == w.rank)) {
    add_each(w, others.ranks);
  } else if (kind == CallKind::root_to_all && is_missing(call.peer)) {
    add(w, exactly(call.peer));
  } else {
    add(w, others.one_of_them);
  }
}

// All have begun their collective of that number, and some of them called another function: then no call is complete
// without those who called something else. Roots are not compared.
void RankWaits::add_other_collectives(Waiter& w, const CurrentCall& call, const Participants::Comm& comm,
                                      std::uint64_t number) {
  if (comm.foreign) return;  // two groups
  std::vector<std::int32_t> others;
  std::vector<std::pair<std::int32_t, std::uint16_t>> called;
  for (const Participants::Member& m : comm.members) {
    const std::uint16_t function = m.rank == w.rank ? call.function : function_of(m, call.comm, number);
    if (function == 0) return;
    called.emplace_back(m.rank, function);
    if (!same_collective(function, call.function)) others.push_back(m.rank);
  }
  if (others.empty()) return;
  for (const auto& [rank, function] : called) called_[static_cast<std::size_t>(rank)] = function;
  add(w, one_of(std::move(others)));
}

// 0: not known, or none that blocks.
std::uint16_t RankWaits::function_of(const Participants::Member& m, std::uint64_t comm, std::uint64_t number) const {
  const auto now = begun(m, comm);
  if (!now) return 0;
  if (*now > number) return m.function_of(number);
  for (const CurrentCall& call : ranks_[static_cast<std::size_t>(m.rank)].calls)
    if (call.comm == comm && is_collective(call_kind(call.function))) return call.function;
  return 0;
}

// None when all have begun it.
void RankWaits::add_awaited_collective(Waiter& w, std::uint64_t what, std::uint64_t comm) {
  const Missing& others = missing(comm, number_in(what), false);
  const auto function = static_cast<std::uint16_t>(what >> record::number_bits & 0xffff);
  if (nonblocking_kind(function) == CallKind::all_of_all) add_each(w, others.ranks);
  else add(w, others.one_of_them);
}

std::optional<std::uint64_t> RankWaits::begun(const Participants::Member& m, std::uint64_t comm) const {
  if (!participants_.certain(m)) return std::nullopt;
  if (!here(m.rank)) return std::nullopt;
  std::uint64_t begun = m.collectives;
  for (const record::SegmentHeader* header : ranks_[static_cast<std::size_t>(m.rank)].headers) {
    const Posted posted = posted_on(*header, comm);
    if (!posted.known) return std::nullopt;
    begun = std::max(begun, posted.count);
  }
  return begun;
}

void RankWaits::add_creation(Waiter& w, const CurrentCall& call) {
  const Participants::Comm* comm = participants_.comm(call.comm);
  const Participants::Member* self = comm == nullptr ? nullptr : comm->find(w.rank);
  if (self == nullptr || !comm->complete || !participants_.certain(*self)) return;
  add_each(w, missing(call.comm, self->creations, true).ranks);
}

void RankWaits::add_each(Waiter& w, const std::vector<std::int32_t>& ranks) {
  for (std::size_t i = 0; i < std::min(ranks.size(), most_needs); ++i) add(w, exactly(ranks[i]));
}

// `waits`: a message that was read may be the one.
RankWaits::Need RankWaits::message(std::int32_t rank, const Pattern& pattern, bool waits) {
  if (waits || being_sent(rank, pattern)) return std::nullopt;
  if (pattern.source != any_source) return knows(pattern.source) ? exactly(pattern.source) : std::nullopt;
  return pattern.comm == record::self_comm_id ? exactly(rank) : anybody_in(pattern.comm);
}

RankWaits::Need RankWaits::receiver(std::int32_t rank, std::int32_t destination, std::uint64_t comm, std::int32_t tag) {
  if (!knows(destination) || matcher_.receive_would_take(destination, rank, comm, tag) ||
      being_received(destination, rank, comm, tag))
    return std::nullopt;
  return exactly(destination);
}

RankWaits::Need RankWaits::sendrecv_send(std::int32_t rank, const CurrentCall& call) {
  const auto to = send_of(call);
  return to ? receiver(rank, to->first, call.comm, to->second) : std::nullopt;
}

RankWaits::Need RankWaits::awaited(std::int32_t rank, std::uint64_t what) {
  if (what & record::awaited_receive) {
    const auto receive = matcher_.outstanding_receive(rank, number_in(what));
    if (!receive) return std::nullopt;
    return message(rank, {receive->source, receive->comm, receive->tag}, receive->could_take_sent);
  }
  const auto sent = sent_.find({rank, number_in(what)});
  if (!(what & record::awaited_send) || sent == sent_.end()) return std::nullopt;
  const Sent& s = sent->second;
  if (s.taken || !knows(s.destination) || being_received(s.destination, rank, s.comm, s.tag)) return std::nullopt;
  return exactly(s.destination);
}

RankWaits::Need RankWaits::exactly(std::int32_t rank) {
  const auto [at, fresh] = exactly_.try_emplace(rank, static_cast<std::uint32_t>(graph_.sets.size()));
  if (fresh) graph_.sets.push_back({rank});
  return at->second;
}

RankWaits::Need RankWaits::one_of(std::vector<std::int32_t> ranks) {
  std::sort(ranks.begin(), ranks.end());
  ranks.erase(std::unique(ranks.begin(), ranks.end()), ranks.end());
  if (ranks.empty()) return std::nullopt;
  if (ranks.size() == 1) return exactly(ranks[0]);
  graph_.sets.push_back(std::move(ranks));
  return static_cast<std::uint32_t>(graph_.sets.size() - 1);
}

// Whoever can send there. More than there are is on the safe side.
RankWaits::Need RankWaits::anybody_in(std::uint64_t id) {
  const auto known = anybody_.find(id);
  if (known != anybody_.end()) return known->second;
  const Participants::Comm* comm = participants_.comm(id);
  Need need;
  if (comm != nullptr && !comm->foreign && comm->size > 0) {
    std::vector<std::int32_t> ranks;
    if (comm->complete) {
      for (const Participants::Member& m : comm->members) ranks.push_back(m.rank);
    } else {
      ranks.resize(ranks_.size());
      std::iota(ranks.begin(), ranks.end(), 0);
    }
    need = one_of(std::move(ranks));
  }
  return anybody_[id] = need;
}

const RankWaits::Missing& RankWaits::missing(std::uint64_t id, std::uint64_t number, bool creation) {
  const auto [at, fresh] = missing_.try_emplace({id, number, creation});
  Missing& missing = at->second;
  const Participants::Comm* comm = participants_.comm(id);
  if (!fresh || comm == nullptr) return missing;
  missing.all_known = comm->complete;
  for (const Participants::Member& m : comm->members) {
    auto count = creation ? std::optional<std::uint64_t>(m.creations) : begun(m, id);
    if (creation && !participants_.certain(m)) count.reset();
    if (!count) {
      missing.all_known = false;
      continue;
    }
    const RankNow& now = ranks_[static_cast<std::size_t>(m.rank)];
    const bool inside = std::any_of(now.calls.begin(), now.calls.end(), [&](const CurrentCall& call) {
      const CallKind kind = call_kind(call.function);
      return call.comm == id && (creation ? kind == CallKind::creation : is_collective(kind));
    });
    if (*count + (inside ? 1 : 0) <= number) missing.ranks.push_back(m.rank);
  }
  if (missing.all_known) missing.one_of_them = one_of(missing.ranks);
  return missing;
}

bool RankWaits::being_sent(std::int32_t rank, const Pattern& pattern) const {
  const auto& sending = sending_[static_cast<std::size_t>(rank)];
  return std::any_of(sending.begin(), sending.end(), [&](const Sending& s) {
    return pattern.covers(s.rank, s.comm, s.tag) && !matcher_.received_ahead(rank, s.rank, s.comm, s.tag);
  });
}

bool RankWaits::being_received(std::int32_t destination, std::int32_t source, std::uint64_t comm,
                               std::int32_t tag) const {
  const auto& calls = ranks_[static_cast<std::size_t>(destination)].calls;
  return std::any_of(calls.begin(), calls.end(), [&](const CurrentCall& call) {
    const CallKind kind = call_kind(call.function);
    return (kind == CallKind::receive || kind == CallKind::exchange) &&
           Pattern{call.peer, call.comm, call.tag}.covers(source, comm, tag);
  });
}

WaitsFor waits_of(const WaitGraph& graph, const Waiter& w) {
  WaitsFor out;
  for (const std::uint32_t s : w.needs)
    if (graph.sets[s].size() == 1) out.ranks.push_back(graph.sets[s][0]);
  if (out.ranks.empty() && !w.needs.empty()) {
    out.any = true;
    for (const std::int32_t r : graph.sets[w.needs[0]])
      if (r != w.rank) out.ranks.push_back(r);
  }
  std::sort(out.ranks.begin(), out.ranks.end());
  out.ranks.erase(std::unique(out.ranks.begin(), out.ranks.end()), out.ranks.end());
  return out;
}

}  // namespace pclscope::blocked
