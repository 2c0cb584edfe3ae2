#include "analysis/window/packed_messages.hpp"

#include <catch2/catch.hpp>
#include <iostream>
#include <random>

#include "analysis/window/recent_messages.hpp"

using namespace pclscope;

namespace {

std::vector<Message> read(const PackedMessages& packed) {
  std::vector<Message> list;
  packed.each([&](const Message& m) { list.push_back(m); });
  return list;
}

Message garbage(std::mt19937_64& random) {
  const auto any = [&] { return random() >> random() % 64; };
  const auto time = [&] { return static_cast<std::int64_t>(random() % 2 ? any() : ~any()); };
  Message m;
  m.comm = any();
  m.source = static_cast<std::int32_t>(any());
  m.destination = static_cast<std::int32_t>(~any());
  m.tag = static_cast<std::int32_t>(any());
  m.flags = static_cast<std::uint32_t>(any());
  m.bytes = any();
  m.send_begin = time();
  m.send_end = time();
  m.recv_post = time();
  m.recv_wait = time();
  m.recv_end = time();
  m.send_site = any();
  m.recv_site = any();
  m.clock_error_ns = random() % 2 ? 0 : static_cast<std::uint32_t>(any());
  return m;
}

// As a simulation leaves them.
Message ordinary(std::mt19937_64& random, std::int64_t now) {
  Message m;
  m.comm = 0x9e3779b97f4a7c15;
  m.source = static_cast<std::int32_t>(random() % 64);
  m.destination = static_cast<std::int32_t>(random() % 64);
  m.tag = 10;
  m.flags = random() % 2 ? message_flag::delayed | message_flag::inter_node : message_flag::inter_node;
  m.bytes = 800 << random() % 4;
  m.send_begin = now + static_cast<std::int64_t>(random() % 20'000);
  m.send_end = m.send_begin + 150;
  m.recv_post = m.send_begin - static_cast<std::int64_t>(random() % 3000);
  m.recv_wait = m.recv_post + 1000;
  m.recv_end = m.send_begin + 2000 + static_cast<std::int64_t>(random() % 3000);
  m.send_site = 1 + random() % 6;
  m.recv_site = 7 + random() % 6;
  return m;
}

}  // namespace

TEST_CASE("packed messages are read as they were, whatever they hold") {
  for (std::uint64_t seed = 1; seed <= 30; ++seed) {
    CAPTURE(seed);
    std::mt19937_64 random(seed);
    std::vector<Message> messages(seed == 1 ? 0 : random() % 20'000);
    for (Message& m : messages) m = random() % 2 ? garbage(random) : ordinary(random, 1'000'000);
    PackedMessages packed;
    for (std::size_t i = 0; i < messages.size();) {
      const std::size_t n = std::min<std::size_t>(messages.size() - i, 1 + random() % 3000);
      REQUIRE(packed.append(std::span(messages).subspan(i, n)));
      i += n;
    }
    packed.close();
    REQUIRE(packed.count() == messages.size());
    REQUIRE(read(packed) == messages);
  }
}

TEST_CASE("ordinary messages take a third of their size") {
  std::mt19937_64 random(3);
  std::vector<Message> messages;
  for (int i = 0; i < 200'000; ++i) messages.push_back(ordinary(random, i * 500));
  PackedMessages packed;
  REQUIRE(packed.append(messages));
  packed.close();
  const double each = static_cast<double>(packed.bytes()) / 200'000;
  std::cout << "packed: " << each << " bytes per message\n";
  CHECK(each < 32);
}

TEST_CASE("the limit is kept, and what was packed before stays readable") {
  std::mt19937_64 random(4);
  std::vector<Message> messages;
  for (int i = 0; i < 100'000; ++i) messages.push_back(garbage(random));
  for (const std::size_t limit : {std::size_t{100}, std::size_t{5000}, std::size_t{300'000}, std::size_t{2'000'000}}) {
    PackedMessages packed;
    CHECK_FALSE(packed.append(messages, limit));
    CHECK(packed.bytes() <= limit + sizeof packed);
    packed.close();
    const std::vector<Message> kept = read(packed);
    REQUIRE(kept.size() == packed.count());
    CHECK(std::equal(kept.begin(), kept.end(), messages.begin()));
  }
}

TEST_CASE("recent messages: whole windows under the budget, found by time, and known from when on") {
  std::mt19937_64 random(5);
  RecentMessages recent(1'000'000);
  std::vector<Message> all;
  for (int w = 0; w < 200; ++w) {
    std::vector<Message> window;
    for (std::size_t i = 0; i < random() % 3000; ++i) window.push_back(ordinary(random, w * 100'000));
    recent.add(w * 100'000, (w + 1) * 100'000, window);
    all.insert(all.end(), window.begin(), window.end());
    REQUIRE(recent.bytes() <= recent.budget());
  }
  const std::int64_t from = recent.complete_from_ns();
  CHECK(from > 0);
  CHECK(from < 190 * 100'000);
  CHECK(recent.messages() > 10'000);
  for (int question = 0; question < 50; ++question) {
    const std::int64_t begin = from + static_cast<std::int64_t>(random() % 2'000'000),
                       end = begin + static_cast<std::int64_t>(random() % 400'000);
    std::vector<Message> found, truth;
    recent.between(begin, end, [&](const Message& m) { found.push_back(m); });
    for (const Message& m : all)
      if (m.send_begin < end && m.recv_end >= begin) truth.push_back(m);
    REQUIRE(found == truth);
  }
}

TEST_CASE("a window too large for memory is not kept, and memory says so") {
  RecentMessages recent(100'000);
  std::mt19937_64 random(6);
  std::vector<Message> small(10), large(50'000);
  for (Message& m : small) m = ordinary(random, 0);
  for (Message& m : large) m = garbage(random);
  recent.add(0, 100, small);
  CHECK(recent.complete_from_ns() == INT64_MIN);
  CHECK(recent.messages() == 10);
  recent.add(100, 200, large);
  CHECK(recent.complete_from_ns() == 200);
  CHECK(recent.messages() == 0);
  recent.add(200, 300, small);
  CHECK(recent.messages() == 10);
  CHECK(recent.bytes() <= 100'000);
  CHECK(keep_window(0, 1, large, 100) == nullptr);
}
