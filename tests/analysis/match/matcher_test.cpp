// Situations with answers on paper. The exhaustive check is matcher_oracle_test.
#include "analysis/match/matcher.hpp"

#include <catch2/catch.hpp>
#include <numeric>
#include <random>

#include "tests/analysis/match/streams.hpp"
#include "tests/patience.hpp"

using namespace pclscope;
using record::any_source;
using record::any_tag;
using record::Event;
using record::EventKind;
using test::Stream;
namespace flag = record::flag;

namespace {

struct Collected {
  std::vector<Message> messages;
  Matcher matcher;
  explicit Collected(int ranks)
      : matcher(ranks, [this](std::span<const Message> b) { messages.insert(messages.end(), b.begin(), b.end()); }) {}
  Collected& add(int rank, const Stream& stream) {
    matcher.add(rank, 0, stream.events);
    return *this;
  }
  MatchCounts finish() {
    matcher.finish();
    return matcher.counts();
  }
};

}  // namespace

TEST_CASE("a message carries the times, sites and bytes of both its ends") {
  Stream sender, receiver;
  sender.send(1, 7, flag::synchronous, 100);
  receiver.now = 50;
  receiver.post(0, 7).done(0, 0, 7, 64);
  Collected c(2);
  c.matcher.set_tick_scale({10, 2.0});
  c.add(0, sender).add(1, receiver);
  const MatchCounts counts = c.finish();
  CHECK(counts.matched == 1);
  REQUIRE(c.messages.size() == 1);
  const Message& m = c.messages[0];
  CHECK(m.source == 0);
  CHECK(m.destination == 1);
  CHECK(m.tag == 7);
  CHECK(m.comm == 1);
  CHECK(m.bytes == 64);
  CHECK(m.flags == flag::synchronous);
  CHECK(m.send_begin == 180);
  CHECK(m.send_end == 190);
  CHECK(m.recv_post == 80);
  CHECK(m.recv_wait == 100);
  CHECK(m.recv_end == 110);
  CHECK(m.send_site == 1);
  CHECK(m.recv_site == 1);
}

TEST_CASE("a send that could be cancelled is paired when a cancel would have been read") {
  Stream sender, receiver, later;
  sender.send(1, 0, flag::nonblocking);
  receiver.now = 500;
  receiver.receive(0, 0);
  later.now = 600;
  later.other(EventKind::call);
  Collected c(2);
  SECTION("known by rounds") {
    c.add(1, receiver).add(0, sender);
    c.matcher.end_round();
    CHECK(c.messages.empty());
    CHECK(c.matcher.counts().unmatched_sends == 1);
    c.matcher.end_round(false);  // rings were not read to their heads
    CHECK(c.messages.empty());
    c.matcher.end_round();
  }
  SECTION("known by the time read, on one node") {
    c.matcher.set_node(0, 3);
    c.matcher.set_node(1, 3);
    c.add(1, receiver).add(0, sender);
    c.matcher.end_round(false);
    CHECK(c.messages.empty());
    c.add(0, later);
    c.matcher.end_round(false);
  }
  CHECK(c.messages.size() == 1);
  CHECK(c.matcher.counts().unmatched_sends == 0);
}

TEST_CASE("the time read says nothing about another node's clock, nor about another thread's ring") {
  Stream sender, receiver, later, thread;
  sender.send(1, 0, flag::nonblocking);
  receiver.now = 500;
  receiver.receive(0, 0);
  later.now = 600;
  later.other(EventKind::call);
  thread.other(EventKind::call);
  Collected c(2);
  c.matcher.set_node(0, 0);
  SECTION("another node") { c.matcher.set_node(1, 1); }
  SECTION("another thread") {
    c.matcher.set_node(1, 0);
    c.matcher.add(0, 1, thread.events);
  }
  c.add(1, receiver).add(0, sender).add(0, later);
  c.matcher.end_round(false);
  CHECK(c.messages.empty());
  c.matcher.end_round();
  c.matcher.end_round();
  CHECK(c.messages.size() == 1);
}

TEST_CASE("a receive is said to be its call's only one when the events around it show it") {
  // Calls of Wait that complete receives: how many each, and whether something of another kind ends with them.
  const std::vector<std::pair<int, bool>> calls = {{1, false}, {2, false}, {1, true},
                                                   {3, true},  {1, false}, {1, false}};
  Stream sender, receiver;
  receiver.now = 500;
  std::vector<bool> alone;
  for (const auto& [count, collective] : calls) {
    for (int i = 0; i < count; ++i) {
      sender.send(1, 0);
      receiver.post(0, 0);
    }
    const std::size_t first = receiver.events.size();
    receiver.other(EventKind::call, static_cast<std::uint64_t>(count));
    for (int i = 0; i < count; ++i) {
      receiver.done(receiver.last - static_cast<std::uint64_t>(count - 1 - i), 0, 0);
      if (collective && i == 0) receiver.other(EventKind::collective);
      alone.push_back(count == 1 && !collective);
    }
    for (std::size_t i = first; i < receiver.events.size(); ++i) {
      receiver.events[i].begin = receiver.events[first].begin - (receiver.events[i].kind == EventKind::collective);
      receiver.events[i].end = receiver.events.back().end;
    }
  }
  alone.back() = false;  // what follows has not been read
  Collected c(2);
  c.add(0, sender).add(1, receiver);
  REQUIRE(c.finish().matched == alone.size());
  for (std::size_t i = 0; i < alone.size(); ++i) {
    CAPTURE(i);
    CHECK(((c.messages[i].flags & message_flag::received_alone) != 0) == alone[i]);
  }
}

TEST_CASE("a blocking send is paired at once") {
  Stream sender, receiver;
  sender.send(1, 0);
  receiver.receive(0, 0);
  Collected c(2);
  c.add(1, receiver).add(0, sender);
  c.matcher.end_round(false);
  CHECK(c.messages.size() == 1);
}

TEST_CASE("messages to and from MPI_PROC_NULL and foreign ranks never match") {
  Stream s;
  s.send(record::proc_null, 0).receive(record::proc_null, 0).post(record::proc_null, 0);
  s.done(s.last, record::proc_null, 0);
  s.send(record::unknown_rank, 0).send(0, 0, flag::foreign).receive(record::unknown_rank, 0);
  s.post(any_source, any_tag).done(s.last, record::unknown_rank, 3);
  s.send(0, 5).receive(0, 5);
  Collected c(1);
  const MatchCounts counts = c.add(0, s).finish();
  CHECK(counts.matched == 1);
  CHECK(counts.foreign == 4);
  CHECK(counts.unmatched_sends == 0);
  CHECK(counts.unmatched_receives == 0);
  CHECK(counts.ambiguous == 0);
}

TEST_CASE("what never finds a partner is counted in the end") {
  Stream sender, receiver;
  sender.send(1, 0).send(1, 1).send(1, 1);
  receiver.post(0, 2).post(any_source, 3).receive(0, 1).receive(0, 4);
  Collected c(2);
  const MatchCounts counts = c.add(0, sender).add(1, receiver).finish();
  CHECK(counts.matched == 1);
  CHECK(counts.unmatched_sends == 2);
  CHECK(counts.unmatched_receives == 3);
  CHECK(counts.ambiguous == 0);
}

TEST_CASE("a completed receive waits for an earlier wildcard that could have claimed its channel") {
  for (const auto& [source, tag] : {std::pair{any_source, any_tag}, {0, any_tag}, {any_source, 5}}) {
    Stream sender, receiver;
    sender.send(1, 5).send(1, 5);
    receiver.post(source, tag).post(0, 5).done(1, 0, 5);
    Collected c(2);
    c.add(0, sender).add(1, receiver);
    for (int round = 0; round < 3; ++round) c.matcher.end_round();
    CHECK(c.messages.empty());
    Stream rest = receiver;
    rest.events.clear();
    rest.done(0, 0, 5);
    c.add(1, rest);
    const MatchCounts counts = c.finish();
    REQUIRE(counts.matched == 2);
    CHECK(c.messages[0].send_site == 1);
    CHECK(c.messages[0].recv_site == 1);  // the wildcard was posted first
    CHECK(c.messages[1].send_site == 2);
    CHECK(c.messages[1].recv_site == 2);
  }
}

TEST_CASE("a wildcard of another tag or communicator holds nobody up") {
  Stream sender, receiver;
  sender.send(1, 5);
  receiver.post(any_source, 99);
  receiver.comm = 7;
  receiver.post(any_source, any_tag);
  receiver.comm = 1;
  receiver.post(0, 5).done(2, 0, 5);
  Collected c(2);
  c.add(0, sender).add(1, receiver);
  c.matcher.end_round();
  c.matcher.end_round();
  CHECK(c.messages.size() == 1);
}

TEST_CASE("a missing posting number holds everything behind it up, until it is read or known to be lost") {
  Stream sender, receiver, other_thread;
  sender.send(1, 5).send(1, 5);
  other_thread.receive(0, 5);
  receiver.skip_receive().receive(0, 5);
  Collected c(2);
  c.add(0, sender).add(1, receiver);
  for (int round = 0; round < 5; ++round) c.matcher.end_round();
  CHECK(c.messages.empty());
  SECTION("read") {
    c.add(1, other_thread);
    CHECK(c.finish().matched == 2);
    CHECK(c.messages[0].recv_end == 105);
    CHECK(c.messages[0].send_site == 1);
  }
  SECTION("lost") {
    c.matcher.note_drop(1, 5);
    const MatchCounts counts = c.finish();
    CHECK(counts.matched == 0);
    CHECK(counts.ambiguous == 2);  // two sends, one receive seen: at least two messages
    CHECK(counts.unmatched_sends == 0);
  }
}

TEST_CASE("after a loss everything of that rank is ambiguous, what was certain before is not") {
  Stream sender, receiver, third;
  sender.send(1, 0);
  sender.other(EventKind::lost, 4);
  sender.send(1, 0).send(2, 0);
  receiver.receive(0, 0).receive(0, 0).send(2, 0);
  third.receive(0, 0).receive(1, 0);
  Collected c(3);
  const MatchCounts counts = c.add(0, sender).add(1, receiver).add(2, third).finish();
  CHECK(counts.matched == 2);  // 0 -> 1 before the loss, 1 -> 2 has nothing to do with it
  CHECK(counts.ambiguous == 2);
  CHECK(counts.unmatched_sends == 0);
  CHECK(counts.unmatched_receives == 0);
}

TEST_CASE("a freed wildcard makes ambiguous what it could have claimed from then on, nothing else") {
  Stream sender, receiver;
  sender.send(1, 5).send(1, 5).send(1, 6);
  receiver.receive(0, 5);
  receiver.post(any_source, 5).other(EventKind::recv_freed, 1, any_source, 5);
  receiver.receive(0, 5).receive(0, 6);
  Collected c(2);
  const MatchCounts counts = c.add(0, sender).add(1, receiver).finish();
  CHECK(counts.matched == 2);
  CHECK(counts.ambiguous == 1);
}

TEST_CASE("a freed specific receive takes its turn, without a latency") {
  Stream sender, receiver;
  sender.send(1, 5).send(1, 5);
  receiver.post(0, 5).other(EventKind::recv_freed, 0, 0, 5).receive(0, 5);
  Collected c(2);
  const MatchCounts counts = c.add(0, sender).add(1, receiver).finish();
  REQUIRE(counts.matched == 2);
  CHECK((c.messages[0].flags & message_flag::unseen_completion) != 0);
  CHECK((c.messages[1].flags & message_flag::unseen_completion) == 0);
  CHECK(c.messages[1].send_site == 2);
}

// A ring too small for a summary shows its first part alone: what it numbers may still be preceded by what it counts.
TEST_CASE("a receive numbered in a summary waits until the whole summary was read") {
  Stream sender, first_part, rest;
  sender.send(1, 5).send(1, 5);
  first_part.other(EventKind::lost, 3, -1, -1, flag::summarised);
  first_part.post(0, 5, flag::unrecorded | flag::nonblocking).other(EventKind::recv_freed, 0, 0, 5, flag::unrecorded);
  rest.other(EventKind::unrecorded_receives, 0, 0, 5);
  rest.events.back().begin = rest.events.back().end = 0;  // posted before number 0
  rest.events.back().bytes = 1;
  Collected c(2);
  c.matcher.note_muted(1, true);
  c.add(0, sender).add(1, first_part).matcher.end_round(true);
  CHECK(c.messages.empty());
  c.add(1, rest).matcher.note_muted(1, false);
  c.matcher.end_round(true);
  const MatchCounts counts = c.finish();
  CHECK(counts.half_recorded == 1);
  CHECK(counts.ambiguous == 0);
  REQUIRE(counts.matched == 1);
  CHECK(c.messages[0].send_site == 2);
}

TEST_CASE("failed and unordered calls put their channel in doubt, others not") {
  Stream sender, receiver;
  sender.send(1, 1).send(1, 1, flag::failed).send(1, 1).send(1, 2, flag::unordered).send(1, 3);
  receiver.receive(0, 1).receive(0, 1).receive(0, 2).receive(0, 3);
  Collected c(2);
  const MatchCounts counts = c.add(0, sender).add(1, receiver).finish();
  CHECK(counts.matched == 2);  // the first on tag 1, the one on tag 3
  CHECK(counts.ambiguous == 2);
}

TEST_CASE("a failed receive puts the channels that it could have taken from in doubt") {
  Stream sender, receiver;
  sender.send(1, 1).send(1, 2);
  receiver.receive(0, 1, flag::failed).receive(0, 1).receive(0, 2);
  Collected c(2);
  const MatchCounts counts = c.add(0, sender).add(1, receiver).finish();
  CHECK(counts.matched == 1);
  CHECK(counts.ambiguous == 1);
}

TEST_CASE("a receive that MPI refused took nothing, its number is not missing") {
  Stream sender, receiver;
  sender.send(1, 1).send(1, 1);
  receiver.receive(0, 1).other(EventKind::recv_cancelled, 1, record::unknown_rank, any_tag, flag::failed);
  receiver.skip_receive().receive(0, 1);
  Collected c(2);
  const MatchCounts counts = c.add(0, sender).add(1, receiver).finish();
  CHECK(counts.matched == 2);
  CHECK(counts.ambiguous == 0);
}

TEST_CASE("a truncated receive failed, but it took its message") {
  Stream sender, receiver;
  sender.send(1, 1).send(1, 1).send(1, 1);
  receiver.receive(0, 1, flag::failed | flag::truncated).post(0, 1).receive(0, 1).done(1, 0, 1, 5);
  receiver.events.back().flags |= flag::failed | flag::truncated;
  Collected c(2);
  CHECK(c.add(0, sender).add(1, receiver).finish().matched == 3);
  for (int i = 0; i < 3; ++i) CHECK(((c.messages[i].flags & flag::truncated) != 0) == (i < 2));
  CHECK(c.messages[1].bytes == 5);
}

TEST_CASE("a hundred thousand outstanding receives cost no more each than a few") {
  std::mt19937_64 random(3);
  for (const int kind : {0, 1, 2, 3}) {  // specific; wildcard; alternating; wildcard first, then specific behind it
    const int n = 100'000;
    Stream sender, receiver;
    std::vector<std::uint64_t> order(n);
    std::iota(order.begin(), order.end(), 0);
    for (int i = 0; i < n; ++i) sender.send(1, 5);
    for (int i = 0; i < n; ++i) {
      const bool wildcard = kind == 1 || (kind == 2 && i % 2) || (kind == 3 && i == 0);
      wildcard ? receiver.post(any_source, i % 4 < 2 ? any_tag : 5) : receiver.post(0, 5);
    }
    std::shuffle(order.begin(), order.end(), random);
    for (const std::uint64_t i : order) receiver.done(i, 0, 5);
    Collected c(2);
    const double before_s = test::core_seconds();
    c.add(0, sender);
    for (std::size_t i = 0; i < receiver.events.size(); i += 500) {
      c.matcher.add(1, 0,
                    std::span(receiver.events).subspan(i, std::min<std::size_t>(500, receiver.events.size() - i)));
      c.matcher.end_round();
    }
    const MatchCounts counts = c.finish();
    const double seconds = test::core_seconds() - before_s;
    INFO("kind " << kind);
    CHECK(counts.matched == n);
    bool in_order = true;
    for (const Message& m : c.messages) in_order = in_order && m.send_site == m.recv_site;
    CHECK(in_order);
    CHECK(seconds < 120);  // 300,000 events; a quadratic method needs much longer
  }
}

TEST_CASE("memory does not grow with the number of channels ever used") {
  Collected c(2);
  std::size_t peak = 0;
  Stream sender, receiver;
  for (int round = 0; round < 300; ++round) {
    sender.events.clear();
    receiver.events.clear();
    for (int i = 0; i < 2000; ++i) {
      const int tag = round * 2000 + i;
      sender.send(1, tag);
      receiver.receive(0, tag);
    }
    c.add(0, sender).add(1, receiver);
    c.matcher.end_round();
    c.messages.clear();
    peak = std::max(peak, c.matcher.channels());
  }
  CHECK(peak < 200'000);  // of 600,000
  CHECK(c.matcher.entry_capacity() < 10'000);
  CHECK(c.finish().matched == 600'000);
}

TEST_CASE("an old receive that never completes does not make memory grow") {
  Collected c(2);
  Stream sender, receiver;
  receiver.post(any_source, 99).post(0, 98);
  for (int round = 0; round < 200; ++round) {
    for (int i = 0; i < 500; ++i) {
      sender.send(1, 1);
      receiver.post(any_source, 1);
      receiver.done(receiver.last, 0, 1);
    }
    c.add(0, sender).add(1, receiver);
    c.matcher.end_round();
    sender.events.clear();
    receiver.events.clear();
  }
  CHECK(c.matcher.entry_capacity() < 5'000);
  const MatchCounts counts = c.finish();
  CHECK(counts.matched == 100'000);
  CHECK(counts.unmatched_receives == 2);
}

TEST_CASE("events of ranks that do not exist and of unknown kinds are ignored") {
  Stream s;
  s.send(5, 0).other(static_cast<EventKind>(4711)).send(0, 0);
  Collected c(2);
  c.matcher.add(-1, 0, s.events);
  c.matcher.add(2, 0, s.events);
  const MatchCounts counts = c.add(0, s).finish();
  CHECK(counts.foreign == 1);
  CHECK(counts.unmatched_sends == 1);
}
