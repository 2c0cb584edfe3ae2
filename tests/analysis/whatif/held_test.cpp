// Waits for the receivers of sends: programs whose times are computed by hand, replayed with other computation, and
// compared with what the same program takes that really computes that.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdlib>
#include <random>

#include "tests/analysis/whatif/replaying.hpp"

using namespace pclscope;
using namespace pclscope::test;
using pclscope::whatif::Graph;

namespace {

enum class Sends : std::uint8_t {
  copied,    // over at once
  freed,     // when the receiver is in MPI next
  told,      // when the receive is posted; the record says so
  preposted  // as freed; receives are posted a step before
};

struct Ring {
  int ranks = 4, steps = 40;
  Sends sends = Sends::copied;
  bool both_ways = false;
  std::uint64_t bytes = 512;
  std::uint32_t flags = record::flag::nonblocking;
  std::int32_t slow = 1;
  std::int64_t slow_ns = 40 * ms, work_ns = 10 * ms;
  std::uint32_t seed = 1;
};

struct Made {
  std::vector<Message> messages;
  std::vector<CollectiveCall> calls;
  std::int64_t end = 0;
};

// Each step: computation, Irecv, Isend, Waitall. Costs: 1 us a call, 20 us a transfer.
Made run(const Ring& ring) {
  constexpr std::int64_t transfer = 20 * us;
  const auto n = static_cast<std::size_t>(ring.ranks);
  std::mt19937 random(ring.seed);
  std::uniform_int_distribution<std::int64_t> noise(0, ring.work_ns / 10);
  struct Step {
    std::int64_t post = 0, send = 0, wait = 0, end = 0, early_post = 0;
  };
  std::vector<std::vector<Step>> of(n, std::vector<Step>(static_cast<std::size_t>(ring.steps)));
  Made made;
  for (std::int32_t r = 0; r < ring.ranks; ++r) {
    CollectiveCall c;
    c.comm = 1, c.rank = r, c.shape = CollectiveShape::all_to_all, c.end = us;
    made.calls.push_back(c);
  }
  std::vector<std::int64_t> now(n, us);
  for (std::size_t i = 0; i < static_cast<std::size_t>(ring.steps); ++i) {
    for (std::size_t r = 0; r < n; ++r) {
      Step& s = of[r][i];
      const std::int64_t work =
          (static_cast<std::int32_t>(r) == ring.slow ? ring.slow_ns : ring.work_ns) + noise(random);
      s.early_post = i == 0 ? now[r] : of[r][i - 1].end + us;
      s.post = now[r] + work;
      s.send = s.post + us;
      s.wait = s.send + us;
    }
    for (std::size_t r = 0; r < n; ++r) {
      Step& s = of[r][i];
      s.end = s.wait + us;
      for (const std::size_t by : {std::size_t{1}, n - 1}) {
        if (by != 1 && !ring.both_ways) continue;
        const std::size_t to = (r + by) % n, from = (r + n - by) % n;
        s.end = std::max(s.end, of[from][i].send + transfer);
        if (ring.sends == Sends::copied) continue;
        std::int64_t held = ring.sends == Sends::told ? of[to][i].post : 0;
        if (ring.sends != Sends::told) {
          // The receiver's visits to MPI: from its first call of a step to the end of that step.
          std::size_t j = 0;
          while (j < i && of[to][j].end < s.send) ++j;
          held = of[to][j].post;
        }
        if (held > s.send) s.end = std::max(s.end, held + 3 * us);
      }
    }
    for (std::size_t r = 0; r < n; ++r) {
      now[r] = of[r][i].end + (ring.sends == Sends::preposted ? 2 * us : 0);
      made.end = std::max(made.end, of[r][i].end);
    }
  }
  for (std::size_t i = 0; i < static_cast<std::size_t>(ring.steps); ++i)
    for (std::size_t r = 0; r < n; ++r)
      for (const std::size_t by : {std::size_t{1}, n - 1}) {
        if (by != 1 && !ring.both_ways) continue;
        const std::size_t to = (r + by) % n;
        Message m;
        m.source = static_cast<std::int32_t>(r), m.destination = static_cast<std::int32_t>(to);
        m.comm = 1, m.bytes = ring.bytes, m.flags = ring.flags, m.tag = static_cast<std::int32_t>(by);
        m.send_begin = of[r][i].send, m.send_end = m.send_begin + us;
        m.recv_post = ring.sends == Sends::preposted ? of[to][i].early_post : of[to][i].post;
        m.recv_wait = of[to][i].wait, m.recv_end = of[to][i].end;
        made.messages.push_back(m);
        if (ring.sends != Sends::told || m.recv_post <= of[r][i].wait || m.recv_post > of[r][i].end) continue;
        CollectiveCall c;
        c.comm = 1, c.rank = m.source, c.awaited = m.destination, c.shape = CollectiveShape::send;
        c.begin = of[r][i].wait, c.end = of[r][i].end, c.awaited_begin = m.recv_post;
        made.calls.push_back(c);
      }
  return made;
}

// What the replay says of `slow` when its long rank computes as long as others.
std::int64_t replayed_without(const Made& slow, const Ring& ring) {
  const Graph g(ring.ranks, slow.messages, slow.calls);
  std::vector<std::int64_t> gaps = gaps_of(g);
  REQUIRE(replayed(g, gaps).end == last_end(g));
  std::uint32_t shorter = 0;
  for (std::uint32_t c = g.first(ring.slow); c < g.end(ring.slow); ++c)
    if (gaps[c] >= ring.slow_ns - ms) gaps[c] -= ring.slow_ns - ring.work_ns, ++shorter;
  REQUIRE(shorter == static_cast<std::uint32_t>(ring.steps));
  return replayed(g, gaps).end;
}

}  // namespace

TEST_CASE("A ring without its slow rank is replayed as it then runs, however its sends end") {
  Ring ring;
  ring.sends = GENERATE(Sends::copied, Sends::freed, Sends::told, Sends::preposted);
  ring.both_ways = GENERATE(false, true);
  ring.flags = GENERATE(record::flag::nonblocking, record::flag::persistent);
  ring.bytes = GENERATE(16, 512, 4000, 1'000'000);
  ring.ranks = GENERATE(4, 7);
  ring.seed = GENERATE(1, 2, 3);
  CAPTURE(static_cast<int>(ring.sends), ring.both_ways, ring.flags, ring.bytes, ring.ranks, ring.seed);
  Ring fixed = ring;
  fixed.slow_ns = ring.work_ns;
  const std::int64_t really = run(fixed).end, predicted = replayed_without(run(ring), ring);
  CHECK(std::abs(predicted - really) <= really / 50);
}
