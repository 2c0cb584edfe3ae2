// Another placement: the prediction against a simulation of the same program placed so.
#include <catch2/catch.hpp>

#include "analysis/whatif/whatif.hpp"
#include "tests/analysis/delay/random_programs.hpp"
#include "tests/analysis/whatif/replaying.hpp"
#include "tests/seed.hpp"

using namespace pclscope;
using namespace pclscope::test;
using whatif::Change;

namespace {

using Nodes = std::vector<std::int32_t>;

// Nodes in a row; what a message takes depends on how far it goes.
std::int32_t in_a_row(std::int32_t from, std::int32_t to) { return std::abs(from - to); }
constexpr LinkTimes truth{3e-6, 1e-10, 800e-6, 600e-6, 2e-7};

std::uint64_t bytes_of(std::int32_t tag) {
  constexpr std::uint64_t sizes[] = {8, 700, 4000, 20000};
  return sizes[static_cast<std::size_t>(tag) % std::size(sizes)];
}

Speeds on(const Nodes& nodes) {
  Speeds speeds;
  speeds.bytes = bytes_of;
  speeds.transfer_ns = [nodes](std::int32_t from, std::int32_t to, std::uint64_t bytes) {
    const auto hops = in_a_row(nodes[static_cast<std::size_t>(from)], nodes[static_cast<std::size_t>(to)]);
    return std::llround(1e9 * truth.of(hops, 1, static_cast<double>(bytes)));
  };
  return speeds;
}

Outcome simulate_on(const Nodes& nodes, const Program& p) {
  Outcome o = simulate(p, on(nodes));
  for (Message& m : o.messages)
    if (nodes[static_cast<std::size_t>(m.source)] != nodes[static_cast<std::size_t>(m.destination)])
      m.flags |= message_flag::inter_node;
  return o;
}

Change to(const Nodes& placed) { return whatif::to_nodes(placed, in_a_row); }

Result<WhatIf> ask(const Outcome& o, const Nodes& nodes, const Change& change) {
  const auto ranks = static_cast<std::int32_t>(nodes.size());
  return whatif::what_if({ranks, o.messages, o.collectives, nodes}, 0, INT64_MAX / 4, change);
}

Nodes two_each(std::int32_t ranks, std::mt19937& random) {
  Nodes nodes;
  for (std::int32_t r = 0; r < ranks; ++r) nodes.push_back(r / 2);
  std::shuffle(nodes.begin(), nodes.end(), random);
  return nodes;
}

}  // namespace

TEST_CASE("The same placement changes nothing; other numbers for the same nodes neither") {
  std::mt19937 random(3);
  const Program p = random_program(5, {8, 60, true});
  const Nodes nodes = two_each(p.ranks(), random);
  const Outcome o = simulate_on(nodes, p);
  Nodes mirrored = nodes;
  for (std::int32_t& node : mirrored) node = *std::max_element(nodes.begin(), nodes.end()) - node;
  for (const Nodes& placed : {nodes, mirrored}) {
    const auto w = ask(o, nodes, to(placed));
    REQUIRE(w);
    CHECK(w->changed == 0);
    CHECK(w->untold == 0);
    CHECK(w->predicted_s == w->replayed_s);
    CHECK(w->gain_s() == 0);
    CHECK_FALSE(w->as.empty());
  }
}

TEST_CASE("Random programs placed otherwise take what the replay of where they were says, within 1 %") {
  const auto seed = static_cast<std::uint32_t>(random_seed());
  CAPTURE(seed);
  int told = 0;
  double worst = 0, largest = 0;
  for (std::uint32_t i = 0; i < 120; ++i) {
    std::mt19937 random(seed + i);
    const Program p = random_program(seed + i, {8, 200, true});
    const Nodes before = two_each(p.ranks(), random), after = two_each(p.ranks(), random);
    const Outcome was = simulate_on(before, p);
    const double really = took_s(simulate_on(after, p));
    // By what the record tells, and by what is given.
    for (const bool given : {false, true}) {
      Change change = to(after);
      if (given) change.given = truth;
      const auto w = ask(was, before, change);
      CAPTURE(i, given);
      if (given) REQUIRE(w);
      else if (!w) CHECK(w.error().message.find("it is not known what") == 0);
      if (!w) continue;
      told += !given;
      REQUIRE(w->fit_error() == Approx(0).margin(1e-9));
      const double off = std::abs(w->predicted_s / really - 1);
      worst = std::max(worst, off);
      largest = std::max(largest, std::abs(took_s(was) / really - 1));
      REQUIRE(off <= 0.01);
    }
  }
  INFO(told << " told by the record, the worst off by " << worst << ", placements differ by up to " << largest);
  CHECK(told >= 20);
  CHECK(largest > 0.1);
}

TEST_CASE("Latencies and bandwidths are found again, however far messages went") {
  std::mt19937 random(4);
  std::uint32_t number = 1;
  while (random_program(number, {8, 400, false}).ranks() < 8) ++number;
  const Program p = random_program(number, {8, 400, false});
  Nodes nodes = two_each(p.ranks(), random);
  const Outcome o = simulate_on(nodes, p);
  const auto times = whatif::link_times({p.ranks(), o.messages, o.collectives, nodes}, in_a_row);
  REQUIRE(times);
  CHECK(times->first_hop_s == Approx(truth.first_hop_s).epsilon(0.02));
  CHECK(times->further_hop_s == Approx(truth.further_hop_s).epsilon(0.02));
  CHECK(times->s_per_byte == Approx(truth.s_per_byte).epsilon(0.02));
  CHECK(times->inside_s == Approx(truth.inside_s).epsilon(0.02));
  CHECK(times->inside_s_per_byte == Approx(truth.inside_s_per_byte).epsilon(0.05));
  nodes.assign(nodes.size(), 0);
  CHECK_FALSE(whatif::link_times({p.ranks(), o.messages, o.collectives, nodes}, in_a_row));
}

TEST_CASE("What was never seen over a distance is refused, unless it is given") {
  // 0 and 1 talk across nodes, nobody within one.
  Program p(2);
  for (int step = 0; step < 40; ++step)
    for (int r = 0; r < 2; ++r) {
      p.compute(r, 100'000);
      p.call(r, K::isend, site::isend, 1 - r, 2);
      p.call(r, K::recv, site::recv, 1 - r, 2);
    }
  const Nodes apart = {0, 1}, together = {0, 0};
  const Outcome o = simulate_on(apart, p);
  Change change = to(together);
  const auto refused = ask(o, apart, change);
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code == ErrorCode::not_found);
  CHECK(refused.error().message.find("it is not known what 100 % of the messages") == 0);
  change.given = truth;
  const auto w = ask(o, apart, change);
  REQUIRE(w);
  CHECK(w->changed == 80);
  CHECK(took_s(o) - w->gain_s() == Approx(took_s(simulate_on(together, p))).epsilon(0.001));
  // By hand: 40 steps with a transfer of 800 us + 4000 B * 200 ns/B outside, 3.4 us inside.
  CHECK(w->gain_s() == Approx(40 * (1600e-6 - 3.4e-6)).epsilon(0.001));
}

TEST_CASE("A small synchronous message that was there before its receive keeps no late receiver, however far it came") {
  Program p(2);
  for (int step = 0; step < 40; ++step) {
    p.compute(0, 100 * us);
    p.call(0, K::ssend, site::ssend, 1, 0);
    p.compute(1, 5 * ms);
    p.call(1, K::recv, site::recv, 0, 0);
  }
  const Nodes together = {0, 0}, apart = {0, 1};
  const Outcome o = simulate_on(together, p);
  Change change = to(apart);
  change.given = truth;
  const auto w = ask(o, together, change);
  REQUIRE(w);
  CHECK(w->changed == 40);
  CHECK(took_s(o) - w->gain_s() == Approx(took_s(simulate_on(apart, p))).epsilon(1e-6));
  // By hand: the receiver computes all the time; the sender hears of its last receive one transfer later.
  CHECK(took_s(o) - w->gain_s() == Approx(40 * 5e-3 + 800e-6).epsilon(0.001));
}

TEST_CASE("A rank that was late into a wait whose message moved only then hides no transfer") {
  // Pairs of ranks talk across two nodes at each of 100 steps, neighbours at each tenth. Once a rank comes so late that
  // its message seems to be there, and waits as long as ever: of all calls the only one that seems to wait for nothing.
  constexpr std::int64_t step_ns = 40 * ms, far_ns = 7 * ms, near_ns = 300 * us;
  const Nodes apart = {0, 0, 1, 1}, together = {0, 1, 0, 1};
  std::vector<Message> messages;
  const auto exchange = [&](std::int64_t at, std::int32_t flip, std::int64_t takes) {
    for (std::int32_t r = 0; r < 4; ++r) {
      Message m;
      m.source = r;
      m.destination = r ^ flip;
      m.bytes = 65536;
      m.recv_post = at;
      m.send_begin = at + 10 * us;
      m.send_end = at + 20 * us;
      m.recv_wait = at + 30 * us;
      m.recv_end = at + 10 * us + takes;
      if (flip == 2) m.flags |= message_flag::inter_node;
      messages.push_back(m);
    }
  };
  for (int i = 0; i < 100; ++i) {
    exchange(i * step_ns, 2, far_ns);
    if (i == 50) {
      messages.back().recv_wait += far_ns + ms;
      messages.back().recv_end += far_ns + 2 * ms;
    }
    if (i % 10 == 0) exchange(i * step_ns + 20 * ms, 1, near_ns);
  }
  const auto w = whatif::what_if({4, messages, {}, apart}, 0, INT64_MAX / 4, whatif::to_nodes(together, {}));
  REQUIRE(w);
  CHECK(w->changed == messages.size());
  CHECK(w->fit_error() == Approx(0).margin(1e-9));
  const double really = 90e-9 * (far_ns - near_ns);  // neighbours are apart then
  CHECK(w->gain_s() == Approx(really).epsilon(0.05));
}
