#include "analysis/order/event_order.hpp"

#include <catch2/catch.hpp>
#include <map>

#include "random_trace.hpp"
#include "tests/thinned.hpp"

using namespace pclscope;
using namespace pclscope::order_test;

namespace {

// What `events` gets wrong: each event of the messages in order once, no receive before its send, positions of a
// process never falling.
bool is_order(const std::vector<Message>& messages, const LogicalOrder& order) {
  std::vector<char> left_out(messages.size()), seen(2 * messages.size());
  for (const std::uint32_t m : order.unordered) left_out[m] = 1;
  std::map<std::int32_t, Position> last;
  for (const EventOfMessage e : order.events) {
    const Message& m = messages[e.message()];
    const bool receive = e.side() == Side::receive;
    if (seen[e.number] || left_out[e.message()] || (receive && !seen[e.number - 1])) return false;
    seen[e.number] = 1;
    const Position at = receive ? receive_position(m) : send_position(m);
    const auto [it, first] = last.try_emplace(receive ? m.destination : m.source, at);
    if (!first && it->second > at) return false;
    it->second = at;
  }
  return order.events.size() == 2 * (messages.size() - order.unordered.size());
}

}  // namespace

TEST_CASE("an order of all events always exists when the data are sound, however clocks are skewed") {
  for (std::uint64_t seed = 1; seed <= test::thinned(2000u); ++seed) {
    INFO("seed " << seed);
    std::mt19937_64 random(seed);
    const int ranks = 1 + static_cast<int>(random() % 64);
    const Trace trace = random_trace(
        {ranks, 10 + static_cast<int>(random() % 300), static_cast<std::int64_t>(random() % 1'000'000), true}, random);
    const LogicalOrder order = logical_order(trace.messages);
    REQUIRE(order.unordered.empty());
    REQUIRE(is_order(trace.messages, order));
  }
}

TEST_CASE("the order does not depend on the order of the input") {
  std::mt19937_64 random(5);
  for (int round = 0; round < 300; ++round) {
    std::vector<Message> messages =
        round % 2 ? garbage(100, 6, random) : random_trace({6, 100, 500, true}, random).messages;
    for (std::size_t i = 0; i < messages.size(); ++i) messages[i].tag = static_cast<int>(i);
    const auto sequence = [&] {
      std::vector<std::pair<std::int32_t, int>> tags;
      const LogicalOrder order = logical_order(messages);
      for (const EventOfMessage e : order.events) tags.push_back({messages[e.message()].tag, e.number & 1});
      return tags;
    };
    const auto first = sequence();
    std::shuffle(messages.begin(), messages.end(), random);
    REQUIRE(sequence() == first);
  }
}

TEST_CASE("cycles of damaged data are broken, with as few messages as it takes where they are simple") {
  const auto message = [](int source, int destination, std::int64_t begin, std::int64_t end) {
    Message m;
    m.source = source;
    m.destination = destination;
    m.send_begin = begin;
    m.recv_end = end;
    return m;
  };
  // Two crossing messages that arrive before they are sent; what depends on them stays.
  const std::vector<Message> two = {message(0, 1, 20, 10), message(1, 0, 21, 11), message(0, 2, 30, 1),
                                    message(2, 1, 5, 40)};
  CHECK(logical_order(two).unordered == std::vector<std::uint32_t>{0});
  CHECK(is_order(two, logical_order(two)));
  // To itself, backwards; and at the same time.
  const std::vector<Message> self = {message(3, 3, 7, 6), message(3, 3, 8, 8)};
  CHECK(logical_order(self).unordered == std::vector<std::uint32_t>{0});
  for (std::uint64_t seed = 1; seed <= test::thinned(500u); ++seed) {
    INFO("seed " << seed);
    std::mt19937_64 random(seed);
    const std::vector<Message> messages = garbage(random() % 300, 1 + static_cast<int>(random() % 12), random);
    REQUIRE(is_order(messages, logical_order(messages)));
  }
}

TEST_CASE("very many cycles are no more work than their messages") {
  std::vector<Message> messages(test::thinned<std::size_t>(200'000));
  std::mt19937_64 random(1);
  const bool one_call = GENERATE(true, false);
  for (std::size_t i = 0; i < messages.size(); ++i) {
    messages[i].source = static_cast<std::int32_t>(random() % 5000);
    messages[i].destination = one_call ? 1 : static_cast<std::int32_t>(random() % 5000);
    messages[i].recv_end = one_call ? 0 : static_cast<std::int64_t>(random() % 1000);
    messages[i].send_begin = 1000 + static_cast<std::int64_t>(random() % 1000);
    if (one_call) messages[i].source = i % 2 ? 1 : 2;
  }
  CHECK(is_order(messages, logical_order(messages)));
}
