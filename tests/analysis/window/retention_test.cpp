// What is stored, against a reference that knows the whole series.
#include "analysis/window/retention.hpp"

#include <catch2/catch.hpp>
#include <cmath>
#include <iostream>
#include <map>
#include <random>
#include <set>

#include "tests/analysis/window/series.hpp"

using namespace pclscope;

namespace {

constexpr std::int32_t ranks_per_region = 4;

struct Run {
  std::int32_t regions = 0;
  std::vector<std::vector<Message>> messages;  // by window; Message::bytes is a number of its own
  std::vector<std::int32_t> region_of_rank;
  std::map<std::pair<std::uint64_t, std::int32_t>, Evolutions::Verdict> verdicts;
  std::uint64_t bites_at = 0;  // number of the first window that was not simply kept
  std::vector<Message> stored;
  std::vector<MpiCall> stored_calls;  // of one for each rank and window, with the window's number as its `bytes`
  MessageTotals totals;
};

std::int32_t region_of(const Run& run, std::int32_t rank) { return run.region_of_rank[static_cast<std::size_t>(rank)]; }

// Regions with episodes of their own; windows now and then silent for one; messages within and between regions.
Run simulate(std::uint64_t seed, std::int32_t regions, int windows, std::uint64_t memory) {
  std::mt19937_64 random(seed);
  std::normal_distribution<double> normal;
  Run run;
  run.regions = regions;
  for (std::int32_t r = 0; r < regions * ranks_per_region; ++r) run.region_of_rank.push_back(10 + r / ranks_per_region);
  run.region_of_rank.push_back(-1);  // two ranks without a region
  run.region_of_rank.push_back(-1);
  const auto ranks = static_cast<std::int32_t>(run.region_of_rank.size());
  Evolutions evolutions;
  std::vector<std::int32_t> present;
  for (std::int32_t r = 0; r < regions; ++r) present.push_back(10 + r);
  constexpr std::uint64_t budget = 40'000'000;
  MessageRetention retention(
      Keep::interesting, budget, memory,
      [&](std::span<const Message> m) { run.stored.insert(run.stored.end(), m.begin(), m.end()); },
      [&](std::span<const MpiCall> c) { run.stored_calls.insert(run.stored_calls.end(), c.begin(), c.end()); });
  std::vector<int> offset(static_cast<std::size_t>(regions));
  for (int& o : offset) o = static_cast<int>(random() % 300);
  std::uint64_t next = 1;
  const auto collect = [&] {
    for (const auto& v : evolutions.verdicts()) run.verdicts[{v.window, v.region}] = v;
  };
  for (int t = 0; t < windows; ++t) {
    Window window;
    window.begin_s = 0.1 * t;
    window.length_s = 0.1;
    std::vector<std::uint64_t> inside(static_cast<std::size_t>(regions));
    std::vector<Message>& messages = run.messages.emplace_back();
    for (std::uint64_t i = 0; i < 20 + random() % 30; ++i) {
      Message m;
      m.source = static_cast<std::int32_t>(random() % static_cast<std::uint64_t>(ranks));
      m.destination = random() % 4 ? std::min(m.source / 4 * 4 + static_cast<std::int32_t>(random() % 4), ranks - 1)
                                   : static_cast<std::int32_t>(random() % static_cast<std::uint64_t>(ranks));
      m.bytes = next++;
      m.recv_end = t * 100'000'000LL;
      messages.push_back(m);
      const std::int32_t r = region_of(run, m.source);
      if (r >= 0 && r == region_of(run, m.destination)) ++inside[static_cast<std::size_t>(r - 10)];
    }
    for (std::int32_t r = 0; r < regions; ++r) {
      const int at = (t + offset[static_cast<std::size_t>(r)]) % 300;
      const double ratio = (at < 200   ? 1
                            : at < 215 ? 1 + 0.1 * (at - 199)
                            : at < 260 ? 2.6
                                       : 1) *
                           std::exp(0.02 * normal(random));
      if (inside[static_cast<std::size_t>(r)] == 0) continue;
      window.regions.push_back(series::window(ratio, inside[static_cast<std::size_t>(r)]));
      window.regions.back().region = 10 + r;
    }
    const std::uint64_t number = evolutions.close_window(window, present);
    collect();
    retention.set_file_bytes(t < 100 ? 1000 : budget / 3);
    run.bites_at = 100;
    std::vector<MpiCall> calls(static_cast<std::size_t>(ranks));
    for (std::int32_t rank = 0; rank < ranks; ++rank) {
      calls[static_cast<std::size_t>(rank)].rank = rank;
      calls[static_cast<std::size_t>(rank)].bytes = number;
    }
    retention.add_calls(calls.size(), [&](const auto& sink) { sink(calls); });
    retention.add(window, number, messages, run.region_of_rank, evolutions);
    REQUIRE(retention.bytes() <= std::max<std::size_t>(memory, 1'000'000));
  }
  evolutions.finish();
  collect();
  retention.finish(evolutions);
  CHECK(retention.stored() == run.stored.size());
  CHECK(retention.stored() + retention.left_out() == next - 1);
  CHECK(run.stored_calls.size() + retention.calls_left_out() == run.messages.size() * static_cast<std::size_t>(ranks));
  CHECK(retention.waiting() == 0);
  CHECK(retention.bites_since_s() >= 10);
  REQUIRE(retention.bites());
  CHECK_FALSE(retention.bites());
  return run;
}

// The windows of one region that must be stored; of each `other` period the middle is taken from what was stored, if
// it lies near enough to the true one.
std::set<std::uint64_t> windows_of(const Run& run, std::int32_t region, const std::set<std::uint64_t>& seen) {
  std::set<std::uint64_t> keep;
  std::vector<std::uint64_t> other;
  const auto end_other = [&] {
    if (other.empty()) return;
    keep.insert(other.front());
    keep.insert(other.back());
    const double middle = static_cast<double>(other.size() - 1) / 2;
    std::vector<std::size_t> inner;
    for (std::size_t i = 1; i + 1 < other.size(); ++i)
      if (other[i] >= run.bites_at && seen.contains(other[i])) inner.push_back(i);
    // Before it bites everything is there: the middle may be among that.
    const std::size_t middle_index = (other.size() - 1) / 2;
    if (other.size() > 2 && inner.empty()) CHECK(other[middle_index] < run.bites_at + other.size() / 16 + 1);
    if (!inner.empty()) {
      CHECK(inner.size() == 1);
      CHECK(std::fabs(static_cast<double>(inner.front()) - middle) <= static_cast<double>(other.size()) / 16 + 0.5);
      for (const std::size_t i : inner) keep.insert(other[i]);
    }
    other.clear();
  };
  for (std::uint64_t w = 0; w < run.messages.size(); ++w) {
    Evolutions::Verdict verdict{w, region, PeriodKind::other, false};
    if (region >= 0) {
      const auto found = run.verdicts.find({w, region});
      if (found == run.verdicts.end()) continue;
      verdict = found->second;
    } else if (w < run.bites_at) {
      continue;  // ranks without a region count from when it bites
    }
    if (verdict.first) end_other();
    if (verdict.kind == PeriodKind::other) other.push_back(w);
    else keep.insert(w);
  }
  end_other();
  return keep;
}

void check_against_reference(const Run& run) {
  std::map<std::uint64_t, std::uint64_t> window_of;
  for (std::uint64_t w = 0; w < run.messages.size(); ++w)
    for (const Message& m : run.messages[w]) window_of[m.bytes] = w;
  std::set<std::uint64_t> stored;
  std::map<std::int32_t, std::set<std::uint64_t>> seen;  // windows of which a message inside the region is stored
  std::uint64_t twice = 0;
  for (const Message& m : run.stored) {
    twice += !stored.insert(m.bytes).second;
    const std::int32_t r = region_of(run, m.source);
    if (r == region_of(run, m.destination)) seen[r].insert(window_of[m.bytes]);
  }
  REQUIRE(twice == 0);
  std::map<std::int32_t, std::set<std::uint64_t>> keep;
  for (std::int32_t r = 0; r < run.regions; ++r) keep[10 + r] = windows_of(run, 10 + r, seen[10 + r]);
  keep[-1] = windows_of(run, -1, seen[-1]);
  std::uint64_t wrong = 0;
  for (std::uint64_t w = 0; w < run.messages.size(); ++w)
    for (const Message& m : run.messages[w]) {
      const bool wanted = w < run.bites_at || keep[region_of(run, m.source)].contains(w) ||
                          keep[region_of(run, m.destination)].contains(w);
      wrong += wanted != stored.contains(m.bytes);
    }
  CHECK(wrong == 0);
}

// A call is stored when a message inside its rank's region is.
void check_calls(const Run& run) {
  std::set<std::uint64_t> stored;
  for (const Message& m : run.stored) stored.insert(m.bytes);
  std::set<std::pair<std::uint64_t, std::int32_t>> calls;
  std::uint64_t twice = 0;
  for (const MpiCall& c : run.stored_calls) twice += !calls.insert({c.bytes, c.rank}).second;
  REQUIRE(twice == 0);
  std::uint64_t wrong = 0, kept = 0, looked_at = 0;
  for (std::uint64_t w = 0; w < run.messages.size(); ++w)
    for (const Message& m : run.messages[w]) {
      if (region_of(run, m.source) != region_of(run, m.destination)) continue;
      for (std::size_t rank = 0; rank < run.region_of_rank.size(); ++rank) {
        if (run.region_of_rank[rank] != region_of(run, m.source)) continue;
        wrong += calls.contains({w, static_cast<std::int32_t>(rank)}) != stored.contains(m.bytes);
        kept += stored.contains(m.bytes);
        ++looked_at;
      }
    }
  CHECK(wrong == 0);
  CHECK(kept > looked_at / 10);
  CHECK(kept < looked_at * 9 / 10);
}

}  // namespace

TEST_CASE("what is kept is what a reference keeps that knows the whole series") {
  for (std::uint64_t seed = 1; seed <= 6; ++seed) {
    CAPTURE(seed);
    const Run run = simulate(seed, 1 + static_cast<std::int32_t>(seed), 1500, 64 << 20);
    check_against_reference(run);
    check_calls(run);
    std::uint64_t all = 0;
    for (const auto& window : run.messages) all += window.size();
    CHECK(run.stored.size() < all * 8 / 10);
    CHECK(run.stored.size() > all / 10);
  }
}

TEST_CASE("stored in the order of windows, but for the middles and ends of other periods") {
  const Run run = simulate(11, 3, 1500, 64 << 20);
  std::int64_t newest = INT64_MIN;
  std::set<std::int64_t> late;
  std::uint64_t previous = 0;
  std::int64_t previous_time = INT64_MIN;
  for (const Message& m : run.stored) {
    if (m.recv_end < newest) late.insert(m.recv_end);
    newest = std::max(newest, m.recv_end);
    if (m.recv_end == previous_time) CHECK(m.bytes > previous);
    previous_time = m.recv_end;
    previous = m.bytes;
  }
  std::size_t others = 0;
  for (const auto& [key, verdict] : run.verdicts) others += verdict.first && verdict.kind == PeriodKind::other;
  std::cout << late.size() << " windows came late; " << others << " other periods of regions\n";
  CHECK(late.size() <= 2 * (others + 1));
}

TEST_CASE("short of memory: within its bound, growth and steady periods are still kept almost whole") {
  const Run run = simulate(21, 4, 1500, 1'000'000);
  std::set<std::uint64_t> stored;
  for (const Message& m : run.stored) stored.insert(m.bytes);
  REQUIRE(stored.size() == run.stored.size());
  std::uint64_t wanted = 0, kept = 0;
  for (std::uint64_t w = 0; w < run.messages.size(); ++w)
    for (const Message& m : run.messages[w]) {
      const auto verdict = run.verdicts.find({w, region_of(run, m.source)});
      if (verdict == run.verdicts.end() || verdict->second.kind == PeriodKind::other) continue;
      ++wanted;
      kept += stored.contains(m.bytes);
    }
  std::cout << "short of memory: kept " << kept << " of " << wanted << " messages of growth and steady periods\n";
  CHECK(kept >= wanted * 9 / 10);
}
