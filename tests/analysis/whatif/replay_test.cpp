// Graphs worked out on paper.
#include <catch2/catch.hpp>

#include "tests/analysis/whatif/replaying.hpp"

using namespace pclscope;
using namespace pclscope::test;
using whatif::Graph;

namespace {

// The replay with `ns` less computation before the rank's call.
std::int64_t with_less(const Graph& g, std::int32_t rank, std::uint32_t call, std::int64_t ns) {
  std::vector<std::int64_t> gaps = gaps_of(g);
  gaps[g.first(rank) + call] -= ns;
  return replayed(g, gaps).end;
}

// What the message took that is not the last of its call is not known: less than the last one's.
bool is_near(std::int64_t a, std::int64_t b) { return std::abs(a - b) <= latency_ns; }

// Rank 0 and rank 1 compute, then send to 2, which waits for both in one call.
Program two_senders(std::int64_t first, std::int64_t second) {
  Program p(3);
  for (const std::int32_t r : {0, 1, 2}) p.call(r, K::allreduce, site::allreduce);
  p.compute(0, first);
  p.call(0, K::isend, site::isend, 2);
  p.compute(1, second);
  p.call(1, K::isend, site::isend, 2);
  p.call(2, K::irecv, site::irecv, 0);
  p.call(2, K::irecv, site::irecv, 1);
  p.call(2, K::waitall, site::irecv);
  return p;
}

}  // namespace

TEST_CASE("A late sender: its receiver returns as much earlier, until it would not have waited") {
  Program p(2);
  for (const std::int32_t r : {0, 1}) p.call(r, K::allreduce, site::allreduce);
  p.compute(0, 10 * ms);
  p.call(0, K::send, site::send, 1);
  p.compute(1, 4 * ms);
  p.call(1, K::recv, site::recv, 0);
  p.compute(1, 3 * ms);
  p.call(1, K::allreduce, site::allreduce);
  p.call(0, K::allreduce, site::allreduce);
  const Graph g = graph_of(p);
  REQUIRE(g.calls().size() == 6);
  CHECK(g.overlapping() == 0);
  CHECK(replayed(g, gaps_of(g)).end == last_end(g));
  CHECK(with_less(g, 0, 1, 5 * ms) == last_end(g) - 5 * ms);
  // The receiver comes after 4 ms: more than 6 ms and the transfer cannot be gained.
  CHECK(with_less(g, 0, 1, 10 * ms) >= last_end(g) - 6 * ms - latency_ns);
  CHECK(with_less(g, 0, 1, 10 * ms) <= last_end(g) - 6 * ms + latency_ns);
  CHECK(with_less(g, 1, 1, 4 * ms) == last_end(g));  // it only waits longer
  CHECK(with_less(g, 1, 2, 3 * ms) == last_end(g) - 3 * ms);
}

TEST_CASE("Of two equal delays that one Waitall waits for, removing one gains nothing, both everything") {
  const Graph g = graph_of(two_senders(8 * ms, 8 * ms));
  CHECK(replayed(g, gaps_of(g)).end == last_end(g));
  CHECK(is_near(with_less(g, 0, 1, 8 * ms), last_end(g)));
  CHECK(with_less(g, 1, 1, 8 * ms) == last_end(g));
  std::vector<std::int64_t> gaps = gaps_of(g);
  gaps[g.first(0) + 1] -= 7 * ms;
  gaps[g.first(1) + 1] -= 7 * ms;
  CHECK(replayed(g, gaps).end == last_end(g) - 7 * ms);
}

TEST_CASE("A hidden delay limits what removing the worse one gains") {
  const Graph g = graph_of(two_senders(8 * ms, 5 * ms));
  CHECK(with_less(g, 1, 1, 5 * ms) == last_end(g));
  CHECK(is_near(with_less(g, 0, 1, 8 * ms), last_end(g) - 3 * ms));
}

TEST_CASE("Along a chain every rank's computation counts, and where it is repeated, too") {
  Setting s;
  s.steps = 20;
  const Graph g = graph_of(ring(5, s));
  CHECK(replayed(g, gaps_of(g)).end == last_end(g));
  std::vector<std::int64_t> gaps = gaps_of(g);
  std::int64_t less = 0;
  for (std::uint32_t c = g.first(3); c < g.end(3); ++c)
    if (gaps[c] == s.compute_ns) gaps[c] -= s.compute_ns / 2, less += s.compute_ns / 2;
  REQUIRE(less == 20 * s.compute_ns / 2);
  CHECK(replayed(g, gaps).end == last_end(g) - less);
}

TEST_CASE("A collective waits for the last, a broadcast for its root only") {
  Program p(4);
  for (std::int32_t r = 0; r < 4; ++r) {
    p.call(r, K::allreduce, site::allreduce);
    p.compute(r, (r + 1) * ms);
    p.call(r, K::allreduce, site::allreduce);
    p.compute(r, r == 1 ? 9 * ms : 1 * ms);
    p.call(r, K::bcast, site::bcast, 1);
    p.compute(r, r == 2 ? 2 * ms : 0);
    p.call(r, K::bcast, site::bcast, 0);
  }
  const Graph g = graph_of(p);
  CHECK(replayed(g, gaps_of(g)).end == last_end(g));
  CHECK(with_less(g, 3, 1, 1 * ms) == last_end(g) - 1 * ms);
  CHECK(with_less(g, 3, 1, 4 * ms) == last_end(g) - 1 * ms);  // rank 2 is the last then
  CHECK(with_less(g, 2, 1, 3 * ms) == last_end(g));
  CHECK(with_less(g, 1, 2, 5 * ms) == last_end(g) - 5 * ms);
  CHECK(with_less(g, 3, 2, 1 * ms) == last_end(g));  // not the root
  CHECK(with_less(g, 2, 3, 2 * ms) == last_end(g) - 2 * ms + latency_ns - latency_ns);
}

TEST_CASE(
    "A broadcast goes through others: without the delay of one that was late, those behind it come as much earlier") {
  std::vector<CollectiveCall> calls;
  const auto call = [&](std::uint64_t ordinal, std::int32_t rank, CollectiveShape shape, std::int64_t begin,
                        std::int64_t end, std::int32_t awaited, std::int64_t awaited_begin) {
    CollectiveCall& c = calls.emplace_back();
    c.comm = 1, c.ordinal = ordinal, c.rank = rank, c.shape = shape;
    c.begin = begin, c.end = end, c.awaited = awaited, c.awaited_begin = awaited < 0 ? begin : awaited_begin;
  };
  for (const bool root_held : {false, true}) {
    calls.clear();
    for (std::int32_t r = 0; r < 4; ++r) call(0, r, CollectiveShape::all_to_all, 0, 10 * us, r == 3 ? -1 : 3, 0);
    // Rank 0 sends to 1 and 2, rank 2 to 3; rank 2 comes after 20 ms, the others after 2.
    call(1, 0, CollectiveShape::from_root, 2 * ms, root_held ? 20 * ms + 5 * us : 2 * ms + 5 * us, root_held ? 2 : -1,
         20 * ms);
    call(1, 1, CollectiveShape::from_root, 2 * ms + us, 2 * ms + 9 * us, -1, 0);
    call(1, 2, CollectiveShape::from_root, 20 * ms, 20 * ms + 5 * us, -1, 0);
    call(1, 3, CollectiveShape::from_root, 2 * ms, 20 * ms + 9 * us, 2, 20 * ms);
    for (std::int32_t r = 0; r < 4; ++r)  // rank 3 comes last
      call(2, r, CollectiveShape::all_to_all, calls[static_cast<std::size_t>(4 + r)].end + us, 20 * ms + 20 * us,
           r == 3 ? -1 : 3, 20 * ms + 10 * us);
    const Graph g(4, {}, calls);
    CHECK(replayed(g, gaps_of(g)).end == last_end(g));
    CHECK(with_less(g, 2, 1, 17 * ms) == Approx(last_end(g) - 17 * ms).margin(20 * us));
    CHECK(with_less(g, 1, 1, 1 * ms) == last_end(g));
  }
}

TEST_CASE("A synchronous send waits for its receive") {
  Program p(2);
  for (const std::int32_t r : {0, 1}) p.call(r, K::allreduce, site::allreduce);
  p.call(0, K::ssend, site::ssend, 1);
  p.compute(0, 2 * ms);
  p.compute(1, 6 * ms);
  p.call(1, K::recv, site::recv, 0);
  for (const std::int32_t r : {0, 1}) p.call(r, K::allreduce, site::allreduce);
  const Graph g = graph_of(p);
  CHECK(replayed(g, gaps_of(g)).end == last_end(g));
  CHECK(with_less(g, 1, 1, 4 * ms) == last_end(g) - 4 * ms);
  CHECK(with_less(g, 0, 2, 2 * ms) == last_end(g) - 2 * ms);
}

TEST_CASE("A period in the middle is replayed alone, and begins and ends as measured") {
  Setting s;
  s.steps = 60;
  s.noise = 0.2;
  const Graph g = graph_of(halo({6}, s, 10));
  const std::int64_t end = last_end(g);
  for (const auto& [from, to] :
       {std::pair(end / 3, 2 * end / 3), std::pair(end / 10, end / 2), std::pair<std::int64_t, std::int64_t>(0, end)}) {
    const whatif::Period period{from, to};
    const whatif::Times times = replayed(g, gaps_of(g), period);
    CAPTURE(from, to);
    CHECK(times.left_out == 0);
    CHECK(times.end <= to);
    CHECK(times.end >= to - 2 * ms);  // the last rank is somewhere in its step
    std::vector<std::int64_t> gaps = gaps_of(g);
    for (std::int64_t& gap : gaps) gap /= 2;
    const std::int64_t half = replayed(g, gaps, period).end;
    CHECK(static_cast<double>(half - from) == Approx(0.5 * static_cast<double>(times.end - from)).margin(2e6));
  }
}

TEST_CASE("A probe waits for the send that it finds, a Wait for a send for its receive") {
  // Each step: rank 0 computes 10 ms and sends; rank 1 probes for it, then receives, and computes 1 ms.
  std::vector<Message> messages;
  std::vector<CollectiveCall> waits;
  const auto step = [&](std::int64_t begin) {
    Message m;
    m.source = 0, m.destination = 1, m.comm = 1, m.bytes = 8;
    m.send_begin = begin + 10 * ms, m.send_end = m.send_begin + us;
    m.recv_post = m.recv_wait = begin + 10 * ms + 20 * us, m.recv_end = m.recv_post + us;
    messages.push_back(m);
    CollectiveCall probe;
    probe.comm = 1, probe.rank = 1, probe.awaited = 0, probe.shape = CollectiveShape::probe;
    probe.begin = begin + 1 * ms, probe.end = begin + 10 * ms + 10 * us, probe.awaited_begin = m.send_begin;
    waits.push_back(probe);
  };
  const auto send_step = [&](std::int64_t begin) {  // rank 0 waits for its send until rank 1 receives, 10 ms later
    Message m;
    m.source = 0, m.destination = 1, m.comm = 1, m.bytes = 100'000, m.flags = record::flag::nonblocking;
    m.send_begin = begin, m.send_end = begin + us;
    m.recv_post = m.recv_wait = begin + 10 * ms, m.recv_end = m.recv_post + 50 * us;
    messages.push_back(m);
    CollectiveCall wait;
    wait.comm = 1, wait.rank = 0, wait.awaited = 1, wait.shape = CollectiveShape::send;
    wait.begin = begin + 1 * ms, wait.end = m.recv_end, wait.awaited_begin = m.recv_post;
    waits.push_back(wait);
  };
  const bool probes = GENERATE(true, false);
  for (std::int64_t i = 0; i < 3; ++i) probes ? step(i * 12 * ms) : send_step(i * 12 * ms);
  const Graph g(2, messages, waits);
  CHECK(g.overlapping() == 0);
  CHECK(replayed(g, gaps_of(g)).end == last_end(g));
  // 4 ms less in each of the two steps that are whole: the other one follows.
  std::vector<std::int64_t> gaps = gaps_of(g);
  const std::int32_t late = probes ? 0 : 1;
  std::uint32_t shorter = 0;
  for (std::uint32_t c = g.first(late); c < g.end(late); ++c)
    if (gaps[c] > 9 * ms) {
      gaps[c] -= 4 * ms;
      ++shorter;
    }
  CHECK(shorter == 2);
  CHECK(replayed(g, gaps).end == last_end(g) - 8 * ms);
}

TEST_CASE("Sends that end when their receiver is in MPI next, in whatever call, end earlier with it") {
  constexpr int rounds = 20;
  for (const bool freed : {true, false}) {
    std::vector<Message> messages;
    for (int i = 0; i < rounds; ++i) {
      Message& m = messages.emplace_back();
      m.source = 0, m.destination = 1, m.bytes = 512;
      m.send_begin = (25 * i + 5) * ms;
      // Rank 1 comes every 25 ms, for a message that was sent two rounds before. A copied send is over at once.
      m.send_end = freed ? 25 * (i + 1) * ms + 3 * us : m.send_begin + 3 * us;
      m.recv_post = m.recv_wait = 25 * (i + 2) * ms;
      m.recv_end = m.recv_post + 2 * us;
    }
    // Something else that rank 1 does before the first of them.
    Message& first = messages.emplace_back();
    first.source = 2, first.destination = 1, first.bytes = 8;
    first.send_begin = 24 * ms, first.send_end = 24 * ms + us;
    first.recv_post = first.recv_wait = 25 * ms, first.recv_end = 25 * ms + us;
    const whatif::Graph g(3, messages, {});
    std::vector<std::int64_t> gaps = gaps_of(g);
    CHECK(replayed(g, gaps).end == last_end(g));
    for (std::uint32_t c = g.first(1); c < g.end(1); ++c) gaps[c] = std::min(gaps[c], 5 * ms);
    const whatif::Times faster = replayed(g, gaps);
    const std::int64_t end_of_0 = faster.ends[0], measured = g.calls()[g.end(0) - 1].end;
    if (freed) CHECK(end_of_0 < measured / 2);
    else CHECK(end_of_0 == measured);
  }
}
