// Mean and typical ratios, and the number of delayed messages, against a recomputation from all messages with the
// criteria that the snapshot names. Random jobs with a slow start, several sizes and outliers.
#include <catch2/catch.hpp>
#include <cmath>
#include <map>
#include <random>

#include "analysis/pipeline/pipeline.hpp"
#include "tests/analysis/match/streams.hpp"
#include "tests/seed.hpp"

using namespace pclscope;
using test::Stream;

namespace {

constexpr std::int64_t ms = 1'000'000;
constexpr int ranks = 12;

struct Sums {
  double ratio = 0, log = 0, transfer = 0;
  std::uint64_t messages = 0;
  void add(const Message& m, const Criterion& c) {
    const double l = static_cast<double>(m.time()) * 1e-9 / c.criterion_s;
    ratio += l;
    log += std::log(l);
    transfer += static_cast<double>(wait_split(m).transfer) * 1e-9 / c.transfer_criterion_s;
    ++messages;
  }
  double mean() const { return ratio / static_cast<double>(messages); }
  double typical() const { return std::exp(log / static_cast<double>(messages)); }
};

const Criterion& criterion_of(const Message& m, const Snapshot& s) {
  for (const Criterion& c : s.criteria)
    if (c.inter_node == ((m.flags & message_flag::inter_node) != 0) && m.bytes >= c.bytes_low && m.bytes < c.bytes_high)
      return c;
  FAIL("no criterion for " << m.bytes);
  return s.criteria.front();
}

}  // namespace

TEST_CASE("ratios of the whole run are by its final criteria") {
  std::mt19937_64 random(test::random_seed());
  for (int job = 0; job < 6; ++job) {
    std::vector<Message> all;
    PipelineOptions options;
    options.on_messages = [&](std::span<const Message> m) { all.insert(all.end(), m.begin(), m.end()); };
    Application application;
    application.ranks = ranks;
    Pipeline pipeline(application, options);
    for (int rank = 0; rank < ranks; ++rank) pipeline.set_node(rank, rank < ranks / 2 ? "a" : "b");
    std::vector<Stream> streams(ranks);
    const std::uint64_t sizes[] = {4, 60, 1000, 50'000, 7};
    std::lognormal_distribution<double> noise(0, 0.4);
    for (std::int64_t t = 0; t < 2000 * ms; t += ms) {
      for (int k = 0; k < 4; ++k) {
        const int from = static_cast<int>(random() % ranks);
        const int group = from / 4 * 4,
                  to = random() % 20 == 0 ? static_cast<int>(random() % ranks) : group + static_cast<int>(random() % 4);
        if (from == to) continue;
        const std::uint64_t bytes = sizes[random() % 400 == 0 ? 4 : random() % 4];  // few of the last
        double time = (2000 + static_cast<double>(bytes)) * noise(random);
        if (t < 300 * ms) time *= 50;                       // a slow start
        if (bytes == 4 && random() % 20 == 0) time *= 600;  // outliers
        const std::int64_t begin = t + k * 250'000;
        streams[from].now = static_cast<std::uint64_t>(begin);
        streams[from].send(to, 0, 0, bytes);
        streams[to].now = static_cast<std::uint64_t>(begin + static_cast<std::int64_t>(std::min(time, 2e5)));
        streams[to].receive(from, 0);
        streams[to].events.back().bytes = bytes;
      }
      for (int rank = 0; rank < ranks; ++rank) {
        pipeline.add(rank, 0, streams[static_cast<std::size_t>(rank)].events);
        streams[static_cast<std::size_t>(rank)].events.clear();
      }
      pipeline.end_round(t + ms);
    }
    pipeline.finish();
    const Snapshot s = pipeline.snapshot();
    REQUIRE(all.size() == s.messages.matched);

    Sums whole;
    std::map<int, Sums> of_rank, of_region;
    std::map<std::pair<int, int>, Sums> of_link;
    std::map<int, int> region_of;
    for (const Region& r : s.regions)
      for (const std::int32_t rank : r.ranks) region_of[rank] = r.id;
    std::uint64_t above = 0, near = 0;
    for (const Message& m : all) {
      const Criterion& c = criterion_of(m, s);
      whole.add(m, c);
      of_rank[m.destination].add(m, c);
      const int a = region_of.at(m.source), b = region_of.at(m.destination);
      if (a == b) of_region[a].add(m, c);
      else of_link[{std::min(a, b), std::max(a, b)}].add(m, c);
      const double ratio = static_cast<double>(m.time()) * 1e-9 / c.criterion_s;
      above += ratio > 1;
      near += std::fabs(ratio - 1) < 1.0 / 64;
    }
    INFO("job " << job);
    CHECK(s.latency.mean_ratio == Approx(whole.mean()).epsilon(1e-9));
    CHECK(s.latency.typical_ratio == Approx(whole.typical()).epsilon(1e-4));
    CHECK(std::fabs(static_cast<double>(s.messages.delayed) - static_cast<double>(above)) <=
          static_cast<double>(near) + 1);
    CHECK(near < all.size() / 20);
    for (const RankSummary& r : s.ranks) CHECK(r.mean_latency_ratio == Approx(of_rank[r.rank].mean()).epsilon(1e-9));
    for (const Region& r : s.regions) {
      const Sums& sums = of_region[r.id];
      REQUIRE(r.messages == sums.messages);
      CHECK(r.mean_latency_ratio == Approx(sums.mean()).epsilon(1e-9));
      CHECK(r.typical_ratio == Approx(sums.typical()).epsilon(1e-4));
      CHECK(r.mean_transfer_ratio == Approx(sums.transfer / static_cast<double>(sums.messages)).epsilon(1e-9));
    }
    for (const RegionLink& l : s.links) {
      const Sums& sums = of_link[{l.a, l.b}];
      REQUIRE(l.messages == sums.messages);
      CHECK(l.mean_latency_ratio == Approx(sums.mean()).epsilon(1e-9));
    }
  }
}
