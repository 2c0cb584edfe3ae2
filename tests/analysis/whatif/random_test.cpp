// Random programs: the replay with other computation against a simulation with that computation; and garbage.
#include <catch2/catch.hpp>

#include "analysis/whatif/whatif.hpp"
#include "tests/analysis/delay/random_programs.hpp"
#include "tests/analysis/whatif/replaying.hpp"
#include "tests/seed.hpp"

using namespace pclscope;
using namespace pclscope::test;
using whatif::Graph;

TEST_CASE("Random programs: replayed as they are to the nanosecond, with other computation as simulated") {
  const auto seed = static_cast<std::uint32_t>(random_seed());
  CAPTURE(seed);
  constexpr RandomPrograms programs{9, 40, true};
  double worst = 0;
  for (std::uint32_t i = 0; i < 300; ++i) {
    const Graph g = graph_of(random_program(seed + i, programs));
    const whatif::Times same = replayed(g, gaps_of(g));
    CAPTURE(i);
    REQUIRE(same.end == last_end(g));
    REQUIRE(same.left_out == 0);
    const auto factor = [&](int rank, int number) {
      const std::uint32_t mixed = (seed + i) * 2654435761u ^ static_cast<std::uint32_t>(rank * 977 + number) * 40503u;
      return 0.1 * static_cast<double>((mixed >> 9) % 25);  // 0 to 2.4
    };
    const Graph other = graph_of(random_program(seed + i, programs, factor));
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
    for (int kind = 0; kind < 5; ++kind) {
      const whatif::Change change{static_cast<whatif::Change::Kind>(kind), {1}, {0, 1, 1, 0}, {1, 0, 0, 7}};
      const auto w = whatif::what_if({4, messages, calls, nodes}, -1000, 900'000, change);
      if (w) CHECK(std::isfinite(w->gain()));
      else CHECK(w.error().message.find('\n') == std::string::npos);
    }
  }
}
