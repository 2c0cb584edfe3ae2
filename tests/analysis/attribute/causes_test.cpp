// Planted causes: the first finding names them, their ranks and their period.
#include <catch2/catch.hpp>
#include <cmath>

#include "analysis/attribute/replay.hpp"
#include "tests/analysis/attribute/exchange.hpp"
#include "tests/analysis/delay/programs.hpp"

using namespace pclscope;
using namespace pclscope::test;

namespace {

Attribution findings(const Exchange& x, std::function<std::optional<attribute::BetterMapping>()> mapping = {},
                     std::function<void(std::int64_t, const Attribution&)> watch = {}) {
  const Run r = run(x);
  return attribute::replay(
      {x.ranks, r.messages, r.collectives, x.nodes, 100 * ms, std::move(mapping), std::move(watch)});
}

Exchange ring_of(std::int32_t ranks, std::uint32_t seed = 1) {
  Exchange x;
  x.ranks = ranks;
  x.edges = ring_edges(ranks);
  x.seed = seed;
  x.steps = 800;  // 8 s and more
  return x;
}

std::vector<std::int32_t> blocks(std::int32_t ranks, std::int32_t nodes) {
  std::vector<std::int32_t> of(static_cast<std::size_t>(ranks));
  for (std::int32_t r = 0; r < ranks; ++r) of[static_cast<std::size_t>(r)] = r * nodes / ranks;
  return of;
}

constexpr double slice_s = 0.5;
bool quiet(const Finding& f) { return f.cause == Cause::none || f.cause == Cause::unknown; }

}  // namespace

TEST_CASE("A healthy run: nothing to name, whatever the number of ranks, noise and collectives") {
  for (const std::int32_t ranks : {2, 3, 4, 12, 40})
    for (const double jitter : {0.005, 0.05, 0.2})
      for (const bool allreduce : {false, true}) {
        Exchange x = ring_of(ranks, static_cast<std::uint32_t>(ranks));
        x.jitter = jitter;
        x.allreduce = allreduce;
        x.nodes = blocks(ranks, 2);
        const Attribution a = findings(x);
        CAPTURE(ranks, jitter, allreduce);
        REQUIRE(!a.findings.empty());
        CAPTURE(static_cast<int>(a.findings[0].cause), a.findings[0].detail, a.findings[0].confidence,
                a.findings[0].score);
        CHECK(quiet(a.findings[0]));
        for (const Finding& f : a.findings) CHECK((quiet(f) || f.confidence <= 0.5));
      }
}

TEST_CASE("A rank that is late because it was off its core: said so, and no line of code is blamed") {
  Exchange x = ring_of(4);
  x.compute = [](std::int32_t r, std::int64_t) { return r == 2 ? 20 * ms : 10 * ms; };
  const Run r = run(x);
  const auto first = [&](std::span<const OffCoreSpan> off_core) {
    return attribute::replay({4, r.messages, r.collectives, {}, 100 * ms, {}, {}, {}, off_core}).findings.at(0);
  };
  const Finding computed = first({});
  REQUIRE(computed.cause == Cause::late_sender);
  CHECK(computed.detail == "computation");
  CHECK(computed.site != 0);
  const auto told_of = [](const Finding& f) {
    return std::find_if(f.evidence.begin(), f.evidence.end(),
                        [](const std::string& sentence) { return sentence.find("off its core") != std::string::npos; });
  };
  CHECK(told_of(computed) == computed.evidence.end());
  // Half of its time: all of what others waited.
  std::vector<OffCoreSpan> spans;
  for (std::int64_t t = 0; t < 30 * s_ns; t += 100 * ms) spans.push_back({2, t, t + 100 * ms, 48 * ms});
  const Finding off = first(spans);
  CHECK(off.cause == Cause::late_sender);
  CHECK(off.ranks == computed.ranks);
  CHECK(off.detail == "off the core");
  CHECK(off.site == 0);
  CHECK(off.confidence == Approx(computed.confidence));
  REQUIRE(told_of(off) != off.evidence.end());
  CHECK(*told_of(off) == "rank 2 was runnable but off its core 48 % of that time, outside MPI");
  // A little of it: told, but it is the code.
  for (OffCoreSpan& span : spans) span.off_ns = 8 * ms;
  const Finding little = first(spans);
  CHECK(little.detail == "computation");
  CHECK(little.site == computed.site);
  CHECK(told_of(little) != little.evidence.end());
}

TEST_CASE("Time inside MPI that is no known wait: unknown, and says how much") {
  const Exchange x = ring_of(4);
  const Run r = run(x);
  double inside_s = 0;
  const auto first = [&] {
    const auto of_rank = [&](std::int32_t) { return attribute::Computing::Inside{inside_s / 4, 1}; };
    return attribute::replay({4, r.messages, {}, {}, 100 * ms, {}, {}, of_rank}).findings.at(0);
  };
  REQUIRE(first().cause == Cause::none);
  const double all_s = 4 * (first().end_s - first().begin_s);
  inside_s = 0.15 * all_s;
  CHECK(first().cause == Cause::none);
  inside_s = 0.6 * all_s;
  CHECK(first().cause == Cause::unknown);
  CHECK(first().confidence <= 0.5);
  REQUIRE(first().evidence.size() == 2);
  CHECK(std::abs(std::stod(first().evidence[1]) - 60) < 5);
}

TEST_CASE("A slow rank, part of the run: late sender, the rank, and the period within a slice; named within 3 s") {
  for (const std::int32_t ranks : {2, 4, 12, 40})
    for (const bool allreduce : {false, true}) {
      Exchange x = ring_of(ranks);
      x.allreduce = allreduce;
      const std::int32_t slow = ranks / 3;
      const double from_s = 2.2, to_s = 5.3;
      x.compute = [=](std::int32_t r, std::int64_t now) {
        const bool acts = r == slow && now >= from_s * s_ns && now < to_s * s_ns;
        return acts ? 20 * ms : 10 * ms;
      };
      double named_s = 0;
      const Attribution a = findings(x, {}, [&](std::int64_t now, const Attribution& live) {
        if (named_s == 0 && !live.findings.empty() && live.findings[0].cause == Cause::late_sender &&
            live.findings[0].open)
          named_s = static_cast<double>(now) * 1e-9;
      });
      CAPTURE(ranks, allreduce);
      REQUIRE(!a.findings.empty());
      const Finding& f = a.findings[0];
      CAPTURE(f.detail, f.confidence, f.begin_s, f.end_s, f.score);
      CHECK(f.cause == Cause::late_sender);
      CHECK(f.confidence > 0.5);
      CHECK(f.ranks == std::vector<std::int32_t>{slow});
      CHECK(f.begin_s == Approx(from_s).margin(slice_s));
      CHECK(f.end_s == Approx(to_s).margin(slice_s));
      // All others wait 10 of 20 ms. (In a ring it takes `ranks` / 2 steps until it has come to all.)
      CHECK(f.score == Approx(0.5 * (ranks - 1) / ranks).epsilon(0.2));
      CHECK(f.lost_s == Approx(f.score * ranks * (f.end_s - f.begin_s)).epsilon(1e-6));
      CHECK(f.site == 2);
      CHECK(named_s > from_s);
      CHECK(named_s < from_s + 3);
    }
}

TEST_CASE("More messages and more work at some ranks: imbalance, those ranks") {
  Exchange x = ring_of(12);
  const auto heavy = [](std::int32_t r) { return r == 3 || r == 8; };
  x.compute = [=](std::int32_t r, std::int64_t) { return heavy(r) ? 30 * ms : 10 * ms; };
  x.copies = [=](std::int32_t r) { return heavy(r) ? 3 : 1; };
  x.steps = 300;
  const Attribution a = findings(x);
  REQUIRE(!a.findings.empty());
  CHECK(a.findings[0].cause == Cause::pattern);
  CHECK(a.findings[0].detail == "imbalance");
  std::vector<std::int32_t> ranks = a.findings[0].ranks;
  std::sort(ranks.begin(), ranks.end());
  CHECK(ranks == std::vector<std::int32_t>{3, 8});
}

TEST_CASE("More work at some ranks, equal messages: late sender") {
  Exchange x = ring_of(12);
  x.compute = [](std::int32_t r, std::int64_t) { return r == 5 ? 25 * ms : 10 * ms; };
  x.steps = 300;
  const Attribution a = findings(x);
  REQUIRE(!a.findings.empty());
  CHECK(a.findings[0].cause == Cause::late_sender);
  CHECK(a.findings[0].ranks[0] == 5);
}

TEST_CASE("Only collectives, and each time another rank is late: collective wait; always the same: that rank") {
  for (const bool same : {false, true}) {
    Exchange x;
    x.ranks = 8;
    x.allreduce = true;
    std::mt19937 random(7);
    std::int32_t late = 0;
    std::int64_t step_of = -1;
    x.compute = [&](std::int32_t r, std::int64_t now) {
      if (now != step_of) {
        step_of = now;
        late = same ? 3 : static_cast<std::int32_t>(random() % 8);
      }
      return r == late ? 16 * ms : 10 * ms;
    };
    const Attribution a = findings(x);
    REQUIRE(!a.findings.empty());
    const Finding& f = a.findings[0];
    CAPTURE(same, f.detail, f.confidence);
    CHECK(f.cause == Cause::collective_wait);
    CHECK(f.confidence > 0.5);
    CHECK(f.ranks == (same ? std::vector<std::int32_t>{3} : std::vector<std::int32_t>{}));
    CHECK(f.score == Approx(6.0 / 16 * 7 / 8).epsilon(0.1));
  }
}

TEST_CASE("A token that goes round: chain, in its order") {
  Setting setting;
  setting.steps = 60;
  setting.compute_ns = 10 * ms;
  setting.noise = 0.05;
  const Program program = ring(8, setting);
  const Outcome o = simulate(program);
  const Attribution a = attribute::replay({8, o.messages, o.collectives, {}, 100 * ms, {}, {}});
  REQUIRE(!a.findings.empty());
  const Finding& f = a.findings[0];
  CHECK(f.cause == Cause::pattern);
  CHECK(f.detail == "chain");
  REQUIRE(f.ranks.size() == 8);
  for (std::size_t i = 1; i < 8; ++i) CHECK(f.ranks[i] == (f.ranks[i - 1] + 1) % 8);
  CHECK(f.score == Approx(7.0 / 8).epsilon(0.1));
}

TEST_CASE("A slow master that all workers wait for: many to one") {
  Program p(9);
  for (int step = 0; step < 200; ++step) {
    for (int r = 1; r < 9; ++r) {
      p.compute(r, 2 * ms);
      p.call(r, K::send, site::send, 0, 1);
    }
    for (int r = 1; r < 9; ++r) {
      p.call(0, K::recv, site::result_recv, r, 1);
      p.compute(0, 3 * ms);
      p.call(0, K::send, site::task_send, r);
    }
    for (int r = 1; r < 9; ++r) p.call(r, K::recv, site::recv, 0);
  }
  const Outcome o = simulate(p);
  const Attribution a = attribute::replay({9, o.messages, o.collectives, {}, 100 * ms, {}, {}});
  REQUIRE(!a.findings.empty());
  CHECK(a.findings[0].cause == Cause::pattern);
  CHECK(a.findings[0].detail == "many to one");
  CHECK(a.findings[0].ranks == std::vector<std::int32_t>{0});
  CHECK(a.findings[0].confidence > 0.5);
  CHECK(a.findings[0].advice.starts_with("Speed up what rank 0 does for each message"));
}

TEST_CASE("Synchronous sends to ranks that compute before they receive: late receiver") {
  Program p(8);
  for (int step = 0; step < 300; ++step)
    for (int r = 0; r < 8; r += 2) {
      p.compute(r, 4 * ms);
      p.call(r, K::ssend, site::ssend, r + 1);
      p.compute(r + 1, r == 2 ? 10 * ms : 4 * ms);
      p.call(r + 1, K::recv, site::recv, r);
    }
  const Outcome o = simulate(p);
  const Attribution a = attribute::replay({8, o.messages, o.collectives, {}, 100 * ms, {}, {}});
  REQUIRE(!a.findings.empty());
  CHECK(a.findings[0].cause == Cause::late_receiver);
  CHECK(a.findings[0].ranks == std::vector<std::int32_t>{3});
  CHECK(a.findings[0].confidence > 0.5);
}

TEST_CASE("A link that is slow for a time: background, the link first, and the period within a slice") {
  for (const std::uint32_t seed : {1u, 2u, 3u}) {
    Exchange x = ring_of(12, seed);
    x.nodes = blocks(12, 3);
    std::mt19937 random(seed);
    std::exponential_distribution<double> tail(1);
    x.transfer = [&](std::int32_t from, std::int32_t to, std::int64_t now) {
      const std::int32_t a = x.nodes[static_cast<std::size_t>(from)], b = x.nodes[static_cast<std::size_t>(to)];
      const auto usual = static_cast<std::int64_t>((a == b ? 20e3 : 100e3) * (1 + tail(random)));
      return a == 2 && b == 0 && now >= 3 * s_ns && now < 5.4 * s_ns ? 60 * usual : usual;
    };
    const Attribution a = findings(x);
    REQUIRE(!a.findings.empty());
    const Finding& f = a.findings[0];
    CAPTURE(seed, f.detail, f.confidence, f.begin_s, f.end_s, static_cast<int>(f.cause));
    CHECK(f.cause == Cause::background);
    CHECK(f.confidence > 0.5);
    REQUIRE(f.nodes.size() >= 2);
    CHECK(f.nodes[0] == 2);
    CHECK(f.nodes[1] == 0);
    CHECK(f.begin_s == Approx(3).margin(slice_s));
    CHECK(f.end_s == Approx(5.4).margin(slice_s));
    REQUIRE(!a.transfer_lines.empty());
    CHECK_FALSE(a.transfer_lines[0].calm);
    CHECK(a.transfer_lines[0].bytes_low == 4096);
  }
}

TEST_CASE("Neighbours on other nodes, and a better placement: mapping, with the counts before and after") {
  Exchange x = ring_of(12);
  for (std::int32_t r = 0; r < 12; ++r) x.nodes.push_back(r % 3);  // no neighbour on the own node
  x.transfer = [](auto, auto, auto) { return 3 * ms; };
  const auto look = [&] {
    mapping::Traffic traffic;
    traffic.ranks = 12;
    for (const auto& [a, b] : x.edges) {
      traffic.flows.push_back({a, b, 800, 800.0 * 4096});
      traffic.flows.push_back({b, a, 800, 800.0 * 4096});
    }
    return attribute::better_mapping(traffic, x.nodes, 3, 1);
  };
  const auto better = look();
  REQUIRE(better);
  CHECK(better->messages_before == 24 * 800);
  CHECK(better->messages_after == 6 * 800);  // three cuts of the ring, both ways
  const Attribution a = findings(x, look);
  REQUIRE(!a.findings.empty());
  CHECK(a.findings[0].cause == Cause::mapping);
  CHECK(a.findings[0].confidence > 0.5);
  REQUIRE(a.findings[0].evidence.size() >= 2);
  CHECK(a.findings[0].evidence[1].find("19200 to 4800") != std::string::npos);
  // The same run, well placed: nothing better, so no finding.
  x.nodes = blocks(12, 3);
  const Attribution good = findings(x, look);
  for (const Finding& f : good.findings) CHECK(f.cause != Cause::mapping);
}

TEST_CASE("One long stall of one rank is named when it costs much of the run, and said to be one") {
  const std::int64_t stall = GENERATE(300 * ms, 4000 * ms);
  Exchange x = ring_of(8);
  bool done = false;
  x.compute = [&](std::int32_t r, std::int64_t now) {
    if (r != 2 || now < 3 * s_ns || done) return 10 * ms;
    done = true;
    return stall;
  };
  const Attribution a = findings(x);
  if (stall < 1000 * ms) {
    for (const Finding& f : a.findings) CHECK((quiet(f) || f.confidence <= 0.5));
    return;
  }
  REQUIRE(!a.findings.empty());
  const Finding& f = a.findings[0];
  CHECK(f.cause == Cause::late_sender);
  CHECK(f.ranks == std::vector<std::int32_t>{2});
  CAPTURE(f.evidence);
  CHECK((f.confidence > 0.5 && f.confidence < 0.8));
  CHECK(std::any_of(f.evidence.begin(), f.evidence.end(),
                    [](const std::string& e) { return e.starts_with("it happened once or a few times"); }));
}

TEST_CASE("Two causes at different times are both told, the dearer one first") {
  Exchange x = ring_of(12);
  x.nodes = blocks(12, 3);
  x.steps = 900;
  x.compute = [](std::int32_t r, std::int64_t now) {
    return r == 4 && now >= 1 * s_ns && now < 3 * s_ns ? 15 * ms : 10 * ms;
  };
  x.transfer = [&](std::int32_t from, std::int32_t, std::int64_t now) {
    const bool between = x.nodes[static_cast<std::size_t>(from)] == 1;
    return between && from == 7 && now >= 6 * s_ns && now < 9 * s_ns ? 20 * ms : 60 * us;
  };
  const Attribution a = findings(x);
  REQUIRE(a.findings.size() >= 2);
  const bool first = a.findings[0].cause == Cause::late_sender;
  const Finding &late = a.findings[first ? 0 : 1], &link = a.findings[first ? 1 : 0];
  CHECK(late.cause == Cause::late_sender);
  CHECK(late.ranks == std::vector<std::int32_t>{4});
  CHECK(late.begin_s == Approx(1).margin(slice_s));
  CHECK(late.end_s == Approx(3).margin(slice_s));
  CHECK(link.cause == Cause::background);
  CHECK(link.begin_s == Approx(6).margin(slice_s));
  CHECK(link.end_s == Approx(9).margin(slice_s));
  CHECK(late.confidence > 0.5);
  CHECK(link.confidence > 0.5);
  CHECK(a.findings[0].lost_s > a.findings[1].lost_s);
}
