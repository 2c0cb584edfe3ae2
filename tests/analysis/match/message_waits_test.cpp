#include "analysis/match/message_waits.hpp"

#include <catch2/catch.hpp>
#include <vector>

#include "interpose/record/functions.hpp"

using namespace pclscope;
using record::Event;
using record::EventKind;
using F = record::Function;

namespace {

struct Waits {
  std::vector<CollectiveCall> got;
  MessageWaits waits{4, [this](const CollectiveCall& call, const MessageWaits::Awaited&) { got.push_back(call); }};
};

Message message(std::int32_t source, std::int32_t destination, std::int64_t sent, std::int64_t posted,
                std::uint64_t bytes = 1 << 20) {
  Message m;
  m.source = source;
  m.destination = destination;
  m.flags = record::flag::nonblocking;
  m.bytes = bytes;
  m.send_begin = sent;
  m.send_end = sent + 1;
  m.recv_post = m.recv_wait = posted;
  m.recv_end = std::max(sent, posted) + 50;
  return m;
}

Event send_done(std::uint64_t begin, std::uint64_t end, std::uint64_t number, std::int32_t peer) {
  Event e{};
  e.kind = EventKind::send_done;
  e.function = static_cast<std::uint16_t>(F::Waitall);
  e.begin = begin;
  e.end = end;
  e.ordinal = number;
  e.peer = peer;
  return e;
}

}  // namespace

TEST_CASE("a call that completed a send waited for its receive, whichever is known first") {
  for (const bool message_first : {true, false}) {
    Waits w;
    const auto told = [&] { w.waits.completed(0, send_done(100, 900, 7, 1), {}, false); };
    if (!message_first) told();
    w.waits.matched(message(0, 1, 50, 700), 7);
    w.waits.matched(message(0, 1, 60, 800), 8);  // another one, which another call completes
    if (message_first) told();
    REQUIRE(w.got.size() == 1);
    CHECK(w.got[0].rank == 0);
    CHECK(w.got[0].awaited == 1);
    CHECK(w.got[0].shape == CollectiveShape::send);
    CHECK(w.got[0].wait() == 600);
  }
}

TEST_CASE("the newest 512 messages of each sender are remembered, whatever others send") {
  Waits w;
  for (std::uint64_t number = 0; number < 2000; ++number)
    for (const int source : {0, 2}) w.waits.matched(message(source, 1, 50, 200 + static_cast<int>(number)), number);
  w.waits.matched(message(3, 1, 50, 500), 1);
  for (int more = 0; more < 20'000; ++more)
    w.waits.matched(message(2, 1, 50, 300), 2000 + static_cast<std::uint64_t>(more));
  for (std::uint64_t number = 2000 - 512; number < 2000; ++number)
    w.waits.completed(0, send_done(100, 9000, number, 1), {}, false);
  REQUIRE(w.got.size() == 512);
  for (std::size_t i = 0; i < w.got.size(); ++i) {
    CHECK(w.got[i].rank == 0);
    CHECK(w.got[i].awaited_begin == 200 + 2000 - 512 + static_cast<std::int64_t>(i));
  }
  w.waits.completed(3, send_done(100, 9000, 1, 1), {}, false);
  REQUIRE(w.got.size() == 513);
  CHECK(w.got.back().awaited_begin == 500);
  w.waits.completed(0, send_done(100, 9000, 2000 - 513, 1), {}, false);  // forgotten: it waits for its message
  CHECK(w.got.size() == 513);
}

TEST_CASE("of too many calls that wait for their messages the oldest are forgotten, not all") {
  constexpr std::uint64_t most = 1 << 16, more = 1'000;
  Waits w;
  for (std::uint64_t number = 1; number <= most + more; ++number)
    w.waits.completed(0, send_done(100, 900, number, 1), {}, false);
  CHECK(w.waits.forgotten() == more);
  for (const std::uint64_t number : {more, more + 1, most, most + more})
    w.waits.matched(message(0, 1, 50, 700), number);
  CHECK(w.got.size() == 3);
}

TEST_CASE("no wait for receives that were there, came after the call, or of sends that no MPI holds") {
  Waits w;
  w.waits.matched(message(0, 1, 50, 90), 1);        // posted before the call
  w.waits.matched(message(0, 1, 50, 950), 2);       // after it
  w.waits.matched(message(0, 1, 50, 700, 256), 3);  // sent at once by every MPI
  for (const std::uint64_t number : {1, 2, 3}) w.waits.completed(0, send_done(100, 900, number, 1), {}, false);
  CHECK(w.got.empty());
  w.waits.matched(message(0, 1, 50, 700, 257), 4);  // copied, but Open MPI completes it when its receiver comes
  w.waits.completed(0, send_done(100, 900, 4, 1), {}, false);
  CHECK(w.got.size() == 1);
}

TEST_CASE("a probe waited for the message that the next receive took") {
  const auto event = [](EventKind kind, F function, std::uint64_t begin, std::uint64_t end, std::uint32_t flags = 0) {
    Event e{};
    e.kind = kind;
    e.function = static_cast<std::uint16_t>(function);
    e.begin = begin;
    e.end = end;
    e.comm = 1;
    e.peer = 2;
    e.tag = 5;
    e.flags = flags;
    return e;
  };
  Waits w;
  // MPI_Probe, then MPI_Recv; then MPI_Mprobe, which takes the message itself; then a receive without a probe.
  const std::vector<Event> events = {event(EventKind::call, F::Probe, 100, 500),
                                     event(EventKind::recv_done, F::Recv, 510, 520),
                                     event(EventKind::recv_post, F::Mprobe, 600, 900, record::flag::matched_probe),
                                     event(EventKind::recv_done, F::Mrecv, 910, 920, record::flag::posted),
                                     event(EventKind::recv_done, F::Recv, 1000, 1100)};
  w.waits.add(3, 0, events, {});
  w.waits.matched(message(2, 3, 450, 510), 0);
  w.waits.matched(message(2, 3, 880, 600), 1);
  w.waits.matched(message(2, 3, 1050, 1000), 2);
  REQUIRE(w.got.size() == 2);
  CHECK(w.got[0].rank == 3);
  CHECK(w.got[0].awaited == 2);
  CHECK(w.got[0].shape == CollectiveShape::probe);
  CHECK(w.got[0].wait() == 350);
  CHECK(w.got[1].wait() == 280);
}
