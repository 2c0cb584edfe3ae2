// Random programs: the replay with other computation against a simulation with that computation; and garbage.
#include <catch2/catch.hpp>

#include "analysis/whatif/whatif.hpp"
#include "tests/analysis/whatif/replaying.hpp"
#include "tests/seed.hpp"

using namespace pclscope;
using namespace pclscope::test;
using whatif::Graph;

namespace {

// The same operations for the same seed; what ranks compute is times `factor(rank, number of the computation)`.
template <class Factor>
Program random_program(std::uint32_t seed, Factor factor) {
  std::mt19937 random(seed);
  const auto draw = [&](int low, int high) { return std::uniform_int_distribution<int>(low, high)(random); };
  const int ranks = draw(2, 9);
  Program p(ranks);
  std::vector<int> number(static_cast<std::size_t>(ranks));
  const auto compute = [&](int r) {
    const std::int64_t ns = draw(50, 3000) * us;
    p.compute(r, static_cast<std::int64_t>(static_cast<double>(ns) * factor(r, number[static_cast<std::size_t>(r)]++)));
  };
  for (int r = 0; r < ranks; ++r) p.call(r, K::allreduce, site::allreduce);
  for (int phase = 0; phase < 40; ++phase) {
    const int kind = draw(0, 5), root = draw(0, ranks - 1), by = draw(1, ranks - 1);
    for (int r = 0; r < ranks; ++r) {
      if (draw(0, 3) > 0) compute(r);
      const int to = (r + by) % ranks, from = (r + ranks - by) % ranks;
      if (kind == 0) {
        p.call(r, K::allreduce, site::allreduce);
      } else if (kind == 1) {
        p.call(r, K::bcast, site::bcast, root);
      } else if (kind == 2) {  // shift, the receive posted early
        p.call(r, K::irecv, site::irecv, from, phase);
        compute(r);
        p.call(r, K::isend, site::isend, to, phase);
        p.call(r, K::waitall, site::irecv);
      } else if (kind == 3) {
        p.call(r, K::send, site::send, to, phase);
        p.call(r, K::recv, site::recv, from, phase);
      } else if (kind == 4) {  // a chain
        if (r > 0) p.call(r, K::recv, site::recv, r - 1, phase);
        compute(r);
        if (r + 1 < ranks) p.call(r, K::send, site::send, r + 1, phase);
      } else {  // pairs, synchronous
        if (r % 2 == 0 && r + 1 < ranks) p.call(r, K::ssend, site::ssend, r + 1, phase);
        if (r % 2 == 1) p.call(r, K::recv, site::recv, r - 1, phase);
      }
    }
  }
  for (int r = 0; r < ranks; ++r) p.call(r, K::allreduce, site::allreduce);
  return p;
}

}  // namespace

TEST_CASE("Random programs: replayed as they are to the nanosecond, with other computation as simulated") {
  const auto seed = static_cast<std::uint32_t>(random_seed());
  CAPTURE(seed);
  double worst = 0;
  for (std::uint32_t i = 0; i < 300; ++i) {
    const Graph g = graph_of(random_program(seed + i, [](int, int) { return 1.0; }));
    const whatif::Times same = replayed(g, gaps_of(g));
    CAPTURE(i);
    REQUIRE(same.end == last_end(g));
    REQUIRE(same.left_out == 0);
    const auto factor = [&](int rank, int number) {
      const std::uint32_t mixed = (seed + i) * 2654435761u ^ static_cast<std::uint32_t>(rank * 977 + number) * 40503u;
      return 0.1 * static_cast<double>((mixed >> 9) % 25);  // 0 to 2.4
    };
    const Graph other = graph_of(random_program(seed + i, factor));
    REQUIRE(other.calls().size() == g.calls().size());
    const double predicted = static_cast<double>(replayed(g, gaps_of(other)).end),
                 simulated = static_cast<double>(last_end(other));
    worst = std::max(worst, std::abs(predicted / simulated - 1));
    // Which transfers were behind computation is not seen: microseconds of each of 40 phases.
    REQUIRE(predicted == Approx(simulated).epsilon(0.005));
  }
}

TEST_CASE("Any times, ranks and flags: an answer or a refusal") {
  const auto seed = static_cast<std::uint32_t>(random_seed());
  CAPTURE(seed);
  std::mt19937_64 random(seed);
  const auto time = [&]() -> std::int64_t {
    const auto any = static_cast<std::int64_t>(random());
    return random() % 4 == 0 ? any : any % 1'000'000;
  };
  for (int round = 0; round < 300; ++round) {
    std::vector<Message> messages(random() % 60);
    for (Message& m : messages) {
      m.source = static_cast<std::int32_t>(random() % 6) - 1;
      m.destination = static_cast<std::int32_t>(random() % 6) - 1;
      m.flags = static_cast<std::uint32_t>(random());
      m.bytes = random() >> (random() % 64);
      for (std::int64_t Message::*t :
           {&Message::send_begin, &Message::send_end, &Message::recv_post, &Message::recv_wait, &Message::recv_end})
        m.*t = time();
      m.send_site = random() % 3;
      m.recv_site = random();
    }
    std::vector<CollectiveCall> calls(random() % 30);
    for (CollectiveCall& c : calls) {
      c.comm = random() % 2;
      c.ordinal = random() % 5;
      c.rank = static_cast<std::int32_t>(random() % 6) - 1;
      c.awaited = static_cast<std::int32_t>(random() % 6) - 1;
      c.shape = static_cast<CollectiveShape>(random() % 5);
      c.nonblocking = random() % 4 == 0;
      c.begin = time();
      c.end = time();
      c.awaited_begin = time();
    }
    const Graph g(4, messages, calls);
    const whatif::Times times = replayed(g, gaps_of(g));
    CHECK((g.calls().empty() || times.end != INT64_MIN));
    const std::vector<std::int32_t> nodes = {0, 1, 0, 1};
    for (int kind = 0; kind < 4; ++kind) {
      const whatif::Change change{static_cast<whatif::Change::Kind>(kind), {1}, {0, 1, 1, 0}};
      const auto w = whatif::what_if({4, messages, calls, nodes}, -1000, 900'000, change);
      if (w) CHECK(std::isfinite(w->gain()));
      else CHECK(w.error().message.find('\n') == std::string::npos);
    }
  }
}
