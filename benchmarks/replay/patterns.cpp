#include "benchmarks/replay/patterns.hpp"

#include <algorithm>
#include <random>

#include "interpose/record/functions.hpp"

namespace pclscope::benchmark {

using record::Event;
using record::EventKind;
using record::Function;
namespace flag = record::flag;

std::uint64_t Trace::event_count() const {
  std::uint64_t count = 0;
  for (const auto& of_rank : events) count += of_rank.size();
  return count;
}

void Trace::advance() {
  for (std::size_t rank = 0; rank < events.size(); ++rank)
    for (Event& e : events[rank]) {
      e.begin += ticks;
      e.end += ticks;
      if (e.kind == EventKind::send) e.ordinal += sends[rank];
      else if (e.kind == EventKind::recv_post || e.kind == EventKind::recv_done) e.ordinal += receives[rank];
      else if (e.kind == EventKind::collective) e.ordinal += collectives[rank];
    }
}

namespace {

// One rank writes down its calls.
class Writer {
 public:
  Writer(Trace& trace, int rank, std::mt19937_64& random) : trace_(trace), rank_(rank), random_(random) {}

  std::uint64_t post(int source, int tag) {
    put(EventKind::recv_post, Function::Irecv, trace_.receives[rank_], source, tag, 0, flag::nonblocking, 60);
    return trace_.receives[rank_]++;
  }
  void send(int to, int tag, std::uint64_t bytes, bool blocking = false) {
    put(EventKind::send, blocking ? Function::Send : Function::Isend, trace_.sends[rank_]++, to, tag, bytes,
        blocking ? 0 : flag::nonblocking, 150);
    ++trace_.messages;
  }
  void wait(int completions, Function function, std::uint64_t until) {
    begin_ = now;
    now = std::max(now, until) + 300 + random_() % 2000;
    put_at(EventKind::call, function, static_cast<std::uint64_t>(completions), 0, 0, 0, 0);
  }
  void done(std::uint64_t ordinal, int source, int tag, std::uint64_t bytes) {
    put_at(EventKind::recv_done, Function::Waitall, ordinal, source, tag, bytes, flag::posted);
  }
  void receive(int source, int tag, std::uint64_t bytes, std::uint64_t sent) {
    begin_ = now;
    now = std::max(now, sent) + 300 + random_() % 2000;
    put_at(EventKind::recv_done, Function::Recv, trace_.receives[rank_]++, source, tag, bytes, 0);
  }
  void allreduce(std::uint64_t until) {
    begin_ = now;
    now = std::max(now, until) + 1000;
    put_at(EventKind::collective, Function::Allreduce, trace_.collectives[rank_]++, record::any_source, 0, 8, 0);
  }
  void call(Function function) { put(EventKind::call, function, 0, 0, 0, 0, 0, 20); }

  std::uint64_t now = 1000;

 private:
  void put(EventKind kind, Function function, std::uint64_t ordinal, int peer, int tag, std::uint64_t bytes,
           std::uint32_t flags, std::uint64_t length) {
    now += 50 + random_() % 50;
    begin_ = now;
    now += length;
    put_at(kind, function, ordinal, peer, tag, bytes, flags);
  }
  void put_at(EventKind kind, Function function, std::uint64_t ordinal, int peer, int tag, std::uint64_t bytes,
              std::uint32_t flags) {
    Event e{};
    e.begin = begin_;
    e.end = now;
    e.site = 0x400000 + static_cast<std::uint64_t>(function) * 16;
    e.comm = record::world_comm_id;
    e.bytes = bytes;
    e.ordinal = ordinal;
    e.peer = peer;
    e.tag = tag;
    e.kind = kind;
    e.function = static_cast<std::uint16_t>(function);
    e.flags = flags;
    trace_.events[static_cast<std::size_t>(rank_)].push_back(e);
  }

  Trace& trace_;
  int rank_;
  std::mt19937_64& random_;
  std::uint64_t begin_ = 0;
};

std::vector<Writer> writers(Trace& trace, std::mt19937_64& random) {
  std::vector<Writer> all;
  for (std::size_t rank = 0; rank < trace.events.size(); ++rank)
    all.emplace_back(trace, static_cast<int>(rank), random);
  return all;
}

std::uint64_t latest(const std::vector<Writer>& ranks) {
  std::uint64_t time = 0;
  for (const Writer& w : ranks) time = std::max(time, w.now);
  return time;
}

// Everybody posts receives from `partners`, sends to them, and waits for all.
void exchange(std::vector<Writer>& ranks, const std::vector<std::vector<int>>& partners, std::uint64_t bytes, int tag) {
  std::vector<std::vector<std::uint64_t>> posted(ranks.size());
  for (std::size_t me = 0; me < ranks.size(); ++me) {
    for (const int p : partners[me]) posted[me].push_back(ranks[me].post(p, tag));
    for (const int p : partners[me]) ranks[me].send(p, tag, bytes);
  }
  std::vector<std::uint64_t> sent(ranks.size());
  for (std::size_t me = 0; me < ranks.size(); ++me) sent[me] = ranks[me].now;
  for (std::size_t me = 0; me < ranks.size(); ++me) {
    std::uint64_t until = 0;
    for (const int p : partners[me]) until = std::max(until, sent[static_cast<std::size_t>(p)]);
    ranks[me].wait(static_cast<int>(2 * partners[me].size()), Function::Waitall, until);
    for (std::size_t i = 0; i < posted[me].size(); ++i) ranks[me].done(posted[me][i], partners[me][i], tag, bytes);
  }
}

}  // namespace

Trace halo(int steps, int count) {
  Trace trace("halo", count);
  std::mt19937_64 random(1);
  std::vector<Writer> ranks = writers(trace, random);
  std::vector<std::vector<int>> partners(static_cast<std::size_t>(count));
  for (int me = 0; me < count; ++me)
    partners[static_cast<std::size_t>(me)] = {(me + 1) % count, (me + count - 1) % count, (me + 2) % count,
                                              (me + count - 2) % count};
  const std::uint64_t sizes[] = {800, 6400, 51200};
  for (int step = 0; step < steps; ++step) {
    exchange(ranks, partners, sizes[step % 3], 10);
    for (Writer& w : ranks) w.now += 5000 + random() % 2000;
    if (step % 10 != 9) continue;
    const std::uint64_t all = latest(ranks);
    for (Writer& w : ranks) w.allreduce(all);
  }
  trace.ticks = latest(ranks);
  return trace;
}

Trace master_worker(int tasks) {
  Trace trace("master-worker", 8);
  std::mt19937_64 random(2);
  std::vector<Writer> ranks = writers(trace, random);
  for (int task = 0; task < tasks; ++task) {
    const int worker = 1 + static_cast<int>(random() % 7), tag = 1 + static_cast<int>(random() % 5);
    Writer &master = ranks[0], &w = ranks[static_cast<std::size_t>(worker)];
    master.send(worker, tag, 200, true);
    w.receive(0, tag, 200, master.now);
    w.now += 2000;
    w.send(0, tag, 1000, true);
    const std::uint64_t ordinal = master.post(record::any_source, record::any_tag);
    master.wait(1, Function::Wait, w.now);
    master.done(ordinal, worker, tag, 1000);
  }
  trace.ticks = latest(ranks);
  return trace;
}

Trace cg(int iterations) {
  Trace trace("cg", 16);
  std::mt19937_64 random(3);
  std::vector<Writer> ranks = writers(trace, random);
  for (int i = 0; i < iterations; ++i) {
    std::vector<std::vector<int>> partners(16);
    for (int repeat = 0; repeat < 3; ++repeat)
      for (const int d : {2, 1}) {
        for (int me = 0; me < 16; ++me) partners[static_cast<std::size_t>(me)] = {me ^ d};
        exchange(ranks, partners, repeat == 0 ? 2800 : 8, 20 + d);
      }
    for (int me = 0; me < 16; ++me) partners[static_cast<std::size_t>(me)] = {me % 4 * 4 + me / 4};
    exchange(ranks, partners, 2800, 30);
    for (Writer& w : ranks) w.now += 3000 + random() % 1000;
  }
  trace.ticks = latest(ranks);
  return trace;
}

Trace quiet_calls(int calls) {
  Trace trace("proc-null and calls", 8);
  std::mt19937_64 random(4);
  std::vector<Writer> ranks = writers(trace, random);
  for (int i = 0; i < calls; ++i)
    for (Writer& w : ranks) {
      w.send(record::proc_null, 0, 8, true);
      w.receive(record::proc_null, 0, 0, 0);
      w.call(Function::Comm_rank);
    }
  trace.messages = 0;
  trace.ticks = latest(ranks);
  return trace;
}

void analyse(Pipeline& pipeline, Trace& trace, int repeats) {
  std::int64_t now = 0;
  for (int i = 0; i < repeats; ++i) {
    for (std::size_t rank = 0; rank < trace.events.size(); ++rank)
      pipeline.add(static_cast<std::int32_t>(rank), 0, trace.events[rank]);
    now += static_cast<std::int64_t>(trace.ticks);
    pipeline.end_round(now);
    trace.advance();
  }
  pipeline.finish();
}

}  // namespace pclscope::benchmark
