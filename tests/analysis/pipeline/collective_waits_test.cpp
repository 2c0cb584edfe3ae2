// Nonblocking collectives that one call completes wait once: brute force on random posts and completions.
#include <algorithm>
#include <catch2/catch.hpp>
#include <random>
#include <vector>

#include "analysis/pipeline/pipeline.hpp"
#include "interpose/record/functions.hpp"
#include "tests/seed.hpp"

using namespace pclscope;
using record::Event;
using record::EventKind;

namespace {

constexpr std::int64_t unit = std::int64_t{1} << record::completion_shift;  // lengths of completing calls are told so

Event event(EventKind kind, record::Function function, std::int64_t begin, std::int64_t end) {
  Event e{};
  e.kind = kind;
  e.function = static_cast<std::uint16_t>(function);
  e.peer = record::unknown_rank;
  e.tag = record::any_tag;
  e.begin = static_cast<std::uint64_t>(begin);
  e.end = static_cast<std::uint64_t>(end);
  return e;
}

}  // namespace

TEST_CASE("a call that completes several nonblocking collectives has waited for the last of them") {
  const std::uint64_t seed = test::random_seed();
  INFO("seed " << seed);
  std::mt19937_64 random(seed);
  const auto below = [&](std::int64_t most) {
    return static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(most));
  };
  for (int program = 0; program < 50; ++program) {
    const auto ranks = static_cast<std::size_t>(2 + random() % 4);
    std::vector<std::vector<Event>> rings(ranks);
    std::vector<std::int64_t> expected(ranks, 0);
    std::int64_t sum = 0, now = 0;
    std::uint64_t operations = 0;
    for (int round = 0; round < 40; ++round) {
      const auto together = static_cast<std::size_t>(1 + random() % 4);
      // posts[rank][k], each rank in its own time
      std::vector<std::vector<std::int64_t>> posts(ranks);
      std::int64_t last = now;
      for (auto& of_rank : posts) {
        std::int64_t at = now;
        for (std::size_t k = 0; k < together; ++k) of_rank.push_back(at += 1 + below(20 * unit));
        last = std::max(last, at);
      }
      for (std::size_t r = 0; r < ranks; ++r) {
        const std::int64_t end = last + 1 + below(unit);
        const std::int64_t longest = (end - posts[r].back() - 1) / unit;  // it is entered behind the rank's last post
        const std::int64_t length = longest > 0 ? (1 + below(longest)) * unit : 0;
        if (length > 0) rings[r].push_back(event(EventKind::call, record::Function::Waitall, end - length, end));
        std::int64_t waited = 0;
        for (std::size_t k = 0; k < together; ++k) {
          Event e = event(EventKind::collective, record::Function::Ibarrier, posts[r][k], end);
          e.comm = record::world_comm_id;
          e.ordinal = operations + k;
          e.flags = record::flag::nonblocking;
          e.tag = record::completion_length(static_cast<std::uint64_t>(length));
          rings[r].push_back(e);
          for (std::size_t other = 0; other < ranks; ++other)
            if (other != r) waited = std::max(waited, posts[other][k] - std::max(end - length, posts[r][k]));
        }
        expected[r] += waited;
        sum += waited;
      }
      operations += together;
      now = last + 2 * unit;
    }
    Application application;
    application.ranks = static_cast<std::int32_t>(ranks);
    PipelineOptions options;
    options.window_ns = 1 + below(200 * unit);
    options.allowance_ns = 0;
    Pipeline pipeline(application, options);
    for (std::size_t r = 0; r < ranks; ++r) pipeline.set_node(static_cast<std::int32_t>(r), "node");
    for (std::size_t r = 0; r < ranks; ++r) pipeline.add(static_cast<std::int32_t>(r), 0, rings[r]);
    pipeline.end_round(now);
    pipeline.finish();
    const Snapshot s = pipeline.snapshot();
    CHECK(s.collectives.wait_s == Approx(static_cast<double>(sum) * 1e-9));
    for (std::size_t r = 0; r < ranks; ++r)
      CHECK(s.ranks[r].collective_wait_s == Approx(static_cast<double>(expected[r]) * 1e-9));
  }
}
