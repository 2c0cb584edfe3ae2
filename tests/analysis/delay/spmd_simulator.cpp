#include "tests/analysis/delay/spmd_simulator.hpp"

#include <algorithm>
#include <deque>
#include <map>
#include <stdexcept>
#include <tuple>

#include "interpose/record/event.hpp"

namespace pclscope::test {
namespace {

using Kind = Operation::Kind;
constexpr std::int64_t unknown = INT64_MIN;

struct Transfer {  // one message being made
  Message m;
  bool sent = false, posted = false;
};

struct Collective {
  std::vector<std::int64_t> begin;
  std::vector<CollectiveCall> calls;
};

class Simulator {
 public:
  Simulator(const Program& program, const Speeds& speeds)
      : program_(program), speeds_(speeds), ranks_(program.operations().size()) {
    outcome_.waited_s.resize(ranks_.size());
  }

  Outcome run() {
    for (bool moved = true; moved;) {
      moved = false;
      for (std::size_t r = 0; r < ranks_.size(); ++r)
        while (step(static_cast<std::int32_t>(r))) moved = true;
    }
    for (std::size_t r = 0; r < ranks_.size(); ++r)
      if (ranks_[r].next < program_.operations()[r].size()) throw std::logic_error("the program deadlocks");
    for (const Transfer& t : transfers_) outcome_.messages.push_back(t.m);
    for (const Rank& rank : ranks_) outcome_.end_ns.push_back(rank.now);
    std::stable_sort(outcome_.messages.begin(), outcome_.messages.end(),
                     [](const Message& a, const Message& b) { return a.recv_end < b.recv_end; });
    std::stable_sort(outcome_.collectives.begin(), outcome_.collectives.end(),
                     [](const CollectiveCall& a, const CollectiveCall& b) { return a.end < b.end; });
    return std::move(outcome_);
  }

 private:
  struct Rank {
    std::size_t next = 0;
    std::int64_t now = 0;
    bool entered = false;             // the next operation, which blocks
    std::vector<std::size_t> posted;  // receives for the next waitall
    std::size_t transfer = 0;         // of the call that blocks
    std::uint64_t collectives = 0;
  };
  using Channel = std::tuple<std::int32_t, std::int32_t, std::int32_t>;

  // The next message of the channel that has no sender (receiver) yet.
  std::size_t meet(std::int32_t from, std::int32_t to, std::int32_t tag, bool sender) {
    auto& ends = channels_[{from, to, tag}];
    auto& mine = sender ? ends.first : ends.second;
    auto& theirs = sender ? ends.second : ends.first;
    if (!theirs.empty()) {
      const std::size_t t = theirs.front();
      theirs.pop_front();
      return t;
    }
    transfers_.emplace_back();
    transfers_.back().m.comm = 1;
    transfers_.back().m.source = from;
    transfers_.back().m.destination = to;
    transfers_.back().m.tag = tag;
    mine.push_back(transfers_.size() - 1);
    return transfers_.size() - 1;
  }

  std::size_t send(std::int32_t r, const Operation& o) {
    const std::size_t t = meet(r, o.peer, o.tag, true);
    Message& m = transfers_[t].m;
    m.send_begin = ranks_[static_cast<std::size_t>(r)].now;
    m.send_end = m.send_begin + speeds_.call_ns;
    m.send_site = o.site;
    m.bytes = speeds_.bytes ? speeds_.bytes(o.tag) : 8;
    if (o.kind == Kind::isend) m.flags |= record::flag::nonblocking;
    if (o.kind == Kind::ssend) m.flags |= record::flag::synchronous;
    transfers_[t].sent = true;
    return t;
  }

  std::size_t post(std::int32_t r, const Operation& o) {
    const std::size_t t = meet(o.peer, r, o.tag, false);
    transfers_[t].m.recv_post = ranks_[static_cast<std::size_t>(r)].now;
    transfers_[t].m.recv_site = o.site;
    transfers_[t].posted = true;
    return t;
  }

  void wait(std::int32_t r, std::int64_t until) {
    const std::int64_t now = ranks_[static_cast<std::size_t>(r)].now;
    if (until > now) outcome_.waited_s[static_cast<std::size_t>(r)] += static_cast<double>(until - now) * 1e-9;
  }

  std::int64_t transfer_ns(const Message& m) const {
    return speeds_.transfer_ns ? speeds_.transfer_ns(m.source, m.destination, m.bytes) : speeds_.latency_ns;
  }
  static std::int64_t ready(const Message& m) {
    constexpr std::uint64_t copied_bytes = 1024;
    return m.bytes < copied_bytes ? m.send_begin : std::max(m.send_begin, m.recv_post);
  }

  // All of them complete in one call; false while one was not sent.
  bool complete(std::int32_t r, const std::vector<std::size_t>& receives) {
    Rank& rank = ranks_[static_cast<std::size_t>(r)];
    std::int64_t sent = rank.now, end = rank.now + speeds_.call_ns;
    for (const std::size_t t : receives) {
      if (!transfers_[t].sent) return false;
      sent = std::max(sent, transfers_[t].m.send_begin);
      end = std::max(end, ready(transfers_[t].m) + transfer_ns(transfers_[t].m));
    }
    wait(r, sent);
    for (const std::size_t t : receives) {
      transfers_[t].m.recv_wait = rank.now;
      transfers_[t].m.recv_end = end;
    }
    rank.now = end;
    return true;
  }

  bool ssend_done(std::int32_t r) {
    Rank& rank = ranks_[static_cast<std::size_t>(r)];
    Transfer& t = transfers_[rank.transfer];
    if (!t.posted) return false;
    wait(r, t.m.recv_post);
    rank.now = t.m.send_end = std::max(rank.now, t.m.recv_post) + transfer_ns(t.m);
    return true;
  }

  Collective& enter(std::int32_t r) {
    Rank& rank = ranks_[static_cast<std::size_t>(r)];
    if (collectives_.size() == rank.collectives)
      collectives_.push_back({std::vector<std::int64_t>(ranks_.size(), unknown), {}});
    Collective& c = collectives_[rank.collectives];
    c.begin[static_cast<std::size_t>(r)] = rank.now;
    return c;
  }

  bool leave(std::int32_t r, const Operation& o) {
    Rank& rank = ranks_[static_cast<std::size_t>(r)];
    Collective& c = collectives_[rank.collectives];
    CollectiveCall call;
    const bool from_root = o.kind == Kind::bcast;
    for (std::int32_t other = 0; other < program_.ranks(); ++other) {
      if (from_root && other != o.peer) continue;
      const std::int64_t came = c.begin[static_cast<std::size_t>(other)];
      if (came == unknown) return false;
      if (other == r || came <= rank.now || (call.awaited >= 0 && came <= call.awaited_begin)) continue;
      call.awaited = other;
      call.awaited_begin = came;
    }
    call.comm = 1;
    call.ordinal = rank.collectives++;
    call.rank = r;
    call.shape = from_root ? CollectiveShape::from_root : CollectiveShape::all_to_all;
    call.begin = rank.now;
    if (call.awaited < 0) call.awaited_begin = call.begin;
    call.end = std::max(call.begin, call.awaited_begin) + speeds_.latency_ns;
    call.site = o.site;
    wait(r, call.awaited_begin);
    rank.now = call.end;
    outcome_.collectives.push_back(call);
    return true;
  }

  bool blocks(std::int32_t r, const Operation& o) {
    Rank& rank = ranks_[static_cast<std::size_t>(r)];
    const bool first = !rank.entered;
    rank.entered = true;
    switch (o.kind) {
      case Kind::recv:
        if (first) rank.transfer = post(r, o);
        return !complete(r, {rank.transfer});
      case Kind::waitall:
        if (!complete(r, rank.posted)) return true;
        rank.posted.clear();
        return false;
      case Kind::ssend:
        if (first) rank.transfer = send(r, o);
        return !ssend_done(r);
      default:
        if (first) enter(r);
        return !leave(r, o);
    }
  }

  bool step(std::int32_t r) {
    Rank& rank = ranks_[static_cast<std::size_t>(r)];
    const auto& operations = program_.operations()[static_cast<std::size_t>(r)];
    if (rank.next == operations.size()) return false;
    const Operation& o = operations[rank.next];
    if (o.kind == Kind::compute) {
      rank.now += o.ns;
    } else if (o.kind == Kind::send || o.kind == Kind::isend) {
      send(r, o);
      rank.now += speeds_.call_ns;
    } else if (o.kind == Kind::irecv) {
      rank.posted.push_back(post(r, o));
      rank.now += speeds_.post_ns;
    } else if (blocks(r, o)) {
      return false;
    }
    rank.entered = false;
    ++rank.next;
    return true;
  }

  const Program& program_;
  const Speeds speeds_;
  std::vector<Rank> ranks_;
  std::vector<Transfer> transfers_;
  std::map<Channel, std::pair<std::deque<std::size_t>, std::deque<std::size_t>>> channels_;  // sent, posted
  std::vector<Collective> collectives_;
  Outcome outcome_;
};

}  // namespace

Outcome simulate(const Program& program, const Speeds& speeds) { return Simulator(program, speeds).run(); }

}  // namespace pclscope::test
