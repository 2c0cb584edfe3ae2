#include "analysis/delay/calls_of_ranks.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdint>
#include <map>
#include <random>
#include <vector>

#include "interpose/record/event.hpp"
#include "tests/seed.hpp"

using namespace pclscope;

namespace {

constexpr std::int32_t ranks = 9;
constexpr std::uint32_t posted_at = 38, waits_at = 44;

// Received by a call [begin, end] of rank 0, and sent at `sent`; posted before.
Message received(std::int64_t begin, std::int64_t end, std::int64_t sent, std::int32_t source) {
  Message m;
  m.flags = record::flag::nonblocking;
  m.source = source;
  m.destination = 0;
  m.send_begin = m.send_end = sent;
  m.recv_post = begin - 1;
  m.recv_wait = begin;
  m.recv_end = end;
  m.recv_site = posted_at;
  return m;
}

// That call completed a send, too, whose receive was posted at `posted`.
CollectiveCall completed_send(std::int64_t begin, std::int64_t end, std::int64_t posted, std::int32_t receiver) {
  CollectiveCall c;
  c.shape = CollectiveShape::send;
  c.rank = 0;
  c.begin = begin;
  c.end = end;
  c.awaited = receiver;
  c.awaited_begin = posted;
  c.site = waits_at;
  return c;
}

std::vector<RankCall> completions(const CallsOfRanks& calls) {
  std::vector<RankCall> found;
  for (const RankCall& c : calls.ranks()[0].calls)
    if (c.kind == RankCall::Kind::completion) found.push_back(c);
  return found;
}

}  // namespace

TEST_CASE("Parts of a call, told in any rounds and order, are one call with its longest wait") {
  const std::uint64_t seed = test::random_seed();
  CAPTURE(seed);
  std::mt19937_64 random(seed);
  for (int program = 0; program < 300; ++program) {
    constexpr int count = 12, rounds = 3;
    CallsOfRanks calls(ranks);
    std::map<std::int64_t, std::int64_t> longest;  // by begin
    std::vector<std::vector<Message>> messages(rounds);
    std::vector<std::vector<CollectiveCall>> sends(rounds);
    for (int i = 0; i < count; ++i) {
      const std::int64_t begin = 1'000'000 * (i + 1), end = begin + 500'000;
      const auto parts = 1 + static_cast<int>(random() % 4);
      for (int part = 0; part < parts; ++part) {
        const std::int64_t until = begin - 100'000 + static_cast<std::int64_t>(random() % 500'000);
        const std::size_t round = random() % rounds;
        if (random() % 2) messages[round].push_back(received(begin, end, until, 1 + part));
        else sends[round].push_back(completed_send(begin, end, until, 5 + part));
        const auto at = longest.emplace(begin, 0).first;
        at->second = std::max(at->second, until - begin);
      }
    }
    std::vector<CallsOfRanks::Wait> waits;
    for (std::size_t round = 0; round < rounds; ++round) {
      std::shuffle(messages[round].begin(), messages[round].end(), random);
      std::shuffle(sends[round].begin(), sends[round].end(), random);
      const bool sends_first = random() % 2;
      if (sends_first)
        for (const CollectiveCall& c : sends[round]) REQUIRE(calls.add(c));
      for (const Message& m : messages[round]) REQUIRE(calls.add(m));
      if (!sends_first)
        for (const CollectiveCall& c : sends[round]) REQUIRE(calls.add(c));
      calls.settle(1, &waits);
    }
    const std::vector<RankCall> found = completions(calls);
    REQUIRE(found.size() == longest.size());
    for (const RankCall& c : found) CHECK(c.wait() == longest.at(c.begin));
    std::map<std::int64_t, int> good;  // of the waits that were told
    for (const CallsOfRanks::Wait& wait : waits)
      if (const RankCall* call = calls.find(wait)) good[call->begin] += 1;
    for (const auto& [begin, wait] : longest) CHECK(good[begin] == (wait > 0));
  }
}

TEST_CASE("A wait that was followed is not told again by a part that comes later") {
  for (const std::int64_t later : {200, 400}) {  // shorter, longer
    CallsOfRanks calls(ranks);
    std::vector<CallsOfRanks::Wait> waits;
    calls.add(received(1'000, 2'000, 1'300, 1));
    calls.settle(1, &waits);
    REQUIRE(waits.size() == 1);
    calls.find(waits[0])->followed = true;
    calls.add(completed_send(1'000, 2'000, 1'000 + later, 2));
    calls.settle(1, &waits);
    CHECK(waits.size() == 1);
    REQUIRE(calls.find(waits[0]) != nullptr);
    CHECK(completions(calls).size() == 1);
  }
}

TEST_CASE("A call is at the place where it posted a receive, whichever part of it was the longest") {
  for (const std::int64_t posted : {1'200, 1'400}) {
    CallsOfRanks calls(ranks);
    calls.add(completed_send(1'000, 2'000, posted, 2));
    calls.add(received(1'000, 2'000, 1'300, 1));
    calls.settle(1, nullptr);
    REQUIRE(completions(calls).size() == 1);
    CHECK(completions(calls)[0].site == posted_at);
    CHECK(completions(calls)[0].wait_end == std::max<std::int64_t>(1'300, posted));
  }
}
