#include "tests/analysis/match/mpi_simulator.hpp"

#include <algorithm>

namespace pclscope::test {

using record::Event;
using record::EventKind;
namespace flag = record::flag;

MpiSimulator::MpiSimulator(const SimulatorOptions& options, std::uint64_t seed)
    : options_(options),
      random_(seed),
      steps_left_(options.steps),
      rings_(options.ranks * options.threads),
      actors_(rings_.size()),
      send_ordinals_(options.ranks),
      recv_ordinals_(options.ranks),
      posted_(options.ranks),
      unexpected_(options.ranks) {
  for (std::size_t i = 0; i < rings_.size(); ++i) {
    rings_[i].rank = actors_[i].rank = static_cast<int>(i) / options.threads;
    rings_[i].thread = static_cast<int>(i) % options.threads;
    actors_[i].ring = &rings_[i];
  }
}

Event MpiSimulator::event(EventKind kind, std::uint64_t comm, std::uint64_t ordinal, int peer, int tag,
                          std::uint32_t flags, std::uint64_t id) {
  Event e{};
  e.begin = ++time_;
  e.end = ++time_;
  e.site = id;
  e.comm = comm;
  e.bytes = 8;
  e.ordinal = ordinal;
  e.peer = peer;
  e.tag = tag;
  e.kind = kind;
  e.flags = flags;
  return e;
}

void MpiSimulator::push(Ring& ring, const Event& e) {
  if (ring.dropping == 0 && chance(options_.drops)) ring.dropping = 1 + below(6);
  if (ring.dropping > 0) {
    --ring.dropping;
    ++ring.dropped;
    ++ring.dropped_total;
    return;
  }
  if (ring.dropped > 0) {
    ring.events.push_back(event(EventKind::lost, 0, ring.dropped, 0, 0, 0, 0));
    ring.dropped = 0;
  }
  ring.events.push_back(e);
}

void MpiSimulator::publish(Actor& a) {
  for (const Event& e : a.unpublished) push(*a.ring, e);
  a.unpublished.clear();
}

bool MpiSimulator::fits(const Recv& r, const Send& s) {
  return r.comm == s.comm && (r.source == record::any_source || r.source == s.source) &&
         (r.tag == record::any_tag || r.tag == s.tag);
}

// The head of a random wire arrives: the first posted receive that fits takes it.
void MpiSimulator::deliver() {
  std::vector<std::deque<Send*>*> busy;
  for (auto& [key, wire] : wires_)
    if (!wire.empty()) busy.push_back(&wire);
  if (busy.empty()) return;
  std::deque<Send*>& wire = *busy[below(static_cast<int>(busy.size()))];
  Send* s = wire.front();
  wire.pop_front();
  auto& posted = posted_[s->destination];
  const auto it = std::find_if(posted.begin(), posted.end(), [&](Recv* r) { return fits(*r, *s); });
  if (it == posted.end()) return unexpected_[s->destination].push_back(s);
  (*it)->got = s;
  s->matched = true;
  posted.erase(it);
}

void MpiSimulator::post(Recv* r) {
  auto& queue = unexpected_[r->rank];
  const auto it = std::find_if(queue.begin(), queue.end(), [&](Send* s) { return fits(*r, *s); });
  if (it == queue.end()) return posted_[r->rank].push_back(r);
  r->got = *it;
  r->got->matched = true;
  queue.erase(it);
}

void MpiSimulator::send(Actor& a) {
  const std::uint64_t ordinal = send_ordinals_[a.rank]++;
  if (chance(0.05)) {
    a.unpublished.push_back(event(EventKind::send, 1, ordinal, record::proc_null, 0, 0, 0));
    return;
  }
  const bool blocking = chance(0.4);
  Send& s = sends_.emplace_back();
  s = {++ids_,
       1 + static_cast<std::uint64_t>(below(options_.comms)),
       ordinal,
       a.rank,
       below(options_.ranks),
       below(options_.tags),
       false,
       false};
  wires_[{s.source, s.destination, s.comm}].push_back(&s);
  if (!blocking) a.isends.push_back(&s);
  a.unpublished.push_back(
      event(EventKind::send, s.comm, ordinal, s.destination, s.tag, blocking ? 0 : flag::nonblocking, s.id));
}

void MpiSimulator::receive(Actor& a) {
  const std::uint64_t ordinal = recv_ordinals_[a.rank]++;
  if (chance(0.05)) {
    a.unpublished.push_back(event(EventKind::recv_post, 1, ordinal, record::proc_null, 0, flag::nonblocking, 0));
    a.unpublished.push_back(event(EventKind::recv_done, 1, ordinal, record::proc_null, 0, flag::posted, 0));
    return;
  }
  Recv& r = recvs_.emplace_back();
  r = {++ids_,
       1 + static_cast<std::uint64_t>(below(options_.comms)),
       ordinal,
       a.rank,
       below(options_.ranks),
       below(options_.tags),
       nullptr,
       false,
       false};
  if (chance(options_.wildcards)) {
    const int kind = below(3);
    if (kind != 0) r.source = record::any_source;
    if (kind != 1) r.tag = record::any_tag;
  }
  post(&r);
  if (chance(0.25)) {
    a.blocked = &r;
    return;
  }
  a.requests.push_back(&r);
  a.unpublished.push_back(event(EventKind::recv_post, r.comm, ordinal, r.source, r.tag,
                                chance(0.2) ? flag::persistent : flag::nonblocking, r.id));
}

void MpiSimulator::probe(Actor& a) {
  Recv pattern;
  pattern.comm = 1 + static_cast<std::uint64_t>(below(options_.comms));
  pattern.source = chance(0.5) ? record::any_source : below(options_.ranks);
  pattern.tag = chance(0.5) ? record::any_tag : below(options_.tags);
  auto& queue = unexpected_[a.rank];
  const auto it = std::find_if(queue.begin(), queue.end(), [&](Send* s) { return fits(pattern, *s); });
  if (it == queue.end()) return;
  Recv& r = recvs_.emplace_back();
  r = {++ids_, pattern.comm, recv_ordinals_[a.rank]++, a.rank, (*it)->source, (*it)->tag, *it, false, false};
  r.got->matched = true;
  queue.erase(it);
  a.requests.push_back(&r);
  a.unpublished.push_back(event(EventKind::recv_post, r.comm, r.ordinal, r.source, r.tag, flag::matched_probe, r.id));
}

// Wait on a random request that is complete.
void MpiSimulator::complete(Actor& a) {
  std::vector<std::size_t> ready;
  for (std::size_t i = 0; i < a.requests.size(); ++i)
    if (a.requests[i]->got || a.requests[i]->cancelled) ready.push_back(i);
  if (ready.empty()) return;
  const std::size_t i = ready[below(static_cast<int>(ready.size()))];
  Recv* r = a.requests[i];
  a.requests.erase(a.requests.begin() + static_cast<std::ptrdiff_t>(i));
  a.unpublished.push_back(event(EventKind::call, 0, 1, 0, 0, 0, 0));
  r->seen = true;
  if (r->cancelled) {
    a.unpublished.push_back(event(EventKind::recv_cancelled, r->comm, r->ordinal, r->source, r->tag, 0, r->id));
    return;
  }
  ++completions_;
  a.unpublished.push_back(
      event(EventKind::recv_done, r->comm, r->ordinal, r->got->source, r->got->tag, flag::posted, 0));
}

void MpiSimulator::cancel_or_free(Actor& a) {
  if (a.requests.empty()) return;
  const std::size_t i = below(static_cast<int>(a.requests.size()));
  Recv* r = a.requests[i];
  const bool wildcard = r->source == record::any_source || r->tag == record::any_tag;
  if (chance(0.5)) {
    if (!options_.cancel || r->got || r->cancelled) return;
    r->cancelled = true;  // told when somebody waits for it
    posted_[a.rank].remove(r);
  } else if (!r->cancelled && (wildcard ? options_.free_wildcards : options_.free_specific)) {
    r->seen = true;
    a.requests.erase(a.requests.begin() + static_cast<std::ptrdiff_t>(i));
    a.unpublished.push_back(event(EventKind::recv_freed, r->comm, r->ordinal, r->source, r->tag, 0, r->id));
  }
}

// Three moments: the request is written, the cancel takes effect or not, the outcome is written.
void MpiSimulator::cancel_send(Actor& a) {
  if (a.cancel_done) {
    Send* s = a.cancel_done;
    a.cancel_done = nullptr;
    const EventKind kind = s->cancelled ? EventKind::send_cancelled : EventKind::send_not_cancelled;
    a.unpublished.push_back(event(kind, s->comm, s->ordinal, s->destination, s->tag, 0, s->id));
  } else if (a.cancelling) {
    Send* s = a.cancelling;
    a.cancelling = nullptr;
    a.cancel_done = s;
    if (s->matched || chance(0.3)) return;
    s->cancelled = true;
    std::erase(wires_[{s->source, s->destination, s->comm}], s);
    unexpected_[s->destination].remove(s);
  } else if (options_.cancel && !a.isends.empty()) {
    const std::size_t i = below(static_cast<int>(a.isends.size()));
    Send* s = a.isends[i];
    a.isends.erase(a.isends.begin() + static_cast<std::ptrdiff_t>(i));
    a.cancelling = s;
    a.unpublished.push_back(
        event(EventKind::send_cancel_request, s->comm, s->ordinal, s->destination, s->tag, 0, s->id));
  }
}

void MpiSimulator::act(Actor& a) {
  if (!a.unpublished.empty()) return publish(a);
  if (a.blocked) {
    Recv* r = a.blocked;
    if (!r->got) return;
    a.blocked = nullptr;
    r->seen = true;
    ++completions_;
    a.unpublished.push_back(event(EventKind::recv_done, r->comm, r->ordinal, r->got->source, r->got->tag, 0, r->id));
    return;
  }
  if (a.cancelling || a.cancel_done) return cancel_send(a);
  if (chance(options_.send_cancels)) return cancel_send(a);
  const int what = below(19);
  if (what < 7) return send(a);
  if (what < 13) return receive(a);
  if (what < 14) return probe(a);
  if (what < 18) return complete(a);
  cancel_or_free(a);
}

void MpiSimulator::step() {
  --steps_left_;
  if (chance(0.4)) return deliver();
  act(actors_[below(static_cast<int>(actors_.size()))]);
}

void MpiSimulator::finish() {
  if (!options_.quiesce) return;
  for (Actor& a : actors_) publish(a);
  // Somebody sends what blocked receives wait for.
  for (int round = 0; round < 2; ++round) {
    for (std::size_t i = 0;
         i < 100000 && std::any_of(wires_.begin(), wires_.end(), [](auto& w) { return !w.second.empty(); }); ++i)
      deliver();
    for (Actor& a : actors_) {
      while (a.cancelling || a.cancel_done) cancel_send(a);
      publish(a);
      while (a.blocked && !a.blocked->got) {
        const Recv& r = *a.blocked;
        Send& s = sends_.emplace_back();
        const int source = r.source == record::any_source ? a.rank : r.source;
        s = {++ids_, r.comm, send_ordinals_[source]++, source, a.rank, r.tag == record::any_tag ? 0 : r.tag,
             false,  false};
        push(rings_[source * options_.threads], event(EventKind::send, s.comm, s.ordinal, a.rank, s.tag, 0, s.id));
        wires_[{s.source, s.destination, s.comm}].push_back(&s);
        while (!s.matched && std::any_of(wires_.begin(), wires_.end(), [](auto& w) { return !w.second.empty(); }))
          deliver();
        if (!s.matched) break;
      }
      if (a.blocked) act(a);
      publish(a);
    }
  }
  for (Actor& a : actors_) {
    for (Recv* r : a.requests) {
      if (r->got) continue;
      r->cancelled = true;
      posted_[a.rank].remove(r);
    }
    while (!a.requests.empty()) complete(a);
    publish(a);
  }
}

std::map<std::uint64_t, std::uint64_t> MpiSimulator::pairs() const {
  std::map<std::uint64_t, std::uint64_t> pairs;
  for (const Recv& r : recvs_)
    if (r.seen && r.got) pairs[r.id] = r.got->id;
  return pairs;
}

std::uint64_t MpiSimulator::sends_without_receive() const {
  return static_cast<std::uint64_t>(
      std::count_if(sends_.begin(), sends_.end(), [](const Send& s) { return !s.matched && !s.cancelled; }));
}

}  // namespace pclscope::test
