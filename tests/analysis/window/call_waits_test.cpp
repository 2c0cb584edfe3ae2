// Blocked time of calls against a reference that looks at every nanosecond of every call of random programs.
#include "analysis/window/call_waits.hpp"

#include <catch2/catch.hpp>
#include <map>
#include <random>
#include <utility>
#include <vector>

using namespace pclscope;
namespace flag = record::flag;

namespace {

using Random = std::mt19937_64;

int below(Random& random, int n) { return std::uniform_int_distribution<>(0, n - 1)(random); }

struct Call {
  enum class Kind { receive, send, isend, completion, sendrecv } kind;
  int rank = 0;
  std::int64_t begin = 0, end = 0;
  std::vector<std::size_t> receives, sends;  // of messages
};

// Threads with calls one after the other; messages between them whose receives end after their sends began, except for
// some whose clocks were wrong. A call may have messages or none.
struct Program {
  std::vector<Call> calls;
  std::vector<Message> messages;
};

Program random_program(Random& random, int ranks, int threads) {
  Program p;
  for (int rank = 0; rank < ranks; ++rank)
    for (int thread = 0; thread < threads; ++thread) {
      // Threads' calls begin at different moments: a call is known by its rank and interval.
      std::int64_t now = 1 + thread;
      for (int i = 0; i < 12; ++i) {
        now += threads * (1 + below(random, 30));
        const std::int64_t end = now + (below(random, 8) == 0 ? 0 : threads * (1 + below(random, 40)));
        p.calls.push_back({static_cast<Call::Kind>(below(random, 5)), rank, now, end, {}, {}});
        now = end;
      }
    }
  std::vector<std::size_t> senders, receivers;
  for (std::size_t i = 0; i < p.calls.size(); ++i) {
    const Call::Kind kind = p.calls[i].kind;
    const int room = kind == Call::Kind::completion ? 1 + below(random, 4) : 1;
    const bool sends = kind == Call::Kind::send || kind == Call::Kind::isend || kind == Call::Kind::sendrecv;
    const bool receives = kind == Call::Kind::receive || kind == Call::Kind::completion || kind == Call::Kind::sendrecv;
    if (sends) senders.push_back(i);
    for (int k = 0; receives && k < room; ++k) receivers.push_back(i);
  }
  std::shuffle(senders.begin(), senders.end(), random);
  std::shuffle(receivers.begin(), receivers.end(), random);
  for (std::size_t i = 0; i < std::min(senders.size(), receivers.size()); ++i) {
    Call &s = p.calls[senders[i]], &r = p.calls[receivers[i]];
    Message m;
    m.source = s.rank;
    m.destination = r.rank;
    m.send_begin = s.begin;
    m.send_end = s.end;
    m.recv_wait = r.begin;
    m.recv_end = r.end;
    m.recv_post = r.kind == Call::Kind::completion ? r.begin - 1 - below(random, 60) : r.begin;
    if (s.kind == Call::Kind::isend) m.flags |= below(random, 2) ? flag::nonblocking : flag::persistent;
    if (s.kind == Call::Kind::send && below(random, 8) == 0) m.flags |= flag::buffered;
    if (s.kind == Call::Kind::sendrecv) m.flags |= message_flag::sendrecv_send;
    if (r.kind == Call::Kind::sendrecv) m.flags |= message_flag::sendrecv_receive;
    if (m.time() < 0) {
      if (below(random, 2)) continue;  // never matched
      m.flags |= message_flag::clock_violation;
    } else if (below(random, 30) == 0) {
      m.flags |= message_flag::unseen_completion;
    }
    if (s.kind == Call::Kind::sendrecv && s.rank != r.rank && below(random, 10) == 0)
      m.flags |= message_flag::inter_node;
    m.send_site = s.kind == Call::Kind::send ? 1 : 2;
    m.recv_site = 3;
    s.sends.push_back(p.messages.size());
    r.receives.push_back(p.messages.size());
    p.messages.push_back(m);
  }
  for (const Call& c : p.calls)
    if (c.kind == Call::Kind::completion && c.receives.size() == 1 && below(random, 2))
      p.messages[c.receives[0]].flags |= message_flag::received_alone;
  return p;
}

// `window` 0: one for all.
std::int64_t window_of(std::int64_t time, std::int64_t window) { return window == 0 ? 0 : time / window; }

// Nanosecond by nanosecond, by rank.
std::map<int, BlockedTime> reference(const Program& p, std::int64_t window) {
  std::map<int, BlockedTime> sums;
  for (const Call& c : p.calls) {
    bool receives = false, sends = false;
    std::int64_t sent = 0, posted = 0;
    for (const std::size_t i : c.receives) {
      const Message& m = p.messages[i];
      if (m.flags & message_flag::no_latency) continue;
      sent = receives ? std::max(sent, m.send_begin) : m.send_begin;
      receives = true;
    }
    for (const std::size_t i : c.sends) {
      const Message& m = p.messages[i];
      if (m.flags & message_flag::no_latency || !blocks_sender(m.flags)) continue;
      const bool sendrecv = c.kind == Call::Kind::sendrecv;
      if (sendrecv && m.flags & message_flag::inter_node) continue;
      // A Sendrecv whose message was received in a later window than it returned is judged without it.
      if (sendrecv && window_of(m.recv_end, window) > window_of(c.end, window)) continue;
      sends = true;
      posted = m.recv_post;
    }
    for (std::int64_t t = c.begin; t < c.end; ++t) {
      BlockedTime& sum = sums[c.rank];
      if (receives && t < sent) ++sum.late_sender;
      else if (sends && t < posted) ++sum.late_receiver;
      else if (receives) ++sum.transfer_receiver;
      else if (sends) ++sum.transfer_sender;
    }
  }
  return sums;
}

void charge(std::map<int, BlockedTime>& sums, int source, int destination, const BlockedTime& b) {
  sums[destination] += {b.late_sender, 0, b.transfer_receiver, 0};
  sums[source] += {0, b.late_receiver, 0, b.transfer_sender};
}

std::map<int, BlockedTime> measured(const Program& p, std::int64_t window, Random& random) {
  std::map<std::int64_t, std::vector<Message>> windows;
  for (const Message& m : p.messages) windows[window_of(m.recv_end, window)].push_back(m);
  CallWaits waits;
  std::map<int, BlockedTime> sums;
  const auto sink = [&](const CallWaits::Of& of, const BlockedTime& b) { charge(sums, of.source, of.destination, b); };
  const std::int64_t last = windows.empty() ? -1 : windows.rbegin()->first;
  for (std::int64_t number = 0; number <= last; ++number) {
    std::vector<Message>& messages = windows[number];
    std::shuffle(messages.begin(), messages.end(), random);
    for (const Message& m : messages) charge(sums, m.source, m.destination, waits.add(m));
    if (window != 0) waits.close((number + 1) * window, sink);
  }
  waits.close(INT64_MAX, sink);
  REQUIRE(waits.open() == 0);
  return sums;
}

// Ranks without blocked time are not in the reference.
bool same(const std::map<int, BlockedTime>& a, const std::map<int, BlockedTime>& b) {
  for (const auto& [rank, sum] : a)
    if (!(sum == (b.contains(rank) ? b.at(rank) : BlockedTime{}))) return false;
  return true;
}

}  // namespace

TEST_CASE("each nanosecond of a call is blocked once, for the message that it waited for last") {
  Random random(1);
  BlockedTime all;
  for (int round = 0; round < 400; ++round) {
    const Program p = random_program(random, 1 + below(random, 4), 1 + below(random, 3));
    for (const std::int64_t window : {std::int64_t{0}, std::int64_t{100}, std::int64_t{17}}) {
      const auto expected = reference(p, window), found = measured(p, window, random);
      CAPTURE(round, window);
      REQUIRE(same(expected, found));
      REQUIRE(same(found, expected));
      for (const auto& [rank, sum] : found) all += sum;
    }
    // Never more than the time inside the calls.
    std::map<int, std::int64_t> inside;
    for (const Call& c : p.calls) inside[c.rank] += c.end - c.begin;
    for (const auto& [rank, sum] : measured(p, 0, random)) REQUIRE(sum.sum() <= inside[rank]);
  }
  CHECK(std::min({all.late_sender, all.late_receiver, all.transfer_receiver, all.transfer_sender}) > 1000);
}

TEST_CASE("a call that completes many receives of one late sender counts once") {
  CallWaits waits;
  BlockedTime sum;
  const auto sink = [&](const CallWaits::Of&, const BlockedTime& b) { sum += b; };
  for (int i = 0; i < 26; ++i) {
    Message m;
    m.flags = flag::nonblocking;
    m.source = 0;
    m.destination = 1;
    m.send_begin = 5000 + i;
    m.send_end = 5001 + i;
    m.recv_post = 10 + i;
    m.recv_wait = 100;
    m.recv_end = 6000;
    sum += waits.add(m);
  }
  waits.close(INT64_MAX, sink);
  CHECK(sum == BlockedTime{4925, 0, 975, 0});
}

TEST_CASE("what comes for a call that was closed adds nothing") {
  Random random(2);
  for (int round = 0; round < 100; ++round) {
    const Program p = random_program(random, 3, 2);
    CallWaits waits;
    std::map<int, BlockedTime> sums;
    const auto sink = [&](const CallWaits::Of& of, const BlockedTime& b) {
      charge(sums, of.source, of.destination, b);
    };
    // In any order at all, with calls closed at any time.
    std::vector<Message> messages = p.messages;
    std::shuffle(messages.begin(), messages.end(), random);
    for (const Message& m : messages) {
      charge(sums, m.source, m.destination, waits.add(m));
      if (below(random, 5) == 0) waits.close(below(random, 800), sink);
    }
    waits.close(INT64_MAX, sink);
    std::map<int, std::int64_t> inside;
    for (const Call& c : p.calls) inside[c.rank] += c.end - c.begin;
    for (const auto& [rank, sum] : sums) REQUIRE(sum.sum() <= inside[rank]);
  }
}

TEST_CASE("a message's span is late receiver, exposed transfer and overlap") {
  Random random(3);
  for (int round = 0; round < 20'000; ++round) {
    Message m;
    m.flags = below(random, 2) ? 0 : flag::nonblocking;
    m.send_begin = below(random, 100);
    m.send_end = m.send_begin + below(random, 60);
    m.recv_post = below(random, 100);
    m.recv_wait = m.recv_post + below(random, 60);
    m.recv_end = m.recv_wait + below(random, 60);
    if (m.time() < 0) m.flags |= message_flag::clock_violation;
    const BlockedSpan span = blocked_span(m);
    if (m.time() < 0) {
      REQUIRE(span.late_sender + span.late_receiver + span.transfer + span.overlapped == 0);
      continue;
    }
    BlockedSpan expected;
    for (std::int64_t t = m.recv_wait; t < m.recv_end; ++t) expected.late_sender += t < m.send_begin;
    for (std::int64_t t = m.send_begin; t < m.recv_end; ++t) {
      const bool sender = t < m.send_end && blocks_sender(m.flags), receiver = t >= m.recv_wait;
      if (sender && t < m.recv_post) ++expected.late_receiver;
      else if (sender || receiver) ++expected.transfer;
      else ++expected.overlapped;
    }
    CAPTURE(m.send_begin, m.send_end, m.recv_post, m.recv_wait, m.recv_end, m.flags);
    REQUIRE(span.late_sender == expected.late_sender);
    REQUIRE(span.late_receiver == expected.late_receiver);
    REQUIRE(span.transfer == expected.transfer);
    REQUIRE(span.overlapped == expected.overlapped);
  }
}
