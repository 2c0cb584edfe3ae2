// Records that cannot be true: the channel becomes ambiguous from there on, the others are as ever.
#include <catch2/catch.hpp>

#include "analysis/match/matcher.hpp"
#include "tests/analysis/match/streams.hpp"

using namespace pclscope;
using test::Stream;
namespace flag = record::flag;

namespace {

// Three messages from rank 0 to rank 1 on channel 7, of which the second is broken, and one on channel 8 after them.
struct Pair {
  std::vector<Message> messages;
  Matcher matcher{2, [this](std::span<const Message> b) { messages.insert(messages.end(), b.begin(), b.end()); }};
  MatchCounts read(const Stream& sender, const Stream& receiver) {
    matcher.add(0, 0, sender.events);
    matcher.add(1, 0, receiver.events);
    matcher.end_round();
    matcher.finish();
    return matcher.counts();
  }
};

void expect_broken(const Pair& pair, const MatchCounts& counts) {
  CHECK(counts.contradictions == 1);
  CHECK(counts.ambiguous == 2);
  CHECK(counts.unmatched_sends == 0);
  CHECK(counts.unmatched_receives == 0);
  REQUIRE(pair.messages.size() == 2);
  CHECK(pair.messages[0].tag + pair.messages[1].tag == 15);
  REQUIRE(pair.matcher.contradiction());
  CHECK(pair.matcher.contradiction()->tag == 7);
  CHECK(pair.matcher.contradiction()->destination == 1);
}

}  // namespace

TEST_CASE("more bytes received than sent: the channel is ambiguous from there on") {
  Stream sender, receiver;
  sender.send(1, 7, 0, 100).send(1, 7, 0, 100).send(1, 7, 0, 100).send(1, 8, 0, 100);
  receiver.now = 1000;
  for (const std::uint64_t bytes : {50, 101, 100}) receiver.post(0, 7).done(receiver.last, 0, 7, bytes);
  receiver.post(0, 8).done(receiver.last, 0, 8, 100);
  Pair pair;
  expect_broken(pair, pair.read(sender, receiver));
}

TEST_CASE("a truncated message may be longer, one of unknown size anything") {
  Stream sender, receiver;
  sender.send(1, 7, 0, 100).send(1, 7, 0, 100);
  receiver.now = 1000;
  receiver.post(0, 7).done(receiver.last, 0, 7, 120);
  receiver.events.back().flags |= flag::failed | flag::truncated;
  receiver.post(0, 7).done(receiver.last, 0, 7, ~0ull);
  Pair pair;
  const MatchCounts counts = pair.read(sender, receiver);
  CHECK(counts.contradictions == 0);
  CHECK(counts.matched == 2);
}

TEST_CASE("received before it was sent, by more than clocks of one node differ") {
  Stream sender, receiver;
  sender.now = 50'000;
  sender.send(1, 7);
  sender.now = 100'000;
  sender.send(1, 7).send(1, 7).send(1, 8);
  receiver.now = 60'000;
  receiver.receive(0, 7).receive(0, 7).receive(0, 7).receive(0, 8);
  SECTION("by 40 us") {
    receiver.events.back().end = 100'500;  // that of the other channel is in order
    Pair pair;
    expect_broken(pair, pair.read(sender, receiver));
  }
  SECTION("by 10 us") {
    for (auto& e : receiver.events) e.end = 90'100;
    Pair pair;
    CHECK(pair.read(sender, receiver).contradictions == 0);
    CHECK(pair.messages.size() == 4);
  }
}
