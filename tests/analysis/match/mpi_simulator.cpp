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
      processes_(options.ranks),
      actors_(rings_.size()),
      posted_(options.ranks),
      unexpected_(options.ranks) {
  world_ = {[this] { return !always_recorded_ && chance(options_.mutes); },
            [this] { return chance(options_.resumes) ? static_cast<std::size_t>(below(12)) * below(12) : 0; },
            [this](Ring& ring, const Event& e) { push(ring, e); }, [this] { return ++time_; }};
  for (SimProcess& process : processes_) process.multiple = options.threads > 1 && !options.one_at_a_time;
  for (std::size_t i = 0; i < rings_.size(); ++i) {
    rings_[i].rank = actors_[i].rank = static_cast<int>(i) / options.threads;
    rings_[i].thread = static_cast<int>(i) % options.threads;
    actors_[i].recorder = &recorders_.emplace_back(processes_[rings_[i].rank], rings_[i], world_);
  }
}

Event MpiSimulator::event(EventKind kind, const Send& s, std::uint32_t flags) {
  Event e{};
  e.begin = ++time_;
  e.end = ++time_;
  e.site = s.id;
  e.comm = s.comm;
  e.bytes = 8;
  e.ordinal = s.ordinal;
  e.peer = s.to_nobody ? record::proc_null : s.destination;
  e.tag = s.tag;
  e.kind = kind;
  e.flags = flags;
  return e;
}

Event MpiSimulator::event(EventKind kind, const Recv& r, std::uint32_t flags) {
  Send as_send;
  as_send.id = r.id;
  as_send.comm = r.comm;
  as_send.ordinal = r.ordinal;
  const bool done = kind == EventKind::recv_done || r.probe;
  as_send.destination = r.from_nobody ? record::proc_null : done && r.got ? r.got->source : r.source;
  as_send.tag = done && r.got ? r.got->tag : r.tag;
  return event(kind, as_send, flags);
}

void MpiSimulator::push(Ring& ring, const Event& e) {
  out_of_order_ += (e.flags & flag::out_of_order) != 0;
  if (ring.dropping == 0 && chance(options_.drops)) ring.dropping = 1 + below(6);
  if (ring.dropping > 0) {
    --ring.dropping;
    ++ring.dropped;
    ++ring.dropped_total;
    return;
  }
  if (ring.dropped > 0) {
    Event lost{};
    lost.begin = lost.end = ++time_;
    lost.kind = EventKind::lost;
    lost.ordinal = ring.dropped;
    ring.events.push_back(lost);
    ring.dropped = 0;
  }
  ring.events.push_back(e);
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

void MpiSimulator::deliver_all() {
  while (std::any_of(wires_.begin(), wires_.end(), [](auto& w) { return !w.second.empty(); })) deliver();
}

bool MpiSimulator::take_unexpected(Recv& r) {
  auto& queue = unexpected_[r.rank];
  const auto it = std::find_if(queue.begin(), queue.end(), [&](Send* s) { return fits(r, *s); });
  if (it == queue.end()) return false;
  r.got = *it;
  r.got->matched = true;
  queue.erase(it);
  return true;
}

void MpiSimulator::post(Recv* r) {
  if (!take_unexpected(*r)) posted_[r->rank].push_back(r);
}

MpiSimulator::Send& MpiSimulator::new_send(int source, int destination, std::uint64_t comm, int tag) {
  Send& s = sends_.emplace_back();
  s.id = ++ids_;
  s.comm = comm;
  s.source = source;
  s.destination = destination;
  s.tag = tag;
  return s;
}

void MpiSimulator::enter_send(Actor& a) {
  Send& s = new_send(a.rank, below(options_.ranks), 1 + static_cast<std::uint64_t>(below(options_.comms)),
                     below(options_.tags));
  s.to_nobody = chance(0.05);
  s.blocking = chance(0.4);
  a.sending = &s;
  a.phase = Phase::entered;
  a.quiet = a.recorder->muted();
  a.number = processes_[a.rank].multiple && !a.quiet ? a.recorder->number_send() : unnumbered;
}

void MpiSimulator::go_on_sending(Actor& a) {
  Send& s = *a.sending;
  if (a.phase == Phase::entered) {
    a.phase = Phase::effective;
    if (!s.to_nobody) wires_[{s.source, s.destination, s.comm}].push_back(&s);
    return;
  }
  a.sending = nullptr;
  a.recorder->returned();
  if (a.quiet) {
    if (s.to_nobody) return a.recorder->missed(1);
    a.recorder->count_send(s.comm, s.destination, s.tag);
  } else {
    s.ordinal = a.recorder->send_ordinal(a.number != unnumbered ? a.number : processes_[a.rank].sends++);
    const bool written = a.recorder->write(event(EventKind::send, s, s.blocking ? 0 : flag::nonblocking));
    if (!written) s.ordinal = unnumbered;
  }
  if (!s.blocking && !s.to_nobody && s.ordinal != unnumbered) a.isends.push_back(&s);
}

void MpiSimulator::enter_receive(Actor& a) {
  Recv& r = recvs_.emplace_back();
  r.id = ++ids_;
  r.comm = 1 + static_cast<std::uint64_t>(below(options_.comms));
  r.rank = a.rank;
  r.source = below(options_.ranks);
  r.tag = below(options_.tags);
  if (chance(options_.wildcards)) {
    const int kind = below(3);
    if (kind != 0) r.source = record::any_source;
    if (kind != 1) r.tag = record::any_tag;
  }
  a.receiving = &r;
  a.blocking = chance(0.25);
  r.from_nobody = !a.blocking && chance(0.05);
  a.phase = Phase::entered;
  a.quiet = a.recorder->muted();
  const bool multiple = processes_[a.rank].multiple;
  a.number = a.quiet ? unnumbered : multiple ? a.recorder->number_receive() : processes_[a.rank].receives++;
  r.ordinal = a.number;
  if (multiple && a.blocking && !a.quiet && !a.recorder->write(event(EventKind::recv_post, r, flag::entered)))
    r.ordinal = a.number = unnumbered;
  if ((a.blocking && multiple) || a.quiet) r.post = a.recorder->posting();
}

// MPI_Mprobe or MPI_Improbe.
void MpiSimulator::enter_probe(Actor& a) {
  Recv& r = recvs_.emplace_back();
  r.id = ++ids_;
  r.comm = 1 + static_cast<std::uint64_t>(below(options_.comms));
  r.rank = a.rank;
  r.source = chance(0.5) ? record::any_source : below(options_.ranks);
  r.tag = chance(0.5) ? record::any_tag : below(options_.tags);
  a.receiving = &r;
  a.blocking = chance(0.3);
  a.phase = Phase::entered;
  a.quiet = a.recorder->muted();
  const bool multiple = processes_[a.rank].multiple;
  a.number = multiple && !a.quiet ? a.recorder->number_receive() : unnumbered;
  r.ordinal = a.number;
  if (multiple && a.blocking && !a.quiet && !a.recorder->write(event(EventKind::recv_post, r, flag::entered)))
    r.ordinal = a.number = unnumbered;
  r.probe = true;
  r.post = a.recorder->posting();
}

void MpiSimulator::go_on_receiving(Actor& a) {
  Recv& r = *a.receiving;
  if (r.probe) {
    if (!r.got && !take_unexpected(r) && a.blocking) return;
    if (a.phase == Phase::entered) {
      a.phase = Phase::effective;
      return;
    }
    a.receiving = nullptr;
    a.recorder->returned();
    std::atomic<std::uint64_t>& receives = processes_[a.rank].receives;
    if (r.got) return return_posted(a, r);
    if (a.number == unnumbered) return;
    if (receives == a.number + 1) {
      --receives;
    } else {
      r.ordinal = a.recorder->receive_ordinal(a.number);
      a.recorder->write(event(EventKind::recv_cancelled, r, flag::failed));
    }
    return;
  }
  if (a.phase == Phase::entered) {
    a.phase = Phase::effective;
    if (!r.from_nobody) post(&r);
    return;
  }
  if (a.blocking && !r.got) return;
  a.receiving = nullptr;
  a.recorder->returned();
  a.blocking ? return_received(a, r) : return_posted(a, r);
}

// A nonblocking receive, or a matched probe.
void MpiSimulator::return_posted(Actor& a, Recv& r) {
  const bool multiple = processes_[a.rank].multiple;
  if (r.from_nobody) {
    if (r.ordinal == unnumbered) return a.recorder->missed(1);
    r.ordinal = a.recorder->receive_ordinal(a.number);
    a.recorder->write(event(EventKind::recv_done, r, flag::nonblocking));
    return;
  }
  if (r.probe && !multiple && !a.quiet) a.number = processes_[a.rank].receives++;
  if (a.number != unnumbered) {
    r.ordinal = a.recorder->receive_ordinal(a.number);
    const std::uint32_t flags = r.probe ? flag::matched_probe : chance(0.2) ? flag::persistent : flag::nonblocking;
    if (!a.recorder->write(event(EventKind::recv_post, r, flags))) {
      r.ordinal = unnumbered;
      if (!r.probe) r.post = a.recorder->posting();
      if (multiple) r.post.counter = std::min(r.post.counter, a.number);
    }
  }
  if (r.ordinal == unnumbered) {
    r.was_unrecorded = true;
    if (r.probe) {  // complete, as far as matching is concerned
      r.seen = true;
      return a.recorder->count_receive(r.comm, r.got->source, r.got->tag, r.post);
    }
    r.unrecorded = a.recorder->outstanding(event(EventKind::recv_post, r, flag::nonblocking), r.post);
  }
  a.requests.push_back(&r);
}

void MpiSimulator::return_received(Actor& a, Recv& r) {
  r.seen = true;
  if (a.number == unnumbered) {
    r.was_unrecorded = true;
    return a.recorder->count_receive(r.comm, r.got->source, r.got->tag, r.post);
  }
  r.ordinal = a.recorder->receive_ordinal(a.number);
  const bool posted = processes_[a.rank].multiple;
  r.recorded = a.recorder->write(event(EventKind::recv_done, r, posted ? flag::posted : 0)) && !a.recorder->muted();
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
  Event wait{};
  wait.begin = ++time_;
  wait.end = ++time_;
  wait.kind = EventKind::call;
  a.recorder->write(wait);
  end(a, *r);
}

void MpiSimulator::end(Actor& a, Recv& r) {
  r.seen = true;
  if (r.unrecorded) {
    Unrecorded::Post post;
    if (!Unrecorded::end(r.unrecorded, r.ordinal, post)) {
      r.ordinal = unnumbered;
      if (r.got) a.recorder->count_receive(r.comm, r.got->source, r.got->tag, post);
      return;
    }
  }
  if (r.cancelled) {
    a.recorder->write(event(EventKind::recv_cancelled, r, 0));
    return;
  }
  r.recorded = a.recorder->write(event(EventKind::recv_done, r, flag::posted)) && !a.recorder->muted();
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
  } else if (!r->cancelled && (wildcard && !r->probe ? options_.free_wildcards : options_.free_specific)) {
    r->seen = r->freed = true;
    a.requests.erase(a.requests.begin() + static_cast<std::ptrdiff_t>(i));
    if (r->unrecorded && !Unrecorded::let_go(r->unrecorded, r->ordinal)) return;
    a.recorder->write(event(EventKind::recv_freed, *r, 0));
  }
}

// Three moments: the request is written, the cancel takes effect or not, the outcome is written.
void MpiSimulator::cancel_send(Actor& a) {
  if (a.cancel_done) {
    Send* s = a.cancel_done;
    a.cancel_done = nullptr;
    a.recorder->write(event(s->cancelled ? EventKind::send_cancelled : EventKind::send_not_cancelled, *s, 0));
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
    a.recorder->write(event(EventKind::send_cancel_request, *s, 0));
  }
}

void MpiSimulator::act(Actor& a) {
  if (a.sending) return go_on_sending(a);
  if (a.receiving) return go_on_receiving(a);
  if (a.cancelling || a.cancel_done) return cancel_send(a);
  if (options_.one_at_a_time)
    for (const Actor& other : actors_)
      if (&other != &a && other.rank == a.rank && (other.in_call() || other.cancelling || other.cancel_done)) return;
  a.recorder->try_to_resume(always_recorded_);
  if (chance(options_.send_cancels)) return cancel_send(a);
  if (chance(options_.probes)) return enter_probe(a);
  const int what = below(18);
  if (what < 7) return enter_send(a);
  if (what < 13) return enter_receive(a);
  if (what < 17) return complete(a);
  cancel_or_free(a);
}

void MpiSimulator::step() {
  --steps_left_;
  if (chance(options_.pcontrol)) {
    SimProcess& process = processes_[below(options_.ranks)];
    process.off = !process.off;
  }
  if (chance(0.25)) return deliver();
  act(actors_[below(static_cast<int>(actors_.size()))]);
}

}  // namespace pclscope::test
