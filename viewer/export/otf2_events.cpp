#include "viewer/export/otf2_events.hpp"

#include <algorithm>
#include <tuple>
#include <unordered_map>

#include "viewer/export/otf2_functions.hpp"
#include "viewer/session/waits_of_ranks.hpp"

namespace pclscope::exporting {
namespace {

std::uint64_t mixed(std::uint64_t hash, std::uint64_t value) {
  hash = (hash ^ value) * 0x9e3779b97f4a7c15ull;
  return hash ^ hash >> 29;
}

// Of a receive, the same in every slice that has it.
std::uint64_t request_of(const Message& m) {
  std::uint64_t hash = mixed(static_cast<std::uint64_t>(m.destination), m.comm);
  for (const std::int64_t value : {m.recv_post, m.recv_end, m.send_begin})
    hash = mixed(hash, static_cast<std::uint64_t>(value));
  return mixed(hash, static_cast<std::uint64_t>(m.tag) << 32 | static_cast<std::uint32_t>(m.source)) >> 8;
}

bool posted_earlier(const Message& m) { return m.recv_post < m.recv_wait || m.flags & message_flag::unseen_completion; }

TraceKind kind_of(Rma rma) {
  switch (rma) {
    case Rma::get: return TraceKind::get;
    case Rma::accumulate: return TraceKind::accumulate;
    case Rma::fetch_and_add: return TraceKind::fetch_and_add;
    case Rma::compare_and_swap: return TraceKind::compare_and_swap;
    default: return TraceKind::put;
  }
}

}  // namespace

TraceEvents::TraceEvents(const Otf2Contents& contents)
    : contents_(contents),
      threads_(static_cast<std::size_t>(contents.ranks)),
      placed_(contents.locations()),
      events_(contents.locations()),
      waited_(static_cast<std::size_t>(contents.ranks)) {}

void TraceEvents::find_threads(const Slice& slice) {
  for (auto& threads : threads_) threads.clear();
  const std::vector<MpiCall>& calls = slice.calls;
  for (std::size_t begin = 0, end; begin < calls.size(); begin = end) {
    for (end = begin;
         end < calls.size() && calls[end].rank == calls[begin].rank && calls[end].thread == calls[begin].thread;)
      ++end;
    if (contents_.has(calls[begin].rank))
      threads_[static_cast<std::size_t>(calls[begin].rank)].push_back(
          {begin, end, contents_.location(calls[begin].rank, calls[begin].thread)});
  }
}

// Call k of a thread has slot 2k + 1, what is before it 2k.
template <class IsIt>
const MpiCall* TraceEvents::put(const Slice& slice, std::int32_t rank, bool at_end, const TraceEvent& event,
                                IsIt&& is_it) {
  const auto& threads = threads_[static_cast<std::size_t>(rank)];
  const auto moment = [&](const MpiCall& call) { return at_end ? call.end : call.begin; };
  for (const Thread& thread : threads) {
    const auto first = slice.calls.begin() + static_cast<std::ptrdiff_t>(thread.begin);
    const auto last = slice.calls.begin() + static_cast<std::ptrdiff_t>(thread.end);
    auto call = std::partition_point(first, last, [&](const MpiCall& c) { return moment(c) < event.time; });
    for (; call != last && moment(*call) == event.time; ++call) {
      if (!is_it(*call)) continue;
      placed_[thread.location].push_back({static_cast<std::uint32_t>(2 * (call - first) + 1), event});
      return &*call;
    }
  }
  Placed placed{0, event};
  std::size_t location = contents_.location(rank, 0);
  if (!threads.empty()) {
    const Thread& thread = threads.front();
    location = thread.location;
    const auto first = slice.calls.begin() + static_cast<std::ptrdiff_t>(thread.begin);
    const auto last = slice.calls.begin() + static_cast<std::ptrdiff_t>(thread.end);
    const auto after = std::partition_point(first, last, [&](const MpiCall& c) { return c.begin <= event.time; });
    placed.slot = static_cast<std::uint32_t>(2 * (after - first));
    if (after != first && (after - 1)->end >= event.time) --placed.slot;
  }
  placed_[location].push_back(placed);
  return nullptr;
}

void TraceEvents::put_calls(const Slice& slice) {
  for (const auto& threads : threads_)
    for (const Thread& thread : threads)
      for (std::size_t i = thread.begin; i < thread.end; ++i) {
        const MpiCall& call = slice.calls[i];
        Placed placed{static_cast<std::uint32_t>(2 * (i - thread.begin) + 1), {}};
        placed.event.function = call.function;
        const auto at = [&](std::int64_t time, TraceKind kind) {
          placed.event.time = time;
          placed.event.kind = kind;
          if (slice.holds(time)) placed_[thread.location].push_back(placed);
        };
        placed.event.site = call.site;
        at(call.begin, TraceKind::enter);
        placed.event.site = 0;
        if (const Rma rma = rma_of(call.function); rma != Rma::none && call.peer >= 0 && call.comm != 0) {
          placed.event.comm = call.comm;
          placed.event.peer = call.peer;
          placed.event.bytes = call.bytes;
          at(call.begin, kind_of(rma));
        }
        at(call.end, TraceKind::leave);
      }
}

void TraceEvents::put_messages(const Slice& slice, const Choice& choice) {
  std::unordered_map<std::uint64_t, std::uint64_t> requests;  // equal ones so far
  const auto any = [](const MpiCall&) { return true; };
  for (const Message& m : slice.messages) {
    if (!contents_.has(m.source) || !contents_.has(m.destination)) continue;
    TraceEvent event;
    event.comm = m.comm;
    event.tag = m.tag;
    event.bytes = m.bytes;
    if (choice.has_rank(m.source) && slice.holds(m.send_begin)) {
      const bool posts = (m.flags & (record::flag::nonblocking | record::flag::persistent)) != 0;
      event.kind = posts ? TraceKind::isend : TraceKind::send;
      event.peer = m.destination;
      event.time = m.send_begin;
      event.request = request_of(m);
      put(slice, m.source, false, event, [&](const MpiCall& c) { return c.end == m.send_end; });
    }
    if (!choice.has_rank(m.destination)) continue;
    event.peer = m.source;
    event.request = request_of(m);
    if (posted_earlier(m)) {
      if (const std::uint64_t equal = requests[event.request]++; equal > 0) event.request += equal << 56;
      event.kind = TraceKind::irecv_request;
      event.time = m.recv_post;
      if (slice.holds(event.time)) put(slice, m.destination, false, event, any);
      event.kind = TraceKind::irecv;
    } else {
      event.kind = TraceKind::recv;
      event.first_come = (m.flags & record::flag::first_come) != 0;
    }
    event.time = m.recv_end;
    if (slice.holds(event.time) && !(m.flags & message_flag::unseen_completion))
      put(slice, m.destination, true, event, [&](const MpiCall& c) { return c.begin == m.recv_wait; });
  }
}

void TraceEvents::put_collectives(const Slice& slice) {
  const auto any = [](const MpiCall&) { return true; };
  for (const CollectiveCall& c : slice.collectives) {
    if (!contents_.has(c.rank) || collective_op_of(c.function) < 0 || group_of(c) != WaitGroup::collective) continue;
    TraceEvent event;
    event.function = c.function;
    event.comm = c.comm;
    event.bytes = c.bytes;
    event.request = mixed(mixed(c.comm, c.ordinal), static_cast<std::uint64_t>(c.rank)) >> 8;
    event.kind = c.nonblocking ? TraceKind::collective_request : TraceKind::collective_begin;
    event.time = c.begin;
    const auto is_it = [&](const MpiCall& call) { return call.function == c.function && call.begin == c.begin; };
    if (slice.holds(c.begin)) put(slice, c.rank, false, event, is_it);
    event.kind = c.nonblocking ? TraceKind::collective_complete : TraceKind::collective_end;
    event.time = c.end;
    if (!slice.holds(c.end)) continue;
    // The root is known of the call that posted it.
    for (const Thread& thread : threads_[static_cast<std::size_t>(c.rank)]) {
      const auto first = slice.calls.begin() + static_cast<std::ptrdiff_t>(thread.begin);
      const auto last = slice.calls.begin() + static_cast<std::ptrdiff_t>(thread.end);
      const auto call = std::partition_point(first, last, [&](const MpiCall& at) { return at.begin < c.begin; });
      if (call != last && is_it(*call) && has_root(collective_op_of(c.function))) event.peer = call->peer;
    }
    if (c.nonblocking) put(slice, c.rank, true, event, any);
    else put(slice, c.rank, true, event, is_it);
  }
}

// A dump tells of a send's completion only where the call that completed it waited for the receive: a row for the wait,
// which names the receiver and when it posted. The message of that row lies in the slice that holds this moment.
void TraceEvents::put_completed_sends(const Slice& slice) {
  const auto key = [](std::uint64_t comm, std::int32_t source, std::int32_t destination, std::int64_t posted) {
    return mixed(mixed(mixed(comm, static_cast<std::uint64_t>(source)), static_cast<std::uint64_t>(destination)),
                 static_cast<std::uint64_t>(posted));
  };
  const auto tells = [&](const CollectiveCall& c) {
    return c.shape == CollectiveShape::send && contents_.has(c.rank) && slice.holds(c.awaited_begin);
  };
  std::unordered_map<std::uint64_t, std::uint64_t> requests;
  if (std::any_of(slice.collectives.begin(), slice.collectives.end(), tells))
    for (const Message& m : slice.messages)
      if (m.flags & (record::flag::nonblocking | record::flag::persistent))
        requests[key(m.comm, m.source, m.destination, m.recv_post)] = request_of(m);
  for (const CollectiveCall& c : slice.collectives) {
    if (!tells(c)) continue;
    const auto request = requests.find(key(c.comm, c.rank, c.awaited, c.awaited_begin));
    if (request != requests.end()) completed_.push_back({c.rank, c.begin, c.end, request->second});
  }
  std::erase_if(completed_, [&](const CompletedSend& send) {
    if (!slice.holds(send.end)) return false;
    TraceEvent event;
    event.kind = TraceKind::isend_complete;
    event.time = send.end;
    event.request = send.request;
    put(slice, send.rank, true, event, [&](const MpiCall& c) { return c.begin == send.begin; });
    return true;
  });
}

// At the end of each wait, what has been waited in that state so far; no moment twice.
void TraceEvents::put_waits(const Slice& slice, const Choice& choice) {
  session::WaitsOfRanks waits;
  for (const Message& m : slice.messages)
    if (contents_.has(m.source) && contents_.has(m.destination)) waits.add(m);
  for (const CollectiveCall& c : slice.collectives)
    if (contents_.has(c.rank)) waits.add(c);
  waits.settle();
  for (std::int32_t rank = 0; rank < contents_.ranks; ++rank) {
    if (!choice.has_rank(rank)) continue;
    std::int64_t covered = INT64_MIN;
    for (const session::RankWaiting& wait : waits.of(rank)) {
      const std::int64_t from = std::max(wait.begin, covered);
      covered = std::max(covered, wait.end);
      if (wait.end <= from || !slice.holds(wait.end)) continue;
      TraceEvent event;
      event.kind = TraceKind::metric;
      event.state = wait.state;
      event.time = wait.end;
      auto& sum = waited_[static_cast<std::size_t>(rank)][static_cast<std::size_t>(wait.state)];
      sum += wait.end - from;
      event.bytes = static_cast<std::uint64_t>(sum);
      put(slice, rank, true, event, [](const MpiCall&) { return false; });
    }
  }
}

const std::vector<std::vector<TraceEvent>>& TraceEvents::of(const Slice& slice, const Choice& choice) {
  for (auto& placed : placed_) placed.clear();
  find_threads(slice);
  put_calls(slice);
  put_messages(slice, choice);
  put_collectives(slice);
  put_completed_sends(slice);
  put_waits(slice, choice);
  for (std::size_t location = 0; location < placed_.size(); ++location) {
    auto& placed = placed_[location];
    std::stable_sort(placed.begin(), placed.end(), [](const Placed& a, const Placed& b) {
      // What is inside a call comes between its entry and its return, whatever else happens at these moments.
      const auto inner = [](const Placed& p) {
        return p.event.kind == TraceKind::enter ? 0 : p.event.kind == TraceKind::leave ? 2 : 1;
      };
      // Completions of one call come in any order of rows: the archive is the same whatever it is.
      const auto tie = [](const Placed& p) {
        return p.event.kind == TraceKind::isend_complete ? p.event.request : std::uint64_t{0};
      };
      return std::tuple(a.slot, inner(a), a.event.time, a.event.kind, tie(a)) <
             std::tuple(b.slot, inner(b), b.event.time, b.event.kind, tie(b));
    });
    auto& events = events_[location];
    events.clear();
    for (const Placed& p : placed) events.push_back(p.event);
  }
  return events_;
}

}  // namespace pclscope::exporting
