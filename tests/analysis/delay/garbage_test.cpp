// Whatever comes in: finite numbers that add up, paths that fill their period, bounded time. Seeds are in the messages.
#include <catch2/catch.hpp>
#include <cmath>
#include <random>

#include "analysis/delay/critical_path.hpp"
#include "analysis/delay/delay_report.hpp"
#include "tests/patience.hpp"
#include "tests/thinned.hpp"

using namespace pclscope;

namespace {

struct Trace {
  std::int32_t ranks;
  std::vector<Message> messages;
  std::vector<CollectiveCall> collectives;
};

class Garbage {
 public:
  explicit Garbage(std::uint32_t seed) : random_(seed) {}

  // `wild`: any time and rank; else times within a second, ranks in range, but no sense in them.
  Trace trace(std::size_t count, bool wild) {
    Trace t{static_cast<std::int32_t>(pick(20)), {}, {}};
    wild_ = wild;
    ranks_ = t.ranks;
    resolution_ = pick(3) == 0 ? 100'000'000 : 1000;
    for (std::size_t i = 0; i < count; ++i)
      if (pick(4) != 0) t.messages.push_back(message());
      else t.collectives.push_back(collective());
    return t;
  }

  std::uint64_t pick(std::uint64_t below) { return random_() % below; }

 private:
  std::int64_t time() {
    if (wild_ && pick(20) == 0) {
      const std::int64_t extremes[] = {INT64_MIN, INT64_MAX, 0, -1'000'000'000, 1'000'000'000'000'000'000};
      return extremes[pick(5)];
    }
    return static_cast<std::int64_t>(pick(1'000'000'000)) / resolution_ * resolution_;
  }
  std::int32_t rank() {
    if (wild_ && pick(30) == 0) return static_cast<std::int32_t>(random_());
    return static_cast<std::int32_t>(pick(static_cast<std::uint64_t>(std::max(ranks_, 1))));
  }
  Message message() {
    Message m;
    m.source = rank();
    m.destination = rank();
    m.bytes = random_() >> pick(64);
    m.send_begin = time();
    m.send_end = pick(2) ? time() : m.send_begin;
    m.recv_post = time();
    m.recv_wait = pick(2) ? time() : m.recv_post;
    m.recv_end = pick(2) ? time() : std::max(m.recv_wait, m.send_begin);
    m.flags = pick(4) == 0 ? static_cast<std::uint32_t>(random_()) : 0;
    m.send_site = pick(10) == 0 ? random_() : pick(5);
    m.recv_site = pick(5);
    return m;
  }
  CollectiveCall collective() {
    CollectiveCall c;
    c.comm = pick(3);
    c.ordinal = pick(10);
    c.rank = rank();
    c.awaited = pick(3) == 0 ? -1 : rank();
    c.shape = static_cast<CollectiveShape>(pick(5));
    c.nonblocking = pick(8) == 0;
    c.begin = time();
    c.end = time();
    c.awaited_begin = time();
    c.site = pick(4);
    return c;
  }

  std::mt19937_64 random_;
  bool wild_ = false;
  std::int32_t ranks_ = 0;
  std::int64_t resolution_ = 1;
};

void check_numbers(const DelayReport& r, std::int32_t ranks) {
  for (const DelayOrigin& o : r.origins) {
    REQUIRE((o.rank >= 0 && o.rank < ranks));
    for (const double s : {o.cost_s, o.direct_s, o.collective_s, o.worst_s, o.first_s, o.last_s})
      REQUIRE(std::isfinite(s));
    REQUIRE(o.cost_s > 0);
    REQUIRE(o.direct_s <= o.cost_s * (1 + 1e-9));
    REQUIRE(o.collective_s <= o.cost_s * (1 + 1e-9));
    REQUIRE(o.worst_s <= o.cost_s * (1 + 1e-9));
    REQUIRE(o.last_s >= o.first_s);
    REQUIRE(o.victims.size() == o.victim_s.size());
    double victims_s = 0;
    for (std::size_t i = 0; i < o.victims.size(); ++i) {
      REQUIRE(o.victims[i] != o.rank);
      victims_s += o.victim_s[i];
    }
    REQUIRE(victims_s <= o.cost_s * (1 + 1e-9));
  }
  const DelayTotals& t = r.totals;
  REQUIRE(std::isfinite(t.waited_s));
  REQUIRE(t.attributed_s + t.inside_mpi_s + t.unknown_s == Approx(t.waited_s));
}

// In the order of time, without gaps or overlaps, from the begin to the end.
void check_path(const CriticalPath& p, std::int32_t ranks) {
  if (p.steps.empty()) {
    REQUIRE(p.begin_s == p.end_s);
    return;
  }
  REQUIRE(p.steps.front().begin_s == p.begin_s);
  REQUIRE(p.steps.back().end_s == p.end_s);
  double shares_s = 0;
  for (std::size_t i = 0; i < p.steps.size(); ++i) {
    REQUIRE((p.steps[i].rank >= 0 && p.steps[i].rank < ranks));
    REQUIRE(p.steps[i].end_s >= p.steps[i].begin_s);
    if (i > 0) REQUIRE(p.steps[i].begin_s == p.steps[i - 1].end_s);
  }
  for (const PathShare& s : p.shares) shares_s += s.on_path_s;
  REQUIRE(shares_s == Approx(p.end_s - p.begin_s));
}

}  // namespace

TEST_CASE("Traces without sense give finite results and whole paths") {
  for (std::uint32_t seed = 1; seed <= test::thinned(1500u); ++seed) {
    Garbage garbage(seed);
    const bool wild = seed % 2 == 0;
    const Trace t = garbage.trace(garbage.pick(120), wild);
    CAPTURE(seed);
    DelayQuestion question;
    if (seed % 3 == 0) question.from_ns = static_cast<std::int64_t>(garbage.pick(1'000'000'000));
    if (seed % 5 == 0) question.to_ns = static_cast<std::int64_t>(garbage.pick(1'000'000'000));
    if (seed % 7 == 0) question.ranks = {0, 1, -5, 1'000'000};
    const DelayReport r = delays_of(t.ranks, t.messages, t.collectives, question);
    check_numbers(r, t.ranks);
    check_path(critical_path(t.ranks, t.messages, t.collectives, question.from_ns, question.to_ns), t.ranks);
  }
}

TEST_CASE("Traces without sense, in batches") {
  for (std::uint32_t seed = 1; seed <= test::thinned(300u); ++seed) {
    Garbage garbage(seed);
    Delays delays(8);
    for (int batch = 0; batch < 20; ++batch) {
      const Trace t = garbage.trace(garbage.pick(300), seed % 2 == 0);
      delays.add(t.messages, t.collectives, static_cast<std::int64_t>(garbage.pick(2'000'000'000)));
    }
    delays.finish();
    CAPTURE(seed);
    check_numbers({delays.list(SIZE_MAX), delays.totals()}, 8);
  }
}

TEST_CASE("No ranks, negative ranks, nothing at all") {
  for (const std::int32_t ranks : {-3, 0, 1}) {
    const DelayReport r = delays_of(ranks, std::vector{Message{}}, std::vector{CollectiveCall{}}, {});
    CHECK(r.origins.empty());
    const DelayReport none = delays_of(ranks, {}, {}, {});
    CHECK(none.origins.empty());
    CHECK(critical_path(ranks, {}, {}).steps.empty());
  }
}

TEST_CASE("A million messages at one instant, and between two ranks that wait for each other: no blow-up") {
  const double before_s = test::core_seconds();
  std::vector<Message> messages(test::thinned<std::size_t>(1'000'000));
  for (std::size_t i = 0; i < messages.size(); ++i) {
    messages[i].source = static_cast<std::int32_t>(i % 16);
    messages[i].destination = static_cast<std::int32_t>((i * 7 + 3) % 16);
    messages[i].send_begin = messages[i].send_end = messages[i].recv_end = 1'000'000;
    messages[i].recv_wait = messages[i].recv_post = static_cast<std::int64_t>(i % 900'000);
    messages[i].send_site = i % 3;
  }
  SECTION("sent and received at one instant, waits of all lengths") {}
  SECTION("everything at one instant") {
    for (Message& m : messages) m.recv_wait = m.recv_post = m.recv_end;
  }
  SECTION("the same call again and again") {
    for (Message& m : messages) m.recv_wait = m.recv_post = 5;
  }
  const DelayReport r = delays_of(16, messages, {}, {});
  check_numbers(r, 16);
  check_path(critical_path(16, messages, {}), 16);
  const double seconds = test::core_seconds() - before_s;
  CAPTURE(seconds);
  CHECK(seconds < 300);  // quadratic would be hours
}
