// Budgets of file and memory hold for any input.
#include <catch2/catch.hpp>
#include <random>

#include "analysis/window/retention.hpp"
#include "tests/analysis/window/series.hpp"

using namespace pclscope;

namespace {

struct Feed {
  Evolutions evolutions;
  std::uint64_t file = 0, told = 0, seen = 0;
  std::uint64_t row = retention::bytes_per_row;
  MessageRetention retention;
  std::vector<std::int32_t> region_of_rank{0, 0, 0, 0, 1, 1, 1, 1, -1};

  Feed(Keep keep, std::uint64_t budget, std::size_t memory)
      : retention(keep, budget, memory, [this](std::span<const Message> m) { file += m.size() * row; }) {}

  void window(int t, std::span<const Message> messages, double ratio) {
    Window w;
    w.begin_s = 0.1 * t;
    w.length_s = 0.1;
    for (const std::int32_t r : {0, 1}) {
      w.regions.push_back(series::window(ratio, messages.size() / 2 + 1));
      w.regions.back().region = r;
    }
    const std::vector<std::int32_t> present{0, 1};
    const std::uint64_t number = evolutions.close_window(w, present);
    if (t % 10 == 0) retention.set_file_bytes(file);
    retention.add(w, number, messages, region_of_rank, evolutions);
    seen += messages.size();
  }
  void end() {
    evolutions.finish();
    retention.finish(evolutions);
  }
};

std::vector<Message> some(std::size_t count, std::mt19937_64& random) {
  std::vector<Message> list(count);
  for (Message& m : list) {
    m.source = static_cast<std::int32_t>(random() % 12) - 1;  // some outside the world
    m.destination = static_cast<std::int32_t>(random() % 12) - 1;
    m.send_begin = static_cast<std::int64_t>(random());
    m.recv_end = static_cast<std::int64_t>(random());
    m.comm = random();
    m.send_site = random();
  }
  return list;
}

}  // namespace

TEST_CASE("the file stays below 95 % of its budget and memory below its bound, whatever comes") {
  for (const Keep keep : {Keep::all, Keep::interesting, Keep::summaries})
    for (std::uint64_t seed = 1; seed <= 4; ++seed) {
      CAPTURE(static_cast<int>(keep), seed);
      std::mt19937_64 random(seed);
      const std::uint64_t budget = 5'000'000;
      const std::size_t memory = 1'500'000;
      Feed feed(keep, budget, memory);
      for (int t = 0; t < 400; ++t) {
        const std::size_t count = random() % 20 == 0 ? 60'000 : random() % 400;
        const double ratio = t % 100 < 60 ? 1 : 3;
        feed.window(t, some(count, random), ratio);
        REQUIRE(feed.file <= budget * 95 / 100);
        REQUIRE(feed.retention.bytes() <= memory);
        REQUIRE(feed.retention.stored() + feed.retention.left_out() + feed.retention.waiting() == feed.seen);
      }
      feed.end();
      CHECK(feed.file <= budget * 95 / 100);
      CHECK(feed.retention.stored() * feed.row == feed.file);
      CHECK(feed.retention.stored() + feed.retention.left_out() == feed.seen);
      if (keep == Keep::summaries) {
        CHECK(feed.file == 0);
        CHECK_FALSE(feed.retention.bites());
      } else {
        CHECK(feed.file > budget / 2);
        const auto text = feed.retention.bites();
        REQUIRE(text);
        CHECK(text->find('\n') == std::string::npos);
        CHECK(text->find("budget") != std::string::npos);
      }
    }
}

TEST_CASE("what is said of a budget that bites is true: messages that came too fast are no end of storing") {
  std::mt19937_64 random(3);
  for (const Keep keep : {Keep::interesting, Keep::all}) {
    CAPTURE(static_cast<int>(keep));
    Feed feed(keep, 20'000'000, 40'000'000);
    feed.row = 16;                                                         // what they really take
    for (int t = 1; t < 10; ++t) feed.window(t, some(30'000, random), 1);  // between two tellings of its size
    CHECK(feed.retention.left_out() > 0);
    const std::uint64_t stored = feed.retention.stored();
    feed.retention.set_file_bytes(feed.file);
    const auto text = feed.retention.bites();
    REQUIRE(text);
    CHECK(text->find("no more messages") == std::string::npos);
    for (int t = 11; t < 30; ++t) feed.window(t, some(100, random), 1);
    feed.end();
    CHECK(feed.retention.stored() > stored);
  }
}

TEST_CASE("everything is stored while the file is small") {
  std::mt19937_64 random(9);
  Feed feed(Keep::interesting, 1'000'000'000, 10'000'000);
  for (int t = 0; t < 100; ++t) feed.window(t, some(100, random), 1);
  CHECK(feed.retention.stored() == 10'000);
  CHECK(feed.retention.left_out() == 0);
  CHECK_FALSE(feed.retention.bites());
  feed.end();
  CHECK(feed.retention.stored() == 10'000);
}

TEST_CASE("one window of two million messages, with little memory, in the middle of a growth") {
  std::mt19937_64 random(10);
  const std::vector<Message> flood = some(2'000'000, random);
  for (const double ratio : {1.0, 3.0}) {
    Feed feed(Keep::interesting, 400'000'000, 2'000'000);
    feed.row = 88;
    feed.file = 150'000'000;  // beyond a quarter
    for (int t = 0; t < 60; ++t) feed.window(t, some(100, random), 1);
    for (int t = 60; t < 66; ++t) feed.window(t, some(100, random), ratio);
    const std::uint64_t before = feed.retention.stored();
    feed.window(66, flood, ratio);
    REQUIRE(feed.retention.bytes() <= 2'000'000);
    if (ratio > 1) CHECK(feed.retention.stored() - before > 1'000'000);  // those between ranks of regions
    else CHECK(feed.retention.stored() - before < 1'000);
    feed.end();
    CHECK(feed.file <= 400'000'000ull * 95 / 100);
  }
}

TEST_CASE("garbage times and counts, regions that come and go") {
  std::mt19937_64 random(12);
  MessageRetention retention(Keep::interesting, 3'000'000, 1'000'000, [](std::span<const Message>) {});
  Evolutions evolutions;
  retention.set_file_bytes(1'000'000);
  std::uint64_t seen = 0;
  for (int t = 0; t < 3000; ++t) {
    Window w;
    w.begin_s = random() % 10 ? 0.1 * t : random() % 2 ? NAN : -1e300;
    w.length_s = random() % 10 ? 0.1 : random() % 2 ? INFINITY : -1;
    std::vector<std::int32_t> present, map(8, -1);
    for (int i = 0; i < 3; ++i) present.push_back(static_cast<std::int32_t>(t / 50 + i));
    for (std::int32_t& r : map) r = present[random() % 3];
    for (const std::int32_t r : present) {
      w.regions.push_back(series::window(random() % 5 ? 1 : NAN, random() % 3));
      w.regions.back().region = r;
    }
    const std::vector<Message> messages = some(random() % 50, random);
    const std::uint64_t number = evolutions.close_window(w, present);
    retention.add(w, number, messages, map, evolutions);
    seen += messages.size();
    REQUIRE(retention.bytes() <= 1'000'000);
  }
  evolutions.finish();
  retention.finish(evolutions);
  CHECK(retention.stored() + retention.left_out() == seen);
}

TEST_CASE("what found no room in the file counts as left out, and the file gets no more") {
  std::mt19937_64 random(5);
  std::uint64_t given = 0, taken = 0;
  Evolutions evolutions;
  MessageRetention retention(Keep::all, 10'000'000, 1'000'000, [&](std::span<const Message> m) {
    given += m.size();
    taken += std::min<std::uint64_t>(m.size(), 5'000 - taken);
  });
  std::uint64_t seen = 0, given_at_end = 0;
  for (int t = 0; t < 40; ++t) {
    Window w;
    w.begin_s = 0.1 * t;
    w.length_s = 0.1;
    w.regions.push_back(series::window(1, 300));
    const std::vector<std::int32_t> present{0}, region_of_rank(12, 0);
    const std::vector<Message> messages = some(300, random);
    retention.add(w, evolutions.close_window(w, present), messages, region_of_rank, evolutions);
    seen += messages.size();
    if (t % 3 == 0) retention.set_not_stored(given - taken);
    if (t == 20) given_at_end = given;
    CHECK((t % 3 != 0 || retention.stored() == taken));
    CHECK(retention.stored() + retention.left_out() + retention.waiting() == seen);
  }
  evolutions.finish();
  retention.finish(evolutions);
  CHECK(taken == 5'000);
  CHECK(given == given_at_end);
  CHECK(retention.bites_since_s() >= 1.6);
}
