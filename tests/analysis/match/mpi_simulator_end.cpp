// The end of a simulated program, and what was true of it.
#include <algorithm>

#include "tests/analysis/match/mpi_simulator.hpp"

namespace pclscope::test {

using record::EventKind;
namespace flag = record::flag;

// Somebody sends what a blocked receive waits for.
void MpiSimulator::release_blocked(Actor& a) {
  for (int tries = 0; a.in_call() && tries < 200; ++tries) {
    deliver_all();
    act(a);
    if (!a.receiving || a.receiving->got || tries < 3) continue;
    const Recv& r = *a.receiving;
    const int source = r.source == record::any_source ? a.rank : r.source;
    Send& s = new_send(source, a.rank, r.comm, r.tag == record::any_tag ? 0 : r.tag);
    s.blocking = true;
    SimRecorder& recorder = *actors_[source * options_.threads].recorder;
    wires_[{s.source, s.destination, s.comm}].push_back(&s);
    if (recorder.muted()) {
      recorder.count_send(s.comm, s.destination, s.tag);
      continue;
    }
    s.ordinal = processes_[source].sends++;
    if (!recorder.write(event(EventKind::send, s, 0))) s.ordinal = unnumbered;
  }
}

void MpiSimulator::finish() {
  if (!options_.quiesce) return;
  for (int round = 0; round < 3; ++round) {
    for (int i = 0; i < 3; ++i)
      for (Actor& a : actors_)
        if (a.in_call()) act(a);
    for (Actor& a : actors_) {
      while (a.cancelling || a.cancel_done) cancel_send(a);
      release_blocked(a);
    }
  }
  deliver_all();
  for (Actor& a : actors_) {
    for (Recv* r : a.requests) {
      if (r->got) continue;
      r->cancelled = true;
      posted_[a.rank].remove(r);
    }
    while (!a.requests.empty()) complete(a);
  }
  for (SimProcess& process : processes_) process.off = false;
  always_recorded_ = true;
  for (SimRecorder& recorder : recorders_) recorder.try_to_resume(true);
  if (options_.coda) play_coda();
  for (int rank = 0; rank < options_.ranks; ++rank) {
    record::Event last{};
    last.begin = last.end = ++time_;
    last.kind = EventKind::finalize;
    actors_[rank * options_.threads].recorder->write(last);
  }
}

// Every channel is used a few times more by the first threads. First what is left on it is received.
void MpiSimulator::play_coda() {
  const auto receive = [&](Actor& a, int source, std::uint64_t comm, int tag, bool only_left) {
    Recv pattern;
    pattern.rank = a.rank;
    pattern.source = source;
    pattern.comm = comm;
    pattern.tag = tag;
    if (only_left && std::none_of(unexpected_[a.rank].begin(), unexpected_[a.rank].end(),
                                  [&](Send* s) { return fits(pattern, *s); }))
      return false;
    Recv& r = recvs_.emplace_back(pattern);
    r.id = ++ids_;
    r.ordinal = processes_[a.rank].receives++;
    post(&r);
    deliver_all();
    if (processes_[a.rank].multiple) a.recorder->write(event(EventKind::recv_post, r, flag::nonblocking));
    r.seen = r.recorded = true;
    a.recorder->write(event(EventKind::recv_done, r, processes_[a.rank].multiple ? flag::posted : 0));
    return true;
  };
  const auto everywhere = [&](auto visit) {
    for (int to = 0; to < options_.ranks; ++to)
      for (int from = 0; from < options_.ranks; ++from)
        for (int comm = 1; comm <= options_.comms; ++comm)
          for (int tag = 0; tag < options_.tags; ++tag)
            visit(actors_[to * options_.threads], actors_[from * options_.threads], static_cast<std::uint64_t>(comm),
                  tag);
  };
  everywhere([&](Actor& to, Actor& from, std::uint64_t comm, int tag) {
    while (receive(to, from.rank, comm, tag, true)) {}
  });
  coda_begins_ = ids_ + 1;
  for (int i = 0; i < 2; ++i)
    everywhere([&](Actor& to, Actor& from, std::uint64_t comm, int tag) {
      Send& s = new_send(from.rank, to.rank, comm, tag);
      s.blocking = true;
      s.ordinal = processes_[from.rank].sends++;
      wires_[{s.source, s.destination, s.comm}].push_back(&s);
      from.recorder->write(event(EventKind::send, s, 0));
      receive(to, from.rank, comm, tag, false);
    });
}

std::map<std::uint64_t, std::uint64_t> MpiSimulator::pairs() const {
  std::map<std::uint64_t, std::uint64_t> pairs;
  for (const Recv& r : recvs_)
    if (r.seen && r.got) pairs[r.id] = r.got->id;
  return pairs;
}

namespace {
// Those that overlap with another one, transitively.
template <class Item>
void drop_races(std::vector<Item*>& items) {
  std::sort(items.begin(), items.end(),
            [](Item* a, Item* b) { return record::number_of(a->ordinal) < record::number_of(b->ordinal); });
  std::vector<Item*> alone;
  for (std::size_t i = 0; i < items.size();) {
    std::uint64_t end = 0;
    std::size_t j = i;
    for (; j < items.size() && (j == i || record::number_of(items[j]->ordinal) <= end); ++j)
      end = std::max(end, record::number_of(items[j]->ordinal) + record::concurrent_of(items[j]->ordinal));
    if (j == i + 1) alone.push_back(items[i]);
    i = j;
  }
  items = std::move(alone);
}
}  // namespace

std::set<std::uint64_t> MpiSimulator::certain() const {
  using Key = std::tuple<int, int, std::uint64_t, int>;
  std::map<Key, std::vector<const Send*>> sends;
  std::map<Key, std::vector<const Recv*>> recvs;
  for (const Send& s : sends_)
    if (!s.to_nobody && s.ordinal != unnumbered) sends[{s.source, s.destination, s.comm, s.tag}].push_back(&s);
  for (const Recv& r : recvs_)
    if ((r.got || r.freed) && r.ordinal != unnumbered)
      recvs[{r.got ? r.got->source : r.source, r.rank, r.comm, r.got ? r.got->tag : r.tag}].push_back(&r);
  std::set<std::uint64_t> certain_sends, certain;
  for (auto& [key, items] : sends) {
    drop_races(items);
    for (const Send* s : items) certain_sends.insert(s->id);
  }
  for (auto& [key, items] : recvs) {
    drop_races(items);
    for (const Recv* r : items)
      if (r->got && r->recorded && !r->was_unrecorded && certain_sends.contains(r->got->id)) certain.insert(r->id);
  }
  return certain;
}

std::uint64_t MpiSimulator::sends_without_receive() const {
  return static_cast<std::uint64_t>(std::count_if(
      sends_.begin(), sends_.end(), [](const Send& s) { return !s.to_nobody && !s.matched && !s.cancelled; }));
}

std::uint64_t MpiSimulator::messages_sent() const {
  return static_cast<std::uint64_t>(
      std::count_if(sends_.begin(), sends_.end(), [](const Send& s) { return !s.to_nobody && !s.cancelled; }));
}

std::uint64_t MpiSimulator::out_of_order() const { return out_of_order_; }

}  // namespace pclscope::test
