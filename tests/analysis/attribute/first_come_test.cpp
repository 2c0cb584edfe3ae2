// Ranks that take messages as they come: a master of tasks waits for nobody in particular, an exchange does.
#include <algorithm>
#include <catch2/catch.hpp>
#include <functional>
#include <random>

#include "analysis/attribute/replay.hpp"
#include "interpose/record/event.hpp"
#include "tests/analysis/attribute/exchange.hpp"
#include "tests/thinned.hpp"

using namespace pclscope;
using namespace pclscope::test;

namespace {

namespace flag = record::flag;

bool quiet(const Finding& f) { return f.cause == Cause::none || f.cause == Cause::unknown; }

// Rank 0 gives a task to each worker, and the next one to whoever has answered.
Run farm(std::int32_t ranks, std::int64_t length_ns, const std::function<std::int64_t(std::int32_t worker)>& task) {
  Run out;
  struct Worker {
    std::int64_t sent = 0, waits_from = 0;
  };
  std::vector<Worker> workers(static_cast<std::size_t>(ranks));
  const auto give = [&](std::int32_t to, std::int64_t now) {
    Worker& w = workers[static_cast<std::size_t>(to)];
    Message m;
    m.source = 0, m.destination = to;
    m.bytes = 64;
    m.send_begin = now, m.send_end = now + us;
    m.recv_post = m.recv_wait = w.waits_from;
    m.recv_end = std::max(m.send_end, w.waits_from) + 2 * us;
    m.send_site = 1, m.recv_site = 2;
    out.messages.push_back(m);
    w.sent = m.recv_end + task(to);
  };
  std::int64_t now = ms;
  for (std::int32_t r = 1; r < ranks; ++r, now += 2 * us) give(r, now);
  while (now < length_ns) {
    const auto first =
        std::min_element(workers.begin() + 1, workers.end(), [](auto& a, auto& b) { return a.sent < b.sent; });
    const auto rank = static_cast<std::int32_t>(first - workers.begin());
    Message m;
    m.source = rank, m.destination = 0;
    m.flags = flag::first_come;
    m.bytes = 64;
    m.send_begin = first->sent, m.send_end = m.send_begin + us;
    m.recv_post = m.recv_wait = now;
    m.recv_end = std::max(m.send_end, now) + us;
    m.send_site = 3, m.recv_site = 4;
    out.messages.push_back(m);
    first->waits_from = m.send_end;
    now = m.recv_end + us;
    give(rank, now);
    now += 2 * us;
  }
  out.end_ns = now;
  return out;
}

// As run(): compute, send to all partners; then a blocking receive with MPI_ANY_SOURCE for each.
Run any_exchange(const Exchange& x) {
  Run out;
  std::vector<Message> messages;
  const auto n = static_cast<std::size_t>(x.ranks);
  std::mt19937 random(x.seed);
  std::uniform_real_distribution<double> noise(-x.jitter, x.jitter);
  std::vector<std::int64_t> now(n, ms), sent(n);
  for (int step = 0; step < x.steps; ++step) {
    for (std::size_t r = 0; r < n; ++r)
      sent[r] =
          now[r] + static_cast<std::int64_t>(static_cast<double>(x.compute(static_cast<std::int32_t>(r), now[r])) *
                                             (1 + noise(random)));
    for (std::size_t r = 0; r < n; ++r) {
      std::vector<std::size_t> partners;
      for (const auto& [a, b] : x.edges) {
        if (static_cast<std::size_t>(a) == r) partners.push_back(static_cast<std::size_t>(b));
        if (static_cast<std::size_t>(b) == r) partners.push_back(static_cast<std::size_t>(a));
      }
      std::sort(partners.begin(), partners.end(), [&](std::size_t a, std::size_t b) { return sent[a] < sent[b]; });
      now[r] = sent[r] + 2 * us;
      for (const std::size_t from : partners) {
        Message m;
        m.source = static_cast<std::int32_t>(from), m.destination = static_cast<std::int32_t>(r);
        m.flags = flag::first_come;
        m.bytes = x.bytes;
        m.send_begin = sent[from], m.send_end = sent[from] + us;
        m.recv_post = m.recv_wait = now[r];
        m.recv_end = std::max(now[r], m.send_end) + us;
        m.send_site = 2, m.recv_site = 1;
        now[r] = m.recv_end + us;
        messages.push_back(m);
      }
    }
  }
  out.messages = std::move(messages);
  return out;
}

Attribution findings(std::int32_t ranks, const Run& r) {
  return attribute::replay({ranks, r.messages, r.collectives, {}, 100 * ms, {}, {}});
}

}  // namespace

TEST_CASE("A master of tasks waits for whoever is first: nobody is named, whatever tasks take") {
  for (const std::int32_t ranks : {3, 4, 5, 8, 16, 100})
    for (const int kind : {0, 1, 2, 3}) {
      std::mt19937 random(static_cast<std::uint32_t>(ranks + kind));
      const auto task = [&](std::int32_t worker) -> std::int64_t {
        const std::int64_t usual = 5 * ms;
        switch (kind) {
          case 0: return usual;  // in step: one of them is always first
          case 1: return std::uniform_int_distribution<std::int64_t>(usual / 2, 2 * usual)(random);
          case 2: return worker == 2 ? 4 * usual : usual;  // it is given fewer
          default: return usual + worker * 37 * us;
        }
      };
      const Run tasks = farm(ranks, test::thinned(8, 3) * s_ns, task);
      const Attribution a = findings(ranks, tasks);
      CAPTURE(ranks, kind);
      REQUIRE(!a.findings.empty());
      CAPTURE(static_cast<int>(a.findings[0].cause), a.findings[0].ranks, a.findings[0].confidence,
              a.findings[0].score);
      CHECK(quiet(a.findings[0]));
      for (const Finding& f : a.findings) CHECK((quiet(f) || f.confidence <= 0.5));
      if (ranks <= 8 && a.findings[0].cause == Cause::unknown)
        CHECK(std::any_of(a.findings[0].evidence.begin(), a.findings[0].evidence.end(),
                          [](const std::string& e) { return e.find("came first") != std::string::npos; }));
    }
}

TEST_CASE("An exchange that takes messages as they come: the slow rank is named all the same") {
  for (const std::int32_t ranks : {4, 8, 12, 40})
    for (const std::uint32_t seed : {1u, 2u, 3u}) {
      Exchange x;
      x.ranks = ranks;
      x.edges = ring_edges(ranks);
      x.steps = 500;
      x.seed = seed;
      const std::int32_t slow = static_cast<std::int32_t>(seed) % ranks;
      x.compute = [=](std::int32_t r, std::int64_t) { return r == slow ? 20 * ms : 10 * ms; };
      const Attribution a = findings(ranks, any_exchange(x));
      CAPTURE(ranks, seed);
      REQUIRE(!a.findings.empty());
      const Finding& f = a.findings[0];
      CAPTURE(f.detail, f.ranks, f.confidence, f.score);
      CHECK(f.cause == Cause::late_sender);
      CHECK(f.ranks == std::vector<std::int32_t>{slow});
      CHECK(f.confidence > 0.5);
      CHECK(f.site == 2);
    }
}

TEST_CASE("Two ranks: a receive with MPI_ANY_SOURCE has one to wait for") {
  const Attribution a = findings(2, farm(2, 8 * s_ns, [](auto) { return 5 * ms; }));
  REQUIRE(!a.findings.empty());
  CHECK(a.findings[0].cause == Cause::late_sender);
  CHECK(a.findings[0].ranks == std::vector<std::int32_t>{1});
}
