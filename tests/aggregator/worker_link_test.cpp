// The worker's end of the link over a socket pair, the anchor's end played by hand.
#include "analysis/aggregator/worker_link.hpp"

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <random>

#include "tests/patience.hpp"

using namespace pclscope;
using namespace pclscope::aggregator;
using namespace std::chrono_literals;
using Kind = nodes::LinkEvent::Kind;

namespace {

struct Pair {
  Pair() { REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) == 0); }
  ~Pair() {
    for (const int fd : ends)
      if (fd >= 0) ::close(fd);
  }
  void hang_up() {
    ::close(ends[0]);
    ends[0] = -1;
  }
  int ends[2];
};

std::vector<std::byte> some_bytes(std::size_t size, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<std::byte> bytes(size);
  for (std::byte& byte : bytes) byte = static_cast<std::byte>(random());
  return bytes;
}

bool readable(int fd) {
  pollfd channel{fd, POLLIN, 0};
  return ::poll(&channel, 1, 0) == 1;
}

}  // namespace

TEST_CASE("Frames of all sizes come whole and in order, whatever the socket cuts them into") {
  Pair pair;
  FrameSocket from(pair.ends[0]), to(pair.ends[1]);
  std::mt19937_64 random(5);
  const std::size_t edges[] = {0,      1,      11,     12,     13,     4095,    16'383,
                               16'384, 16'385, 65'524, 65'536, 65'537, 200'000, 3'000'000};
  std::vector<std::size_t> sizes(std::begin(edges), std::end(edges));
  for (int i = 0; i < 3'000; ++i) sizes.push_back(random() % (i % 100 == 0 ? 300'000 : 200));
  std::size_t queued = 0, got = 0;
  Frame frame;
  while (got < sizes.size()) {
    for (int i = 0; i < 20 && queued < sizes.size(); ++i, ++queued)
      from.queue(FrameKind::message, static_cast<int>(queued), some_bytes(sizes[queued], queued));
    from.flush();
    for (std::uint64_t most = random() % 40; most > 0 && to.next(frame); --most, ++got) {
      REQUIRE(frame.kind == FrameKind::message);
      REQUIRE(frame.node == static_cast<int>(got));
      REQUIRE(frame.bytes == some_bytes(sizes[got], got));
    }
  }
  CHECK(from.unsent() == 0);
  CHECK_FALSE(to.next(frame));
  CHECK_FALSE(to.closed());
}

TEST_CASE("Frames sent before the end of file are read, then the socket is closed") {
  Pair pair;
  {
    FrameSocket from(pair.ends[0]);
    from.queue(FrameKind::finished);
    from.flush();
  }
  pair.hang_up();
  FrameSocket to(pair.ends[1]);
  Frame frame;
  REQUIRE(to.next(frame));
  CHECK(frame.kind == FrameKind::finished);
  CHECK_FALSE(to.closed());
  CHECK_FALSE(to.next(frame));
  CHECK(to.closed());
  to.queue(FrameKind::done);
  CHECK_FALSE(to.flush());
  CHECK(to.unsent() == 0);
}

TEST_CASE("A peer that died amid a frame: nothing of it is delivered") {
  Pair pair;
  const FrameHeader header{100, FrameKind::message, 0, 3};
  REQUIRE(::send(pair.ends[0], &header, sizeof header, 0) == sizeof header);
  REQUIRE(::send(pair.ends[0], "abc", 3, 0) == 3);
  pair.hang_up();
  FrameSocket to(pair.ends[1]);
  Frame frame;
  CHECK_FALSE(to.next(frame));
  CHECK(to.closed());
}

TEST_CASE("Alone: epochs end at once, and the anchor's words come") {
  Pair pair;
  WorkerLink link(pair.ends[1], 1);
  CHECK(link.await_hello(0ms));
  CHECK(link.self() == 0);
  link.send(0, some_bytes(10, 1));
  link.end_epoch({7, 1});
  nodes::LinkEvent event;
  REQUIRE(link.next(event));
  CHECK(event.kind == Kind::message);
  CHECK(event.bytes == some_bytes(10, 1));
  REQUIRE(link.next(event));
  CHECK(event.kind == Kind::epoch);
  CHECK(event.word == nodes::EpochWord{7, 1});
  CHECK_FALSE(link.next(event));
  CHECK(link.traffic().messages == 0);
  CHECK(link.word() == Word::none);
  FrameSocket anchor(pair.ends[0]);
  anchor.queue(FrameKind::finished);
  anchor.flush();
  CHECK(readable(link.descriptor()));
  CHECK(link.word() == Word::finished);
}

TEST_CASE("Without an anchor, on one node: epochs go on, no word ever comes") {
  WorkerLink link(-1, 1);
  CHECK(link.descriptor() == -1);
  for (int i = 0; i < 3; ++i) {
    link.end_epoch({i, 1});
    nodes::LinkEvent event;
    REQUIRE(link.next(event));
    CHECK(event.word.read_until_ns == i);
  }
  CHECK(link.word() == Word::none);
  link.done();
  CHECK_FALSE(link.closed());
}

TEST_CASE("The anchor's end is the word `stopped`, and closes the link") {
  for (const int nodes : {1, 3}) {
    Pair pair;
    WorkerLink link(pair.ends[1], nodes);
    pair.hang_up();
    CHECK(link.word() == Word::stopped);
    nodes::LinkEvent event;
    CHECK(link.next(event) == (nodes > 1));
    if (nodes > 1) CHECK(event.kind == Kind::closed);
    CHECK(link.closed() == (nodes > 1));
    CHECK_FALSE(link.next(event));
    CHECK_FALSE(readable(link.descriptor()));  // else a worker that waits on it would spin
    link.send(0, {});
    link.end_epoch({});
    link.done();
  }
}

TEST_CASE("With several nodes: hello first, then messages, deaths, clocks and epochs in the anchor's order") {
  Pair pair;
  FrameSocket anchor(pair.ends[0]);
  WorkerLink link(pair.ends[1], 3);
  CHECK_FALSE(link.await_hello(1ms));
  CHECK(link.self() == -1);
  anchor.queue_value(FrameKind::hello, HelloFrame{2, 3, 1234});
  anchor.flush();
  REQUIRE(link.await_hello(test::patience));
  CHECK(link.self() == 2);
  CHECK(link.origin_ticks() == 1234);
  link.end_epoch({5, 1});
  link.send(2, some_bytes(3, 3));  // to itself, of the next epoch
  anchor.queue(FrameKind::message, 1, some_bytes(1'000, 9));
  anchor.queue(FrameKind::died, 0);
  anchor.queue_value(FrameKind::clock_news, nodes::ClockUpdate{1, 2.5, 3e-6, 4});
  anchor.queue_value(FrameKind::epoch, nodes::EpochWord{4, 2});
  anchor.flush();
  nodes::LinkEvent event;
  REQUIRE(link.next(event));
  CHECK(event.kind == Kind::message);
  CHECK(event.node == 1);
  CHECK(event.bytes == some_bytes(1'000, 9));
  REQUIRE(link.next(event));
  CHECK(event.kind == Kind::died);
  CHECK(event.node == 0);
  REQUIRE(link.next(event));
  CHECK(event.clock == nodes::ClockUpdate{1, 2.5, 3e-6, 4});
  REQUIRE(link.next(event));
  CHECK(event.word == nodes::EpochWord{4, 2});
  REQUIRE(link.next(event));
  CHECK(event.node == 2);
  CHECK(event.bytes == some_bytes(3, 3));
  CHECK_FALSE(link.next(event));
}

TEST_CASE("An anchor that does not read never blocks the worker; all comes through later") {
  Pair pair;
  WorkerLink link(pair.ends[1], 2);
  for (int i = 0; i < 200; ++i) link.send(1, some_bytes(100'000, static_cast<std::uint64_t>(i)));
  link.end_epoch({1, 1});
  link.tell_clock(record::ClockSource::tsc, {5, 0.25});
  FrameSocket anchor(pair.ends[0]);
  int messages = 0;
  bool ended = false, told = false;
  for (int turn = 0; turn < 100'000 && !told; ++turn) {
    Frame frame;
    nodes::LinkEvent event;
    CHECK_FALSE(link.next(event));  // this moves the bytes
    while (anchor.next(frame)) {
      if (frame.kind == FrameKind::message)
        REQUIRE(frame.bytes == some_bytes(100'000, static_cast<std::uint64_t>(messages++)));
      if (frame.kind == FrameKind::end_epoch) ended = messages == 200;
      if (frame.kind == FrameKind::clock) {
        told = true;
        CHECK(frame.as<ClockFrame>().origin_ticks == 5);
        CHECK(frame.as<ClockFrame>().ns_per_tick == 0.25);
      }
    }
  }
  CHECK(ended);
  CHECK(told);
  CHECK(link.traffic().bytes == 20'000'000);
}

TEST_CASE("A link that is lost ends no epoch any more, the words of the anchor still come") {
  Pair pair;
  FrameSocket anchor(pair.ends[0]);
  WorkerLink link(pair.ends[1], 2);
  anchor.queue(FrameKind::lost);
  anchor.queue(FrameKind::finished);
  anchor.flush();
  nodes::LinkEvent event;
  REQUIRE(link.next(event));
  CHECK(event.kind == Kind::closed);
  CHECK_FALSE(link.await_hello(1s));
  link.end_epoch({});
  CHECK_FALSE(link.next(event));
  CHECK(link.word() == Word::finished);
}
