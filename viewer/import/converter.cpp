#include "viewer/import/converter.hpp"

#include <algorithm>
#include <utility>

#include "analysis/match/one_sided.hpp"
#include "viewer/import/functions.hpp"

namespace pclscope::importing {
namespace {

using record::Event;
using record::EventKind;
namespace flag = record::flag;

constexpr std::uint64_t long_call_ns = 10'000;  // no clock's long_call_ticks are less
constexpr std::size_t most_sent = 150'000;      // nonblocking sends whose completion may still be told: twice as many
constexpr std::size_t most_depth = 100'000;     // of functions: what is entered beyond has no place

bool completes(std::uint16_t function) {
  const std::string_view name = record::function_name(function);
  return name.starts_with("MPI_Wait") || name.starts_with("MPI_Test");
}

bool is_start(std::uint16_t function) { return record::function_name(function).starts_with("MPI_Start"); }

std::uint16_t number_of(record::Function function) { return static_cast<std::uint16_t>(function); }

}  // namespace

Converter::Converter(const Trace& trace, CallPlaces& places, Sink sink, std::size_t most)
    : trace_(trace),
      places_(places),
      sink_(std::move(sink)),
      most_(most),
      ranks_(static_cast<std::size_t>(trace.application.ranks)) {
  for (const auto& [location, place] : trace.place_of) {
    index_[location] = threads_.size();
    Thread& t = threads_.emplace_back();
    t.rank = place.rank;
    t.thread = place.thread;
  }
}

Converter::Thread* Converter::thread_at(At at) {
  if (at.location != last_location_) {
    const auto found = index_.find(at.location);
    if (found == index_.end()) return nullptr;
    last_location_ = at.location;
    last_index_ = found->second;
  }
  Thread& t = threads_[last_index_];
  const std::int64_t ns = trace_.ns_of(at.time);
  std::uint64_t ticks = origin_ticks + static_cast<std::uint64_t>(std::clamp<std::int64_t>(ns, 0, most_ns));
  if (ticks < t.last) {
    ++oddities_.backwards;
    ticks = t.last;
  }
  now_ = t.last = ticks;
  latest_ = std::max(latest_, ticks);
  return &t;
}

const TraceComm* Converter::comm_at(std::uint32_t reference) {
  const auto at = trace_.comms.find(reference);
  if (at != trace_.comms.end()) return &at->second;
  ++oddities_.no_comm;
  return nullptr;
}

std::int32_t Converter::peer_in(const Thread& t, const TraceComm* comm, std::uint32_t rank) {
  const std::int32_t peer = comm == nullptr ? -1 : comm->peer(t.rank, rank);
  if (peer >= 0) return peer;
  ++oddities_.no_partner;
  return record::unknown_rank;
}

// Of the call that the thread is inside; its end is not known. Outside of calls: of this moment.
Event Converter::event_of(const Thread& t, EventKind kind, const TraceComm* comm) const {
  Event e{};
  e.kind = kind;
  e.begin = t.function != 0 ? t.begin : now_;
  e.end = now_;
  e.site = t.function != 0 ? t.site : 0;
  e.function = t.function;
  e.comm = comm == nullptr ? 0 : comm->id;
  e.peer = -1;
  e.tag = -1;
  if (comm != nullptr && comm->inter) e.flags |= flag::intercomm;
  return e;
}

void Converter::put(Thread& t, Queued queued) {
  if (t.function != 0) {
    t.call.push_back(std::move(queued));
    return;
  }
  t.queue.push_back(std::move(queued));
  ++held_;
}

// Before the first event of a rank on a communicator: how many members it has.
void Converter::know_comm(Thread& t, const TraceComm* comm) {
  if (comm == nullptr || comm->id <= record::self_comm_id) return;
  if (!ranks_[static_cast<std::size_t>(t.rank)].collectives.try_emplace(comm->id, 0).second) return;
  Event e = event_of(t, EventKind::comm_created, comm);
  e.begin = e.end = now_;
  e.flags |= flag::unrecorded;
  e.site = 0;
  e.peer = 0;
  e.bytes = comm->size();
  e.ordinal = comm->parent;
  t.queue.push_back({e, nullptr, false});
  ++held_;
}

void Converter::enter(At at, std::uint32_t region, std::uint32_t context) {
  Thread* const t = thread_at(at);
  if (t == nullptr) return;
  const auto mpi = trace_.function_of.find(region);
  if (mpi == trace_.function_of.end()) {
    const std::uint32_t caller = t->places.empty() ? 0 : t->places.back();
    t->functions.push_back(region);
    t->places.push_back(t->functions.size() > most_depth ? 0 : places_.inside(caller, region));
    return;
  }
  if (t->function != 0) {
    ++t->nested;
    return;
  }
  t->function = mpi->second;
  t->begin = now_;
  t->site = context != undefined ? places_.call_at(context, t->function)
            : t->places.empty()  ? 0
                                 : places_.call_in(t->places.back(), t->function);
  if (kind_of(t->function) != CallKind::finalize) return;
  Event e = event_of(*t, EventKind::finalize, nullptr);
  e.peer = t->rank;
  t->queue.push_back({e, nullptr, false});
  ++held_;
}

void Converter::leave(At at, std::uint32_t region) {
  Thread* const t = thread_at(at);
  if (t == nullptr) return;
  if (trace_.function_of.contains(region)) {
    if (t->nested > 0) --t->nested;
    else if (t->function != 0) end_call(*t, now_);
    else ++oddities_.not_entered;
    return;
  }
  const auto entered = std::find(t->functions.rbegin(), t->functions.rend(), region);
  if (entered == t->functions.rend()) {
    ++oddities_.not_entered;
    return;
  }
  t->functions.resize(static_cast<std::size_t>(t->functions.rend() - entered) - 1);
  t->places.resize(t->functions.size());
}

void Converter::end_call(Thread& t, std::uint64_t end) {
  ++mpi_events_;
  const CallKind kind = kind_of(t.function);
  const auto completed = static_cast<std::uint64_t>(
      std::count_if(t.call.begin(), t.call.end(), [](const Queued& q) { return q.request != nullptr && !q.post; }));
  bool receives = false;
  for (const Queued& q : t.call) receives = receives || q.event.kind == EventKind::recv_done;
  const auto queue = [&](Queued q) {
    t.queue.push_back(std::move(q));
    ++held_;
  };
  if (kind == CallKind::init || kind == CallKind::finalize || t.call.empty() || completes(t.function)) {
    Event e = event_of(t, EventKind::call, nullptr);
    e.end = end;
    if (kind == CallKind::init) e.kind = EventKind::init, e.peer = t.rank;
    else if (kind == CallKind::file) e.kind = EventKind::file;
    else if (kind == CallKind::one_sided && !OneSided::concerns(t.function)) e.kind = EventKind::rma_sync;
    else if (completes(t.function)) e.peer = record::unknown_rank, e.ordinal = completed;
    if (kind != CallKind::finalize) queue({e, nullptr, false});
  }
  const bool is_long = end - t.begin >= long_call_ns;
  for (Queued& q : t.call) {
    Event& e = q.event;
    const bool nonblocking_collective = e.kind == EventKind::collective && q.request != nullptr;
    e.end = end;
    if (nonblocking_collective) e.tag = receives ? -1 : record::completion_length(end - t.begin);
    if (e.kind == EventKind::send_done &&
        (!is_long || (e.bytes < record::long_call_bytes && !(e.flags & flag::synchronous))))
      continue;
    queue(std::move(q));
  }
  t.call.clear();
  t.function = 0;
}

// `otherwise`: the function, where no call of MPI is around it.
Event Converter::message_event(Thread& t, EventKind kind, record::Function otherwise, const Envelope& of) {
  const TraceComm* const on = comm_at(of.comm);
  know_comm(t, on);
  Event e = event_of(t, kind, on);
  if (e.function == 0) e.function = number_of(otherwise);
  e.peer = peer_in(t, on, of.partner);
  if (e.peer < 0) e.flags |= flag::foreign;
  e.tag = static_cast<std::int32_t>(of.tag);
  e.bytes = of.bytes;
  return e;
}

void Converter::send(At at, std::uint32_t comm, std::uint32_t receiver, std::uint32_t tag, std::uint64_t bytes) {
  Thread* const t = thread_at(at);
  if (t == nullptr) return;
  ++mpi_events_;
  Event e = message_event(*t, EventKind::send, record::Function::Send, {comm, receiver, tag, bytes});
  e.flags |= send_flags(e.function, false);
  put(*t, {e, nullptr, false});
}

void Converter::isend(At at, std::uint32_t comm, std::uint32_t receiver, std::uint32_t tag, std::uint64_t bytes,
                      std::uint64_t request) {
  Thread* const t = thread_at(at);
  if (t == nullptr) return;
  ++mpi_events_;
  Event e = message_event(*t, EventKind::send, record::Function::Isend, {comm, receiver, tag, bytes});
  e.flags |= send_flags(e.function, true);
  Queued queued{e, std::make_shared<Request>(), true};
  queued.request->known = true;
  Rank& rank = ranks_[static_cast<std::size_t>(t->rank)];
  if (++sent_ > most_sent) {  // of those before the last so many nothing is told any more
    for (Rank& each : ranks_) each.sent_before = std::exchange(each.sent, {});
    sent_ = 1;
  }
  rank.sent.insert_or_assign(request, Sent{e, queued.request});
  put(*t, std::move(queued));
}

void Converter::isend_complete(At at, std::uint64_t request) {
  Thread* const t = thread_at(at);
  if (t == nullptr) return;
  Rank& rank = ranks_[static_cast<std::size_t>(t->rank)];
  auto* map = &rank.sent;
  auto sent = map->find(request);
  if (sent == map->end()) {
    map = &rank.sent_before;
    sent = map->find(request);
    if (sent == map->end()) return;
  }
  if (t->function != 0) {
    Event e = event_of(*t, EventKind::send_done, nullptr);
    e.comm = sent->second.event.comm;
    e.peer = sent->second.event.peer;
    e.tag = sent->second.event.tag;
    e.bytes = sent->second.event.bytes;
    e.flags = sent->second.event.flags;
    put(*t, {e, sent->second.request, false});
  }
  map->erase(sent);
}

void Converter::post(At at, std::uint64_t request, bool of_collective) {
  Thread* const t = thread_at(at);
  if (t == nullptr) return;
  ++mpi_events_;
  Rank& rank = ranks_[static_cast<std::size_t>(t->rank)];
  Event e = event_of(*t, of_collective ? EventKind::none : EventKind::recv_post, nullptr);
  if (e.function == 0) e.function = number_of(of_collective ? record::Function::Ibarrier : record::Function::Irecv);
  e.flags = is_start(e.function) ? flag::persistent : flag::nonblocking;
  auto made = std::make_shared<Request>();
  made->begin = e.begin;
  made->site = e.site;
  made->function = e.function;
  auto& open = of_collective ? rank.operations[request] : rank.requests[request];
  if (open != nullptr) {  // its number is used again: it never was complete
    open->known = open->given_up = true;
    ++oddities_.never_complete;
  }
  open = made;
  put(*t, {e, std::move(made), true});
}

void Converter::receive(At at, std::uint32_t comm, std::uint32_t sender, std::uint32_t tag, std::uint64_t bytes,
                        bool first_come) {
  Thread* const t = thread_at(at);
  if (t == nullptr) return;
  ++mpi_events_;
  Event e = message_event(*t, EventKind::recv_done, record::Function::Recv, {comm, sender, tag, bytes});
  if (first_come) e.flags |= flag::first_come;
  put(*t, {e, nullptr, false});
}

void Converter::receive_posted(At at, std::uint32_t comm, std::uint32_t sender, std::uint32_t tag, std::uint64_t bytes,
                               std::uint64_t request) {
  Thread* const t = thread_at(at);
  if (t == nullptr) return;
  Rank& rank = ranks_[static_cast<std::size_t>(t->rank)];
  const auto open = rank.requests.find(request);
  if (open == rank.requests.end()) {
    ++oddities_.unposted;
    return receive(at, comm, sender, tag, bytes, false);
  }
  ++mpi_events_;
  Event e = message_event(*t, EventKind::recv_done, record::Function::Wait, {comm, sender, tag, bytes});
  std::shared_ptr<Request> made = std::move(open->second);
  rank.requests.erase(open);
  e.flags |= flag::posted | (is_start(made->function) ? flag::persistent : flag::nonblocking);
  made->comm = e.comm;
  made->peer = e.peer;
  made->tag = e.tag;
  made->flags = e.flags & (flag::intercomm | flag::foreign);
  made->known = true;
  put(*t, {e, std::move(made), false});
}

void Converter::cancelled(At at, std::uint64_t request) {
  Thread* const t = thread_at(at);
  if (t == nullptr) return;
  auto& requests = ranks_[static_cast<std::size_t>(t->rank)].requests;
  const auto open = requests.find(request);
  if (open == requests.end()) return;
  open->second->known = open->second->given_up = true;  // it took no message
  requests.erase(open);
}

void Converter::collective(At at, int op, std::uint32_t comm, std::uint32_t root, std::uint64_t bytes) {
  Thread* const t = thread_at(at);
  if (t == nullptr) return;
  ++mpi_events_;
  // What makes or frees handles is a call; so is what stands in no call, as it is not known when it began.
  if (op > last_data_operation || t->function == 0 || kind_of(t->function) != CallKind::plain) return;
  const TraceComm* const on = comm_at(comm);
  know_comm(*t, on);
  if (on == nullptr) return;
  Event e = event_of(*t, EventKind::collective, on);
  e.bytes = bytes;
  if (root < none_of_these) e.peer = peer_in(*t, on, root);
  else if (root == root_is_self) e.peer = record::root_self;
  if (is_prefix_scan(t->function)) e.peer = on->rank_of(t->rank);
  put(*t, {e, nullptr, false});
}

void Converter::collective_posted(At at, std::uint32_t comm, std::uint32_t root, std::uint64_t bytes,
                                  std::uint64_t request) {
  Thread* const t = thread_at(at);
  if (t == nullptr) return;
  ++mpi_events_;
  Rank& rank = ranks_[static_cast<std::size_t>(t->rank)];
  const auto open = rank.operations.find(request);
  const TraceComm* const on = comm_at(comm);
  know_comm(*t, on);
  if (open == rank.operations.end() || on == nullptr) {
    ++oddities_.unposted;
    return;
  }
  std::shared_ptr<Request> made = std::move(open->second);
  rank.operations.erase(open);
  Event e = event_of(*t, EventKind::collective, on);
  e.begin = made->begin;
  e.site = made->site;
  e.function = made->function;
  e.bytes = bytes;
  e.flags |= flag::nonblocking;
  if (root < none_of_these) e.peer = peer_in(*t, on, root);
  if (is_prefix_scan(e.function)) e.peer = on->rank_of(t->rank);
  made->comm = on->id;
  made->known = true;
  put(*t, {e, std::move(made), false});
}

void Converter::one_sided(At at, std::uint32_t window, std::uint32_t target, std::uint64_t bytes) {
  Thread* const t = thread_at(at);
  if (t == nullptr) return;
  ++mpi_events_;
  const auto comm = trace_.defined.windows.find(window);
  const TraceComm* const on = comm == trace_.defined.windows.end() ? comm_at(undefined) : comm_at(comm->second);
  if (t->function == 0 || on == nullptr) return;
  Event e = event_of(*t, EventKind::rma, on);
  e.peer = peer_in(*t, on, target);
  e.bytes = bytes;
  put(*t, {e, nullptr, false});
}

}  // namespace pclscope::importing
