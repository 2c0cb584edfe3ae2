// Regions' intervals and totals against sums over all windows, for random patterns and partitions.
#include "analysis/window/region_series.hpp"

#include <catch2/catch.hpp>
#include <map>
#include <random>

#include "tests/thinned.hpp"

using namespace pclscope;

namespace {

constexpr int ranks = 12;
constexpr std::int64_t length = 100;  // of a window
using Pair = std::pair<std::int32_t, std::int32_t>;

struct Plain {
  std::uint64_t messages = 0, bytes = 0;
  std::int64_t time = 0;
};

class Job {
 public:
  explicit Job(unsigned seed, std::size_t most_ended = 1024) : random(seed), series(ranks, 50, most_ended) {
    for (int a = 0; a < ranks; ++a)
      for (int b = 0; b < ranks; ++b) send(a, b);
  }
  int below(int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); }
  void send(int from, int to) {
    const std::uint32_t index = pairs.touch(from, to);
    const std::int64_t time = 1 + below(1000);
    LatencySums& sums = pairs.window_sums(index);
    ++sums.messages;
    ++sums.timed;
    sums.bytes += 8;
    pairs.add_times(index, false, static_cast<std::uint32_t>(below(3)), PairTable::TimeSums::of(time, time / 2));
    Plain& plain = windows.back()[{from, to}];
    ++plain.messages;
    plain.bytes += 8;
    plain.time += time;
  }
  std::int64_t now() const { return static_cast<std::int64_t>(windows.size() - 1) * length; }
  // The window is over; `since`: another pattern began with this window, -1 none.
  void close(std::int64_t since, bool cluster) {
    pairs.fold_window();
    recent.add(now(), pairs);
    series.fold(pairs);
    if (since >= 0) series.begin_pattern(since * length, pairs, recent);
    if (cluster) {
      std::vector<std::int32_t> group(ranks);
      const int groups = 1 + below(4);
      for (std::int32_t& g : group) g = below(10) == 0 ? -1 : below(groups);
      std::vector<float> weights(pairs.size());
      for (std::size_t i = 0; i < pairs.size(); ++i) {
        const auto& [a, b] = pairs.pair(i);
        if (a != b && group[a] >= 0 && group[b] >= 0) weights[i] = group[a] == group[b] ? 1000.0f : 0.001f;
      }
      graph.restart(weights);
      series.recluster(ranks, pairs, graph, {}, 1e-3);
    }
    Window window;
    LatencySums all;
    const std::vector<RegionSums> sums = pairs.region_sums(series.id_of_rank(), all);
    series.close_window(all, sums, 0, window);
    pairs.clear_window();
    windows.emplace_back();
    if (windows.size() % 8 == 0) recent.forget_before(now() - 5 * length);
  }
  Snapshot snapshot() const {
    Snapshot s;
    series.fill(s, {32, SIZE_MAX, SIZE_MAX, SIZE_MAX}, [](bool, std::uint32_t, const PairTable::TimeSums& t) {
      return RatioSums{t.timed, static_cast<double>(t.time), static_cast<double>(t.transfer), 0};
    });
    return s;
  }

  std::mt19937_64 random;
  PairTable pairs;
  RecentWindows recent;
  GraphChange graph;
  RegionSeries series;
  std::vector<std::map<Pair, Plain>> windows{1};
};

struct Interval {
  std::size_t from = 0, until = 0;  // windows
};
Interval interval_of(const Region& r, std::size_t windows) {
  const auto at = [](double s) { return static_cast<std::size_t>(s * 1e9 / length + 0.5); };
  return {at(r.from_s), r.until_s < 0 ? windows : at(r.until_s)};
}

Plain sum(const Job& job, Interval when, const std::vector<std::int32_t>& a, const std::vector<std::int32_t>& b) {
  const auto in = [](const std::vector<std::int32_t>& list, std::int32_t rank) {
    return std::find(list.begin(), list.end(), rank) != list.end();
  };
  Plain all;
  for (std::size_t w = when.from; w < when.until; ++w)
    for (const auto& [pair, plain] : job.windows[w]) {
      if (!(in(a, pair.first) && in(b, pair.second)) && !(in(b, pair.first) && in(a, pair.second))) continue;
      all.messages += plain.messages;
      all.bytes += plain.bytes;
      all.time += plain.time;
    }
  return all;
}

// Regions, links and what belongs to neither, from all windows.
void check(const Job& job, std::map<std::int32_t, std::vector<std::int32_t>>& known) {
  const Snapshot s = job.snapshot();
  const std::size_t closed = job.windows.size() - 1;
  std::vector<Region> all = s.regions;
  all.insert(all.end(), s.ended_regions.begin(), s.ended_regions.end());
  std::map<std::int32_t, Region> by_id;
  std::vector<std::vector<int>> owner(closed, std::vector<int>(ranks, -1));
  std::uint64_t in_regions = s.pattern.dropped_messages;
  for (const Region& r : all) {
    CHECK(known.try_emplace(r.id, r.ranks).first->second == r.ranks);
    REQUIRE(by_id.emplace(r.id, r).second);
    const Interval when = interval_of(r, closed);
    const Plain truth = sum(job, when, r.ranks, r.ranks);
    REQUIRE(r.messages == truth.messages);
    REQUIRE(r.bytes == truth.bytes);
    REQUIRE(r.mean_latency_ratio * static_cast<double>(r.messages) ==
            Approx(static_cast<double>(truth.time)).margin(1e-3));
    in_regions += r.messages;
    for (std::size_t w = when.from; w < when.until; ++w)
      for (const std::int32_t rank : r.ranks) {
        REQUIRE(owner[w][rank] == -1);
        owner[w][rank] = r.id;
      }
    if (r.parent >= 0) CHECK(r.parent < r.id);
  }
  std::vector<RegionLink> links = s.links;
  links.insert(links.end(), s.ended_links.begin(), s.ended_links.end());
  for (const RegionLink& l : links) {
    const Region &a = by_id.at(l.a), &b = by_id.at(l.b);
    const Interval x = interval_of(a, closed), y = interval_of(b, closed);
    const Plain truth = sum(job, {std::max(x.from, y.from), std::min(x.until, y.until)}, a.ranks, b.ranks);
    REQUIRE(l.messages == truth.messages);
    in_regions += l.messages;
  }
  std::uint64_t whole = 0, nowhere = 0;
  for (std::size_t w = 0; w < closed; ++w)
    for (const auto& [pair, plain] : job.windows[w]) {
      whole += plain.messages;
      if (owner[w][pair.first] < 0 || owner[w][pair.second] < 0) nowhere += plain.messages;
    }
  REQUIRE(in_regions + nowhere == whole);
}

}  // namespace

TEST_CASE("at any moment regions, links and the rest are the whole, and every figure is that of its interval") {
  for (int trial = 0; trial < test::thinned(40); ++trial) {
    INFO("seed " << trial);
    Job job(static_cast<unsigned>(trial));
    std::map<std::int32_t, std::vector<std::int32_t>> known;
    std::int64_t newest = 0;
    for (int w = 0; w < 60; ++w) {
      for (int m = job.below(30); m > 0; --m) job.send(job.below(ranks), job.below(ranks));
      std::int64_t since = -1;
      if (job.below(6) == 0 && w > 6) {
        since = std::max<std::int64_t>(newest + 1, w - job.below(5));
        if (since > w) since = -1;
        else newest = since;
      }
      job.close(since, job.below(3) == 0);
      check(job, known);
    }
    if (test::under_sanitizer) continue;
    CHECK(known.size() > 10);
  }
}

TEST_CASE("more regions than are kept are dropped, and counted") {
  constexpr std::size_t most = 48;
  Job job(99, most);
  for (int w = 0; w < 150; ++w) {
    for (int m = 0; m < 3; ++m) job.send(job.below(ranks), job.below(ranks));
    job.close(w > 0 ? w : -1, true);
  }
  std::map<std::int32_t, std::vector<std::int32_t>> known;
  const Snapshot s = job.snapshot();
  CHECK(s.ended_regions.size() <= most);
  CHECK(s.ended_links.size() <= 8 * most);
  CHECK(s.pattern.dropped_regions > 0);
  std::uint64_t in_regions = s.pattern.dropped_messages;
  for (const auto* list : {&s.regions, &s.ended_regions})
    for (const Region& r : *list) in_regions += r.messages;
  CHECK(in_regions > 0);
  std::uint64_t whole = 0;
  for (const auto& window : job.windows)
    for (const auto& [pair, plain] : window) whole += plain.messages;
  CHECK(in_regions <= whole);
}
