// RegionClocks against a brute-force closure. PCLSCOPE_ORDER_SEED=S starts with another seed than 1.
#include "analysis/order/clocks.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdlib>
#include <numeric>

#include "random_trace.hpp"
#include "tests/thinned.hpp"

using namespace pclscope;
using namespace pclscope::order_test;

namespace {

std::uint64_t first_seed() {
  const char* text = std::getenv("PCLSCOPE_ORDER_SEED");
  return text ? std::strtoull(text, nullptr, 10) : 1;
}

std::vector<std::int32_t> all_ranks(int count) {
  std::vector<std::int32_t> ranks(count);
  std::iota(ranks.begin(), ranks.end(), 0);
  return ranks;
}

struct Sample {
  RegionClocks::Event event;
  int call;
};

// Events of known messages that are not forgotten.
std::vector<Sample> samples(const RegionClocks& clocks, const Trace& trace, const std::vector<char>& known) {
  std::vector<Sample> found;
  for (std::size_t m = 0; m < known.size(); ++m) {
    if (!known[m]) continue;
    if (const auto e = clocks.event(trace.messages[m], Side::send)) found.push_back({*e, trace.sent_by[m]});
    if (const auto e = clocks.event(trace.messages[m], Side::receive)) found.push_back({*e, trace.received_by[m]});
  }
  return found;
}

// Number of wrong answers among `most` random pairs (all pairs when there are fewer) of events from `from_ns` on.
int wrong_answers(const RegionClocks& clocks, const Trace& trace, const std::vector<char>& known, std::size_t most,
                  std::mt19937_64& random, std::int64_t from_ns = INT64_MIN) {
  const Closure closure(trace, known);
  std::vector<Sample> events = samples(clocks, trace, known);
  std::erase_if(events,
                [&](const Sample& s) { return from_ns != INT64_MIN && s.event.position < position_of(from_ns); });
  int wrong = 0;
  const auto check = [&](const Sample& a, const Sample& b) {
    wrong += clocks.happened_before(a.event, b.event) != closure.before(a.call, b.call);
    wrong +=
        clocks.concurrent(a.event, b.event) != (!closure.before(a.call, b.call) && !closure.before(b.call, a.call));
  };
  if (events.size() * events.size() <= most) {
    for (const Sample& a : events)
      for (const Sample& b : events) check(a, b);
  } else {
    for (std::size_t i = 0; i < most; ++i) check(events[random() % events.size()], events[random() % events.size()]);
  }
  return wrong;
}

// Messages by windows of their receive; some come up to `lateness` windows late.
std::vector<std::vector<int>> windows_of(const Trace& trace, int count, int lateness, std::mt19937_64& random) {
  std::vector<std::vector<int>> windows(count + lateness + 1);
  const double length = static_cast<double>(trace.end_ns) / count + 1;
  for (std::size_t m = 0; m < trace.messages.size(); ++m) {
    const auto begin = std::max<std::int64_t>(trace.messages[m].recv_end, 0);
    int window = std::min(count - 1, static_cast<int>(static_cast<double>(begin) / length));
    if (lateness > 0 && random() % 5 == 0) window += static_cast<int>(random() % (lateness + 1));
    windows[window].push_back(static_cast<int>(m));
  }
  for (auto& window : windows) std::shuffle(window.begin(), window.end(), random);
  return windows;
}

void add_window(RegionClocks& clocks, const Trace& trace, const std::vector<int>& window, std::vector<char>& known) {
  std::vector<Message> messages;
  for (const int m : window) {
    messages.push_back(trace.messages[m]);
    known[m] = 1;
  }
  clocks.add(messages);
}

// `least` ranks to 8, in every tenth trace up to 64.
Trace trace_of(std::uint64_t seed, int least, int few_steps, int more_steps, int skewed_one_in, std::int64_t skew_ns,
               std::mt19937_64& random) {
  const bool large = seed % 10 == 0;
  const auto below = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
  TraceShape shape;
  shape.ranks = least + below((large ? 64 : 8) + 1 - least);
  shape.steps = few_steps + below(more_steps * (large ? 10 : 1));
  shape.skew_ns = below(skewed_one_in) == 0 ? skew_ns : 0;
  return random_trace(shape, random);
}

Message message(int source, int destination, std::int64_t begin, std::int64_t end) {
  Message m;
  m.source = source;
  m.destination = destination;
  m.send_begin = m.send_end = begin;
  m.recv_post = m.recv_wait = m.recv_end = end;
  return m;
}

}  // namespace

TEST_CASE("clocks equal the closure of happened-before on random traces, whole") {
  for (std::uint64_t seed = first_seed(); seed < first_seed() + test::thinned(2000u); ++seed) {
    INFO("seed " << seed);
    std::mt19937_64 random(seed);
    const Trace trace = trace_of(seed, 1, 5, 60, 3, 100'000, random);
    RegionClocks clocks(all_ranks(trace.ranks));
    std::vector<char> known(trace.messages.size(), 1);
    std::vector<Message> shuffled = trace.messages;
    std::shuffle(shuffled.begin(), shuffled.end(), random);
    clocks.add(shuffled);
    REQUIRE(clocks.on_cycles() == 0);
    REQUIRE(samples(clocks, trace, known).size() == 2 * trace.messages.size());
    REQUIRE(wrong_answers(clocks, trace, known, 4000, random) == 0);
  }
}

TEST_CASE("clocks are right after every window, messages matched windows late among them, clocks of ranks skewed") {
  for (std::uint64_t seed = first_seed(); seed < first_seed() + test::thinned(1000u); ++seed) {
    INFO("seed " << seed);
    std::mt19937_64 random(seed);
    const Trace trace = trace_of(seed, 2, 10, 60, 2, 30'000, random);
    RegionClocks clocks(all_ranks(trace.ranks));
    std::vector<char> known(trace.messages.size());
    for (const auto& window : windows_of(trace, 8, 6, random)) {
      add_window(clocks, trace, window, known);
      REQUIRE(wrong_answers(clocks, trace, known, 1000, random) == 0);
    }
    REQUIRE((clocks.on_cycles() == 0 && clocks.too_late() == 0));
  }
}

TEST_CASE("clocks of what is retained are right when earlier windows are forgotten") {
  std::size_t compared = 0;
  for (std::uint64_t seed = first_seed(); seed < first_seed() + test::thinned(1000u); ++seed) {
    INFO("seed " << seed);
    std::mt19937_64 random(seed);
    TraceShape shape;
    shape.ranks = 2 + static_cast<int>(random() % (seed % 10 == 0 ? 63 : 7));
    shape.steps = 10 + static_cast<int>(random() % (seed % 10 == 0 ? 400 : 80));
    shape.skew_ns = random() % 2 == 0 ? 2'000 : 0;
    const Trace trace = random_trace(shape, random);
    RegionClocks clocks(all_ranks(shape.ranks));
    std::vector<char> known(trace.messages.size());
    std::int64_t window_end = 0;
    for (const auto& window : windows_of(trace, 10, 4, random)) {
      add_window(clocks, trace, window, known);
      window_end += trace.end_ns / 10 + 1;
      const std::int64_t from = window_end - 3 * trace.end_ns / 10;
      clocks.forget_before(from);
      REQUIRE(clocks.retained_from_ns() == from);
      compared += samples(clocks, trace, known).size();
      // Where clocks disagree, events that near the edge may miss what was forgotten already.
      REQUIRE(wrong_answers(clocks, trace, known, 1000, random, from + 2 * shape.skew_ns + trace.end_ns / 100) == 0);
    }
  }
  CHECK(compared > test::thinned<std::size_t>(100'000));
}

TEST_CASE("only messages with both ends in the region count") {
  std::mt19937_64 random(7);
  const Trace trace = random_trace({12, 400, 0, true}, random);
  const std::vector<std::int32_t> ranks = {9, 3, 4, 7, 3, -5};
  RegionClocks clocks(ranks);
  CHECK(clocks.ranks() == std::vector<std::int32_t>{3, 4, 7, 9});
  clocks.add(trace.messages);
  std::vector<char> known(trace.messages.size());
  std::uint64_t own = 0;
  for (std::size_t i = 0; i < known.size(); ++i) {
    const auto in = [&](int r) { return r == 3 || r == 4 || r == 7 || r == 9; };
    known[i] = in(trace.messages[i].source) && in(trace.messages[i].destination);
    own += known[i];
    CHECK(clocks.event(trace.messages[i], Side::send).has_value() == static_cast<bool>(known[i]));
  }
  CHECK(clocks.messages() == own);
  CHECK(wrong_answers(clocks, trace, known, 1'000'000, random) == 0);
}

TEST_CASE("dense clocks by hand") {
  // 0 sends to 1; 1 sends to 2 before and after it receives that; 2 completes both with one call and sends to 0.
  const Message a = message(0, 1, 10, 30), b = message(1, 2, 20, 60), c = message(1, 2, 40, 60),
                d = message(2, 0, 70, 90);
  RegionClocks clocks(all_ranks(3));
  clocks.add(std::vector{d, b});  // in two windows, the wrong way round
  clocks.add(std::vector{c, a});
  using Counts = std::vector<std::uint64_t>;
  CHECK(clocks.dense(*clocks.event(a, Side::send)) == Counts{1, 0, 0});
  CHECK(clocks.dense(*clocks.event(b, Side::send)) == Counts{0, 1, 0});
  CHECK(clocks.dense(*clocks.event(a, Side::receive)) == Counts{1, 2, 0});
  CHECK(clocks.dense(*clocks.event(c, Side::send)) == Counts{1, 3, 0});
  CHECK(clocks.dense(*clocks.event(b, Side::receive)) == Counts{1, 3, 2});
  CHECK(clocks.event(b, Side::receive) == clocks.event(c, Side::receive));
  CHECK(clocks.dense(*clocks.event(d, Side::send)) == Counts{1, 3, 3});
  CHECK(clocks.dense(*clocks.event(d, Side::receive)) == Counts{2, 3, 3});
  CHECK(clocks.concurrent(*clocks.event(a, Side::send), *clocks.event(b, Side::send)));
  CHECK(clocks.concurrent(*clocks.event(b, Side::receive), *clocks.event(c, Side::receive)));
  CHECK_FALSE(clocks.event(message(0, 1, 11, 30), Side::send));
  CHECK_FALSE(clocks.event(message(0, 1, 10, 31), Side::receive));
}

TEST_CASE("the three processes of PCLVis's Figure 7, as far as its text tells") {
  // a: process 3 sends msg1, V = (0, 0, 1); b: process 2 receives it, (0, 1, 1). V_c[2] = 3, V_c[3] = 2 (so c is
  // process 3's second event and knows three of process 2); V_d[2] = 4, V_d[3] = 1 (d is process 2's fourth). Here
  // rank = number - 1.
  const Message msg1 = message(2, 1, 10, 20), msg2 = message(1, 0, 30, 45), msg3 = message(1, 2, 40, 70),
                msg4 = message(0, 1, 50, 60);
  RegionClocks clocks(all_ranks(3));
  clocks.add(std::vector{msg3, msg1, msg4, msg2});
  const auto a = *clocks.event(msg1, Side::send), b = *clocks.event(msg1, Side::receive);
  const auto c = *clocks.event(msg3, Side::receive), d = *clocks.event(msg4, Side::receive);
  using Counts = std::vector<std::uint64_t>;
  CHECK(clocks.dense(a) == Counts{0, 0, 1});
  CHECK(clocks.dense(b) == Counts{0, 1, 1});
  CHECK(clocks.dense(c) == Counts{0, 3, 2});
  CHECK(clocks.dense(d) == Counts{2, 4, 1});
  CHECK(clocks.happened_before(a, b));
  CHECK_FALSE(clocks.happened_before(b, a));
  CHECK(clocks.concurrent(c, d));
}

TEST_CASE("dense clocks decide as the positions do, by the definition of the literature") {
  std::mt19937_64 random(11);
  for (int round = 0; round < 50; ++round) {
    const Trace trace = random_trace({6, 60, 1000, true}, random);
    RegionClocks clocks(all_ranks(6));
    clocks.add(trace.messages);
    const std::vector<Sample> events = samples(clocks, trace, std::vector<char>(trace.messages.size(), 1));
    std::vector<std::vector<std::uint64_t>> dense;
    for (const Sample& s : events) dense.push_back(clocks.dense(s.event));
    for (std::size_t a = 0; a < events.size(); ++a)
      for (std::size_t b = 0; b < events.size(); ++b) {
        bool less = dense[a] != dense[b];
        for (std::size_t i = 0; i < 6; ++i) less = less && dense[a][i] <= dense[b][i];
        REQUIRE(less == clocks.happened_before(events[a].event, events[b].event));
      }
  }
}

TEST_CASE("memory stays within its bound, and what is retained stays right") {
  std::mt19937_64 random(3);
  for (const int ranks : {2, 16, 64}) {
    const Trace trace = random_trace({ranks, 20'000, 0, true}, random);
    const std::size_t most = std::size_t{ranks == 64 ? 1024u : 256u} << 10;
    RegionClocks clocks(all_ranks(ranks), {most});
    REQUIRE(clocks.enabled());
    std::size_t largest = 0;
    for (std::size_t i = 0; i < trace.messages.size(); i += 500) {
      clocks.add(std::span(trace.messages).subspan(i, std::min<std::size_t>(500, trace.messages.size() - i)));
      largest = std::max(largest, clocks.bytes());
    }
    CHECK(largest <= most + (100 << 10));  // tables and one block of vectors
    CHECK(clocks.retained_from_ns() > 0);
    CHECK(clocks.too_late() == 0);
    // The newest events only, to keep the closure small: relations among them over messages since then.
    const std::int64_t from = clocks.retained_from_ns();
    std::size_t kept = 0, lost = 0;
    for (const Message& m : trace.messages) {
      const bool there = clocks.event(m, Side::receive).has_value();
      (m.recv_end >= from ? kept : lost) += 1;
      REQUIRE(there == (m.recv_end >= from));
    }
    CHECK(kept > 50);
    CHECK(lost > kept);
    Trace recent;  // from the call on that is the first of those retained
    const auto first = std::find_if(trace.messages.begin(), trace.messages.end(),
                                    [&](const Message& m) { return m.recv_end >= from; });
    RegionClocks fresh(all_ranks(ranks));
    fresh.add(std::span(trace.messages).subspan(first - trace.messages.begin()));
    for (int i = 0; i < 20'000; ++i) {
      const auto pick = [&]() -> const Message& {
        return trace.messages[first - trace.messages.begin() + random() % (trace.messages.end() - first)];
      };
      const Message &a = pick(), &b = pick();
      const auto ea = clocks.event(a, Side::receive), eb = clocks.event(b, Side::receive);
      REQUIRE((ea && eb));
      REQUIRE(clocks.happened_before(*ea, *eb) == fresh.happened_before(*ea, *eb));
    }
  }
}

TEST_CASE("regions too large for the memory are left alone; a region of one rank is not") {
  RegionClocks large(all_ranks(1000), {1 << 20});
  CHECK_FALSE(large.enabled());
  large.add(std::vector{message(0, 1, 1, 2)});
  large.forget_before(5);
  CHECK_FALSE(large.event(message(0, 1, 1, 2), Side::send));
  CHECK_FALSE(large.happened_before({0, 2}, {1, 5}));
  CHECK(large.bytes() < 10'000);
  RegionClocks none(std::vector<std::int32_t>{});
  none.add(std::vector{message(0, 0, 1, 2)});
  CHECK_FALSE(none.enabled());
  RegionClocks one(std::vector<std::int32_t>{5});
  one.add(std::vector{message(5, 5, 1, 2), message(5, 5, 3, 3)});
  CHECK(
      one.happened_before(*one.event(message(5, 5, 1, 2), Side::send), *one.event(message(5, 5, 3, 3), Side::receive)));
  CHECK(
      one.happened_before(*one.event(message(5, 5, 3, 3), Side::send), *one.event(message(5, 5, 3, 3), Side::receive)));
}

TEST_CASE("a message of which only the receive is forgotten leaves no trace") {
  RegionClocks clocks(all_ranks(5));
  clocks.add(std::vector{message(0, 1, 100, 50)});  // clocks that disagree
  clocks.forget_before(80);
  const Message other = message(2, 3, 110, 120), late = message(4, 0, 85, 90);
  clocks.add(std::vector{other});
  clocks.add(std::vector{late});
  CHECK(clocks.concurrent(*clocks.event(late, Side::send), *clocks.event(other, Side::receive)));
  CHECK_FALSE(clocks.event(message(0, 1, 100, 50), Side::send));
  clocks.add(std::vector{message(0, 1, 70, 79)});
  CHECK(clocks.too_late() == 1);
}

TEST_CASE("a cycle is counted, and the rest is still right") {
  // 0 and 1 each receive the other's message before they send theirs.
  const Message a = message(0, 1, 20, 10), b = message(1, 0, 20, 10), before = message(2, 3, 1, 2),
                after = message(2, 3, 5, 30);
  RegionClocks clocks(all_ranks(4));
  clocks.add(std::vector{a, b, before, after});
  CHECK(clocks.on_cycles() == 2);
  CHECK(clocks.happened_before(*clocks.event(before, Side::receive), *clocks.event(after, Side::receive)));
  CHECK(clocks.concurrent(*clocks.event(a, Side::send), *clocks.event(before, Side::send)));
}

TEST_CASE("damaged messages never break the clocks") {
  for (std::uint64_t seed = first_seed(); seed < first_seed() + test::thinned(300u); ++seed) {
    INFO("seed " << seed);
    std::mt19937_64 random(seed);
    const int ranks = 1 + static_cast<int>(random() % 9);
    RegionClocks clocks(all_ranks(ranks), {random() % 3 == 0 ? 20'000u : 1u << 20});
    std::vector<Message> all;
    for (int window = 0; window < 6; ++window) {
      const std::vector<Message> messages = garbage(random() % 80, ranks, random);
      clocks.add(messages);
      all.insert(all.end(), messages.begin(), messages.end());
      if (random() % 3 == 0) clocks.forget_before(static_cast<std::int64_t>(random() % 300) - 100);
      std::vector<RegionClocks::Event> events;
      for (const Message& m : all)
        for (const Side side : {Side::send, Side::receive})
          if (const auto e = clocks.event(m, side)) events.push_back(*e);
      std::uint64_t sum = 0;
      for (const auto& a : events) {
        CHECK_FALSE(clocks.happened_before(a, a));
        for (const auto& b : events) sum += clocks.happened_before(a, b);
      }
      REQUIRE(sum <= events.size() * events.size());
      if (!events.empty()) REQUIRE(clocks.dense(events[0]).size() == static_cast<std::size_t>(ranks));
    }
  }
}
