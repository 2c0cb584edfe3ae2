// Where a cause is: the node whose sending side is slow, silence, a rank with more bytes, a gradient over all ranks.
#include <catch2/catch.hpp>

#include "analysis/attribute/gain.hpp"
#include "analysis/attribute/gradient.hpp"
#include "analysis/attribute/replay.hpp"
#include "analysis/attribute/slow_links.hpp"
#include "tests/analysis/attribute/exchange.hpp"

using namespace pclscope;
using namespace pclscope::test;

namespace {

Attribution found(const Exchange& x) {
  const Run r = run(x);
  return attribute::replay({x.ranks, r.messages, r.collectives, x.nodes, 100 * ms, {}, {}});
}

// Six ranks on three nodes, each talks to all others.
Exchange all_to_all() {
  Exchange x;
  x.ranks = 6;
  x.nodes = {0, 0, 1, 1, 2, 2};
  for (std::int32_t a = 0; a < 6; ++a)
    for (std::int32_t b = a + 1; b < 6; ++b) x.edges.emplace_back(a, b);
  x.steps = 600;
  return x;
}

bool has(const Finding& f, std::int32_t from, std::int32_t to) {
  for (std::size_t i = 0; i + 1 < f.nodes.size(); i += 2)
    if (f.nodes[i] == from && f.nodes[i + 1] == to) return true;
  return false;
}

}  // namespace

TEST_CASE("All traffic goes through Waitall, and a node sends slowly: that node, not who waits with it") {
  for (const std::int32_t slow : {0, 1, 2}) {
    Exchange x = all_to_all();
    x.transfer = [=, nodes = x.nodes](std::int32_t from, std::int32_t, std::int64_t now) {
      const bool acts = now > 2 * s_ns && now < 4 * s_ns && nodes[static_cast<std::size_t>(from)] == slow;
      return acts ? 8 * ms : 200 * us;
    };
    const Attribution a = found(x);
    CAPTURE(slow);
    REQUIRE(!a.findings.empty());
    const Finding& f = a.findings[0];
    CAPTURE(f.evidence);
    CHECK(f.cause == Cause::background);
    CHECK(f.confidence > 0.5);
    REQUIRE(f.nodes.size() >= 4);
    CHECK(f.nodes[0] == slow);
    CHECK(f.nodes[2] == slow);
    CHECK(f.evidence[1].find("all that node " + std::to_string(slow) + " sends") != std::string::npos);
  }
}

TEST_CASE("Slow links: a sending side, a receiving side, a link, and what does not hold") {
  using attribute::Links;
  using attribute::LinkSeen;
  Links links;
  for (std::int32_t a = 0; a < 4; ++a)
    for (std::int32_t b = 0; b < 4; ++b)
      if (a != b) links[{a, b}] = {0, 0, 100};
  const auto slow = [&](Links in, std::int32_t a, std::int32_t b, double above, double excess) {
    in[{a, b}] = {excess, above * 100, 100};
    return in;
  };
  Links one = slow(links, 1, 2, 2.0, 5);
  CHECK(attribute::slow_links(one, 0.4).text == "node 1 to node 2");
  Links sending = links;
  for (const std::int32_t to : {0, 1, 3})
    sending = slow(slow(sending, 2, to, 2.0, 1), (to + 1) % 4 == 2 ? 3 : (to + 1) % 4, to, 1.5, 1);
  CHECK(attribute::slow_links(sending, 0.4).text.starts_with("all that node 2 sends (to node 0, node 1, node 3)"));
  Links receiving = links;
  for (const std::int32_t from : {0, 1, 2}) receiving = slow(receiving, from, 3, 2.0, 1);
  CHECK(attribute::slow_links(receiving, 0.4).text == "all that node 3 receives (from node 0, node 1, node 2)");
  CHECK(attribute::slow_links(links, 0.4).nodes.empty());
}

TEST_CASE("A node without a network for three seconds: an outage, that node, from when to when") {
  Exchange x = all_to_all();
  enum Who { ring, mixed, all };
  const Who who = GENERATE(ring, mixed, all);
  if (who == ring) x.edges = ring_edges(6);
  if (who == mixed) x.edges = {{0, 1}, {0, 4}, {0, 2}, {1, 5}, {4, 5}, {4, 3}, {2, 3}};
  const std::int64_t from = 2 * s_ns, to = 5 * s_ns;
  x.transfer = [=, nodes = x.nodes](std::int32_t a, std::int32_t b, std::int64_t now) {
    const bool touches = (nodes[static_cast<std::size_t>(a)] == 1) != (nodes[static_cast<std::size_t>(b)] == 1);
    return touches && now >= from && now < to ? to - now + 300 * us : 200 * us;
  };
  const Attribution a = found(x);
  REQUIRE(!a.findings.empty());
  const Finding& f = a.findings[0];
  CAPTURE(f.evidence, f.confidence, f.score);
  CHECK(f.cause == Cause::outage);
  CHECK(f.confidence > 0.5);
  CHECK(f.begin_s == Approx(2).margin(0.1));
  CHECK(f.end_s == Approx(5).margin(0.1));
  CHECK(has(f, 1, 0) + has(f, 0, 1) + has(f, 1, 2) + has(f, 2, 1) >= 2);
  // Where every call waits for all nodes, which of them was silent cannot be seen.
  CHECK((f.evidence[0].find(who != all ? "with node 1 from" : "between node 0, node 1, node 2 from") !=
         std::string::npos));
  if (who != all) CHECK_FALSE(has(f, 0, 2));
  for (const Finding& other : a.findings) CHECK((other.cause != Cause::background || other.confidence <= 0.5));
}

TEST_CASE("A call whose messages become known in different windows stands still for its last one only") {
  const std::vector<std::int32_t> nodes{0, 0, 1, 1};
  const std::int64_t end = 5 * s_ns;
  const auto message = [&](std::int32_t source, std::int64_t sent) {
    Message m;
    m.source = source, m.destination = 0, m.bytes = 8;
    m.send_begin = sent, m.send_end = sent + us;
    m.recv_post = m.recv_wait = s_ns, m.recv_end = end;
    if (source >= 2) m.flags = message_flag::inter_node;
    return m;
  };
  const Message early = message(2, s_ns + ms), as_early = message(1, s_ns + 2 * ms), late = message(1, end - 5 * ms);
  const auto stuck = [&](const std::vector<std::vector<Message>>& windows) {
    attribute::Slices slices(4, 100 * ms);
    attribute::Exposure exposure(4);
    slices.advance(0, 6 * s_ns);
    for (const auto& messages : windows) {
      for (const Message& m : messages) exposure.add(m, nodes, slices);
      exposure.flush(slices);
    }
    std::size_t count = 0;
    for (const attribute::Slice& s : slices.all()) count += s.stuck.size();
    return count;
  };
  CHECK(stuck({{early}}) == 1);
  CHECK(stuck({{early, as_early}}) == 1);
  CHECK(stuck({{as_early}, {early}}) == 1);
  CHECK(stuck({{early, late}}) == 0);
  CHECK(stuck({{early}, {late}}) == 0);
  CHECK(stuck({{late}, {early}}) == 0);
}

TEST_CASE("A rank that stands still for three seconds is no outage") {
  Exchange x = all_to_all();
  x.compute = [](std::int32_t r, std::int64_t now) {
    return r == 2 && now > 2 * s_ns && now < 2 * s_ns + 20 * ms ? 3 * s_ns : 10 * ms;
  };
  for (const Finding& f : found(x).findings) CHECK(f.cause != Cause::outage);
}

TEST_CASE("What ranks compute rises from the first to the last: load imbalance over all, nobody is named") {
  // With 6 ranks the next slowest is named beside the slowest, and waits itself: it belongs to the row.
  // The first has a little more than the row says, as in a real run.
  for (const bool allreduce : {false, true})
    for (const auto& [ranks, factor] : {std::pair{6, 2.0}, {6, 1.94}, {6, 1.87}, {8, 1.8}, {16, 2.0}, {16, 2.5}}) {
      Exchange x;
      x.ranks = ranks;
      x.edges = ring_edges(ranks);
      x.steps = 500;
      x.allreduce = allreduce;
      x.compute = [count = ranks, f = factor](std::int32_t r, std::int64_t) {
        return static_cast<std::int64_t>(8.0 * ms * (r == 0 ? 1.04 : 1 + (f - 1) * r / (count - 1)));
      };
      const Attribution a = found(x);
      CAPTURE(ranks, factor, allreduce);
      REQUIRE(!a.findings.empty());
      const Finding& f = a.findings[0];
      CAPTURE(static_cast<int>(f.cause), f.evidence, f.confidence);
      CHECK(f.cause == Cause::load_imbalance);
      CHECK(f.confidence > 0.5);
      CHECK(f.ranks.empty());
      CHECK(f.advice.find("gains up to") != std::string::npos);
    }
}

TEST_CASE("One late rank is no gradient: all wait alike, or those who do not talk with it not at all") {
  using attribute::is_gradient;
  CHECK_FALSE(is_gradient({{0, 1}, {1, 1.1}, {2, 0.95}, {3, 1.02}, {4, 1}}));
  CHECK_FALSE(is_gradient({{0, 1}, {1, 1.1}, {2, 0}, {3, 0.01}, {4, 0}, {5, 1}}));
  CHECK_FALSE(is_gradient({{0, 1}, {1, 0.5}, {2, 0.3}}));
  CHECK(is_gradient({{0, 1}, {1, 0.8}, {2, 0.6}, {3, 0.4}, {4, 0.2}, {5, 0.1}}));
  CHECK_FALSE(is_gradient({{0, 0}, {1, 0}, {2, 0}, {3, 0}}));
  // Pairs: one waits for its partner, the others' waits are noise.
  CHECK_FALSE(is_gradient({{0, 0.02}, {1, 0.03}, {2, 0.02}, {3, 0.04}, {4, 0.03}, {5, 0.02}, {6, 1}}));
}

TEST_CASE("More bytes and more work at a rank, as many messages: imbalance") {
  Exchange x;
  x.ranks = 8;
  x.edges = ring_edges(8);
  x.steps = 500;
  x.compute = [](std::int32_t r, std::int64_t) { return r == 3 ? 22 * ms : 10 * ms; };
  Run r = run(x);
  for (Message& m : r.messages)
    if (m.source == 3) m.bytes *= 4;
  const Attribution a = attribute::replay({8, r.messages, r.collectives, {}, 100 * ms, {}, {}});
  REQUIRE(!a.findings.empty());
  CHECK(a.findings[0].cause == Cause::pattern);
  CHECK(a.findings[0].detail == "imbalance");
  CHECK(a.findings[0].ranks == std::vector<std::int32_t>{3});
  CHECK(a.findings[0].advice.find("bytes") != std::string::npos);
}

TEST_CASE("A rank that sends more bytes, and others wait for its transfers: imbalance") {
  Exchange x;
  x.ranks = 8;
  x.edges = ring_edges(8);
  x.steps = 500;
  x.transfer = [](std::int32_t from, std::int32_t, std::int64_t) { return from == 3 ? 8 * ms : 300 * us; };
  Run r = run(x);
  for (Message& m : r.messages) m.bytes = m.source == 3 ? 40'000'000 : 1'500'000;
  const Attribution a = attribute::replay({8, r.messages, r.collectives, {}, 100 * ms, {}, {}});
  REQUIRE(!a.findings.empty());
  CAPTURE(a.findings[0].evidence, a.findings[0].confidence);
  CHECK(a.findings[0].cause == Cause::pattern);
  CHECK(a.findings[0].detail == "imbalance");
  CHECK(a.findings[0].ranks == std::vector<std::int32_t>{3});
}

TEST_CASE("A replay takes the place of the sums in what a finding says") {
  Finding f;
  f.begin_s = 1;
  f.end_s = 5;
  f.score = 0.3;
  f.advice = "Speed it up" + attribute::gain_by_sums(f);
  CHECK(f.advice == "Speed it up; gains up to 30 % of all ranks' time in that period.");
  WhatIf w;
  w.begin_s = 1;
  w.end_s = 5;
  w.covered = 0.5;
  w.replayed_s = 2;
  w.predicted_s = 1.5;
  w.calls = 77;
  attribute::tell_gain(f, w);
  CHECK(f.gain_s == Approx(1));
  CHECK(f.advice == "Speed it up; gains 25 % of that period (replayed).");
  REQUIRE(f.evidence.size() == 1);
  CHECK(f.evidence[0] == "replayed without it the period takes 3 s in place of 4 s (77 calls of 50 % of it)");
  w.predicted_s = 2;  // the same, of which nobody has anything, or some ranks have
  attribute::tell_gain(f, w);
  CHECK(f.advice == "Speed it up; by itself that gains nothing: other ranks come as late (replayed).");
  f.advice = "Speed it up" + attribute::gain_by_sums(f);
  w.ahead_s = 1.5;
  w.ahead_ranks = 8;
  attribute::tell_gain(f, w);
  CHECK(f.advice ==
        "Speed it up; the period would end as late all the same (replayed): others come as late, and 8 ranks would "
        "wait for them up to 1.5 s longer.");
}

TEST_CASE("That others come as late is said where their computation holds the end of what is replayed") {
  const auto told = [](double named_s, double others_s, double inside_s, double untold_s) {
    Finding f;
    f.begin_s = 1;
    f.end_s = 5;
    f.ranks = {2};
    f.advice = "Speed it up" + attribute::gain_by_sums(f);
    WhatIf w;
    w.begin_s = 1;
    w.end_s = 5;
    w.covered = 1;
    w.measured_s = w.replayed_s = w.predicted_s = 4;
    w.named_s = named_s;
    w.others_s = others_s;
    w.inside_s = inside_s;
    w.untold_s = untold_s;
    attribute::tell_gain(f, w);
    CHECK(f.gain_s == (f.advice.find("cannot be told") == std::string::npos ? 0 : -1));
    CHECK(f.evidence.empty() == (f.gain_s < 0));
    return f.advice;
  };
  CHECK(told(1, 2.5, 0.5, 0) == "Speed it up; by itself that gains nothing: other ranks come as late (replayed).");
  CHECK(told(0.5, 1, 2.5, 0) ==
        "Speed it up; by itself that gains nothing: messages and MPI's own work take as long (replayed).");
  CHECK(told(3, 0.5, 0.5, 0) ==
        "Speed it up; what that gains cannot be told: most of the period would pass in what rank 2 computes, with "
        "which nothing can be compared.");
  CHECK(told(0, 2, 0, 2) ==
        "Speed it up; what that gains cannot be told: without it 50 % of the period would pass in calls of which it is "
        "not known for whom they wait.");
}

TEST_CASE("What fixing would bring most comes first; small differences, and what is not sure, stay in order") {
  const auto finding = [](std::int32_t region, double confidence, double lost_s, double gain_s) {
    Finding f;
    f.region = region, f.confidence = confidence, f.lost_s = lost_s, f.gain_s = gain_s;
    f.begin_s = 0, f.end_s = 100;
    return f;
  };
  std::vector<Finding> findings = {finding(1, 0.9, 90, 0), finding(2, 0.9, 80, 10), finding(3, 0.8, 50, 11.5),
                                   finding(4, 0.9, 160, -1), finding(5, 0.4, 900, 90)};
  attribute::order_by_gain(findings, 8);
  std::vector<std::int32_t> order;
  for (const Finding& f : findings) order.push_back(f.region);
  CHECK(order == std::vector<std::int32_t>{4, 2, 3, 1, 5});
}
