// Waits that are longer than what is known call by call: groups that hardly depend on each other, and all wait at the
// end for the slowest rank of one of them.
#include "analysis/delay/history.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <random>

#include "analysis/delay/delays.hpp"
#include "tests/analysis/delay/programs.hpp"

using namespace pclscope;
using namespace pclscope::test;

namespace {

constexpr int groups = 4, each = 4, all_ranks = groups * each, slow_rank = 5;
constexpr std::int64_t microsecond = 1000;

// Rings of four; from `first` on rank 5 computes two milliseconds longer per step.
Program independent_rings(int steps, int first, double noise) {
  Program p(all_ranks);
  std::mt19937 random(3);
  std::normal_distribution<double> normal;
  for (int step = 0; step < steps; ++step)
    for (int r = 0; r < all_ranks; ++r) {
      const int base = r / each * each, place = r % each;
      p.compute(r, static_cast<std::int64_t>(1000.0 * static_cast<double>(microsecond) * (1 + noise * normal(random))) +
                       (r == slow_rank && step >= first ? 2000 * microsecond : 0));
      for (const bool sending : {false, true})
        for (const int by : {-1, 1}) {
          const int other = base + (place + (sending ? by : -by) + each) % each;
          p.call(r, sending ? K::isend : K::irecv, sending ? site::isend : site::irecv, other, by > 0);
        }
      p.call(r, K::waitall, site::irecv);
    }
  for (int r = 0; r < all_ranks; ++r) p.call(r, K::allreduce, site::allreduce);
  return p;
}

struct Found {
  double slow_s = 0, others_s = 0;
  DelayTotals totals;
};

Found found_in(const Outcome& o, std::size_t look_back, std::int64_t window_ns) {
  DelayOptions options;
  options.look_back = look_back;
  Delays delays(all_ranks, options);
  const std::int64_t end = *std::max_element(o.end_ns.begin(), o.end_ns.end());
  for (std::int64_t from = 0; from <= end; from += window_ns) {
    std::vector<Message> messages;
    std::vector<CollectiveCall> calls;
    const auto in = [&](std::int64_t t) { return t >= from && t < from + window_ns; };
    std::copy_if(o.messages.begin(), o.messages.end(), std::back_inserter(messages),
                 [&](const Message& m) { return in(m.recv_end); });
    std::copy_if(o.collectives.begin(), o.collectives.end(), std::back_inserter(calls),
                 [&](const CollectiveCall& c) { return in(c.end); });
    delays.add(messages, calls, from + window_ns);
  }
  delays.finish();
  Found f;
  for (const DelayOrigin& d : delays.list(1000)) (d.rank == slow_rank ? f.slow_s : f.others_s) += d.cost_s;
  f.totals = delays.totals();
  return f;
}

RankCall waited_call(std::int64_t begin, std::int64_t end, std::int64_t wait_end, std::uint32_t site) {
  RankCall c;
  c.begin = begin, c.end = end, c.wait_end = wait_end, c.site = site, c.kind = RankCall::Kind::completion;
  return c;
}

}  // namespace

TEST_CASE("Who waits long for a rank of another group waits for whom that rank waited for") {
  for (const double noise : {0.0, 0.1}) {
    const Outcome o = simulate(independent_rings(800, 200, noise));
    for (const std::size_t look_back : {64, 256})
      for (const std::int64_t window_ns : {20'000 * microsecond, 10'000'000 * microsecond}) {
        CAPTURE(noise, look_back, window_ns);
        const Found f = found_in(o, look_back, window_ns);
        CHECK(f.totals.attributed_s + f.totals.inside_mpi_s + f.totals.unknown_s ==
              Approx(f.totals.waited_s).epsilon(1e-6));
        // 12 all_ranks for some 1.2 s, and its own group all along.
        CHECK(f.totals.waited_s > 12 * 1.1);
        CHECK(f.slow_s > 0.95 * f.totals.waited_s - (noise > 0 ? 0.1 * f.totals.waited_s : 0));
        CHECK(f.others_s < (noise > 0 ? 0.1 : 0.02) * f.totals.waited_s);
      }
  }
}

TEST_CASE("A history has the sums of its calls, however often its stretches were joined") {
  std::mt19937 random(1);
  History history;
  std::int64_t now = 0, waited = 0, inside = 0, computed = 0;
  double to_origin = 0;
  for (int i = 0; i < 50'000; ++i) {
    const std::int64_t gap = random() % 1000, wait = random() % 500, more = random() % 100;
    const Blame blame{7, 0.5f, now};
    if (i > 0) computed += gap;
    waited += wait;
    inside += more;
    to_origin += static_cast<double>(wait) * 0.5;
    history.add(waited_call(now + gap, now + gap + wait + more, now + gap + wait, 1 + random() % 3), {&blame, 1}, 8);
    now += gap + wait + more;
    REQUIRE(history.stretches().size() <= 8);
  }
  CHECK(history.end_ns() == now);
  std::int64_t w = 0, in = 0, c = 0, at = history.begin_ns();
  double parts = 0;
  for (const Stretch& s : history.stretches()) {
    CHECK(s.begin_ns == at);
    at = s.end_ns;
    w += s.waited_ns;
    in += s.inside_ns;
    std::int64_t phases = 0;
    for (const Stretch::Phase& p : s.phases) phases += p.ns;
    CHECK(phases + s.waited_ns + s.inside_ns == s.end_ns - s.begin_ns);
    c += phases;
    for (const Stretch::Part& p : s.parts) parts += p.ns;
  }
  CHECK(w == waited);
  CHECK(in == inside);
  CHECK(c == computed);
  CHECK(parts == Approx(to_origin));
  history.renumber(std::vector<std::uint32_t>(8, 3));
  CHECK(history.stretches()[0].parts[0].blame.origin == 3);
}

TEST_CASE("A receive that was posted before what is forgotten is not put in front of what is known") {
  CallsOfRanks calls(2);
  const auto message = [](std::int64_t at, std::int64_t post) {
    Message m;
    m.source = 0, m.destination = 1, m.bytes = 8;
    m.send_begin = at, m.send_end = at + 10;
    m.recv_post = post, m.recv_wait = at + 20, m.recv_end = at + 30;
    return m;
  };
  for (std::int64_t at = 0; at < 1'000'000; at += 1000) calls.add(message(at, at + 5));
  calls.settle(0, nullptr);
  calls.forget(1'000'000, 64, [](std::uint32_t) { return std::span<const Blame>(); });
  const CallsOfRanks::Rank& receiver = calls.ranks()[1];
  REQUIRE(!receiver.history.empty());
  const std::size_t known = receiver.calls.size();
  calls.add(message(1'000'000, 15));
  calls.settle(0, nullptr);
  CHECK(receiver.calls.size() == known + 1);  // its completion alone
  CHECK(receiver.calls.front().begin >= receiver.history.end_ns());
  CHECK(receiver.calls.back().begin == 1'000'020);
}
