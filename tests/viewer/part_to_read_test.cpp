// Which part of a long dump is read, against the definition; and what is made of it.
#include "viewer/session/part_to_read.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <random>

#include "analysis/logical/logical_time.hpp"
#include "tests/analysis/logical/random_records.hpp"
#include "tests/seed.hpp"
#include "tests/viewer/logical_sessions.hpp"
#include "viewer/session/logical_run.hpp"

using namespace pclscope;
using namespace pclscope::test;
using session::PartToRead;
using session::TimeSpan;

namespace {

constexpr std::int64_t ms = 1'000'000;

std::vector<Window> windows_of(std::span<const std::uint64_t> messages, std::int64_t length_ns) {
  std::vector<Window> windows;
  for (std::size_t i = 0; i < messages.size(); ++i) {
    Window& w = windows.emplace_back();
    w.begin_s = static_cast<double>(length_ns) * 1e-9 * static_cast<double>(i);
    w.length_s = static_cast<double>(length_ns) * 1e-9;
    w.all.messages = messages[i];
  }
  return windows;
}

std::int64_t begin_of(std::size_t window, std::int64_t length_ns) {
  return static_cast<std::int64_t>(window) * length_ns;
}

}  // namespace

TEST_CASE("as many windows as fit, the wanted ones first") {
  const std::uint64_t seed = random_seed() + 26;
  CAPTURE(seed);
  std::mt19937_64 random(seed);
  for (int round = 0; round < 2000; ++round) {
    std::vector<std::uint64_t> messages(1 + random() % 12);
    std::uint64_t total = 0;
    for (std::uint64_t& m : messages) total += m = random() % 3 == 0 ? 0 : random() % 40;
    const auto most = static_cast<double>(1 + random() % 120);
    const auto edge = [&] { return static_cast<std::int64_t>(random() % (messages.size() + 1)) * 10 * ms; };
    TimeSpan wanted;
    if (random() % 4 != 0) wanted = {edge(), edge()};
    if (wanted.end_ns <= wanted.begin_ns) wanted = {};
    const auto windows = windows_of(messages, 10 * ms);
    const PartToRead part = session::part_to_read(windows, most, wanted);
    REQUIRE(part.all == (static_cast<double>(total) <= most));
    if (part.all) {
      REQUIRE(part.span == TimeSpan{});
      continue;
    }
    // Whole windows, and of one with too many a share.
    std::vector<std::size_t> taken;
    for (std::size_t w = 0; w < messages.size(); ++w)
      if (begin_of(w, 10 * ms) >= part.span.begin_ns && begin_of(w + 1, 10 * ms) <= part.span.end_ns)
        taken.push_back(w);
    const std::size_t first_wanted =
        wanted == TimeSpan{} ? 0 : std::min(messages.size() - 1, static_cast<std::size_t>(wanted.begin_ns / (10 * ms)));
    if (static_cast<double>(messages[first_wanted]) > most) {
      REQUIRE(taken.empty());
      REQUIRE(part.span.begin_ns == begin_of(first_wanted, 10 * ms));
      REQUIRE(static_cast<double>(part.span.end_ns - part.span.begin_ns) ==
              Approx(1e7 * most / static_cast<double>(messages[first_wanted])).margin(1));
      continue;
    }
    REQUIRE(!taken.empty());
    std::uint64_t sum = 0;
    for (const std::size_t w : taken) sum += messages[w];
    REQUIRE(static_cast<double>(sum) <= most);
    REQUIRE(taken.back() - taken.front() + 1 == taken.size());
    REQUIRE(taken.front() <= first_wanted);
    REQUIRE(taken.back() >= first_wanted);
    // Nothing more fits; what lies before the wanted period is taken only when all of that is.
    const bool has_all = part.has(wanted) || wanted == TimeSpan{};
    if (taken.back() + 1 < messages.size()) REQUIRE(static_cast<double>(sum + messages[taken.back() + 1]) > most);
    if (taken.front() > 0 && has_all) REQUIRE(static_cast<double>(sum + messages[taken.front() - 1]) > most);
    if (!has_all) REQUIRE(taken.front() == first_wanted);
  }
}

TEST_CASE("logical time of a part is that of its messages alone") {
  std::mt19937_64 random(random_seed() + 27);
  int parts = 0;
  for (int round = 0; round < 60; ++round) {
    const RandomRecords records = random_records(random, 300, false);
    Snapshot snapshot;
    snapshot.application.ranks = records.ranks;
    std::int64_t end_ns = 0;
    for (const Message& m : records.messages) end_ns = std::max(end_ns, m.recv_end);
    snapshot.duration_s = static_cast<double>(end_ns) * 1e-9;
    const std::int64_t length_ns = end_ns / 8 + 1;
    std::vector<std::uint64_t> counts(8);
    for (const Message& m : records.messages) ++counts[static_cast<std::size_t>(m.send_begin / length_ns)];
    Stored stored(records.messages, {}, windows_of(counts, length_ns));
    const TimeSpan wanted{3 * length_ns, 4 * length_ns};
    const auto most = std::max<std::uint64_t>(1, records.messages.size() / 3);
    std::shared_ptr<const session::LogicalRun> run;
    REQUIRE(session::read_logical(stored, snapshot, [&](auto newest) { return run = newest, true; },
                                  {.most_messages = most, .wanted = wanted}));
    REQUIRE(run);
    REQUIRE(run->whole);
    REQUIRE(run->part.all == (records.messages.size() <= most));
    if (run->part.all) continue;
    ++parts;
    CHECK(run->lacks.find(" stored messages, from ") != std::string::npos);
    std::vector<Message> inside;
    for (const Message& m : records.messages)
      if (run->part.span.has(m.send_begin)) inside.push_back(m);
    REQUIRE(inside.size() <= most + 1);  // a window that was shortened
    const logical::LogicalTime time = logical_time_of(records.ranks, inside, {});
    REQUIRE(run->events == time.events.size());
    REQUIRE(run->phases.size() == time.phases.size());
  }
  CHECK(parts > 30);
}

TEST_CASE("what does not fit into memory ends the part") {
  std::mt19937_64 random(28);
  const RandomRecords records = random_records(random, 300, false);
  Snapshot snapshot;
  snapshot.application.ranks = records.ranks;
  for (const Message& m : records.messages)
    snapshot.duration_s = std::max(snapshot.duration_s, static_cast<double>(m.recv_end) * 1e-9);
  Stored stored(records.messages, {});
  std::shared_ptr<const session::LogicalRun> run;
  const auto publish = [&](auto newest) { return run = newest, true; };
  REQUIRE(session::read_logical(stored, snapshot, publish, {.messages_at_once = 20, .most_bytes = 3000}));
  REQUIRE(run);
  CHECK(run->whole);
  CHECK(!run->part.all);
  CHECK(run->events > 0);
  CHECK(run->events < 2 * records.messages.size());
  CHECK(!run->lacks.empty());
}
