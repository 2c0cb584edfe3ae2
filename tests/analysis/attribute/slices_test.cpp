// The bounded series of slices: sums survive merging, however long a job runs.
#include "analysis/attribute/slices.hpp"

#include <catch2/catch.hpp>
#include <random>

#include "analysis/attribute/intervals.hpp"
#include "analysis/attribute/words.hpp"
#include "tests/analysis/attribute/exchange.hpp"

using namespace pclscope;
using namespace pclscope::attribute;
using pclscope::test::ms;

TEST_CASE("However long it runs: at most 256 slices, without gaps, and all that was added") {
  const std::uint32_t seed = 11;
  CAPTURE(seed);
  std::mt19937 random(seed);
  Slices slices(100, 100 * ms);
  double wait = 0, caused = 0;
  std::uint64_t messages = 0, samples = 0;
  std::int64_t now = 0;
  for (int i = 0; i < 20'000; ++i) {
    Slice& s = slices.advance(now, now + 100 * ms);
    s.wait_s += 0.25;
    wait += 0.25;
    s.intra_messages += 3;
    messages += 3;
    Slices::row(s, 7)->caused_s += 1;  // what matters most stays
    caused += 1;
    ++s.cell(0, 1, 12).samples;
    ++samples;
    now += random() % 50 == 0 ? 100'000 * ms : 100 * ms;
  }
  const std::vector<Slice>& all = slices.all();
  CHECK(all.size() <= Slices::most);
  CHECK(all.size() > Slices::full);
  double wait_after = 0, caused_after = 0;
  std::uint64_t messages_after = 0, samples_after = 0;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (i > 0) CHECK(all[i].begin_ns == all[i - 1].end_ns);
    CHECK(all[i].end_ns > all[i].begin_ns);
    CHECK((all[i].dense || all[i].ranks.size() <= Slices::kept_ranks));
    wait_after += all[i].wait_s;
    messages_after += all[i].intra_messages;
    for (const TransferCell& c : all[i].cells) samples_after += c.samples;
    if (const RankShare* r = all[i].share_of(7)) caused_after += r->caused_s;
  }
  CHECK(wait_after == Approx(wait));
  CHECK(messages_after == messages);
  CHECK(samples_after == samples);
  CHECK(caused_after == Approx(caused));
}

TEST_CASE("A wait is spread over the slices that it lies in, by time") {
  Slices slices(2, 100 * ms);
  for (int i = 0; i < 30; ++i) slices.advance(i * 100 * ms, (i + 1) * 100 * ms);
  std::vector<double> shares;
  slices.spread(700 * ms, 1700 * ms, [&](Slice&, double share) { shares.push_back(share); });
  REQUIRE(shares.size() == 3);  // newest first: [1.5, 1.7], [1.0, 1.5], [0.7, 1.0]
  CHECK(shares[0] == Approx(0.2));
  CHECK(shares[1] == Approx(0.5));
  CHECK(shares[2] == Approx(0.3));
  int outside = 0;
  slices.spread(50'000 * ms, 60'000 * ms, [&](Slice&, double) { ++outside; });
  slices.spread(20 * ms, 20 * ms, [&](Slice&, double) { ++outside; });
  slices.spread(20 * ms, 10 * ms, [&](Slice&, double) { ++outside; });
  CHECK(outside == 0);
}

TEST_CASE("Times out of all order make no endless series") {
  Slices slices(2, 100 * ms);
  std::mt19937_64 random(3);
  for (int i = 0; i < 1000; ++i) {
    const auto begin = static_cast<std::int64_t>(random());
    slices.advance(begin, begin / 2);
  }
  slices.advance(INT64_MIN, INT64_MAX);
  CHECK(slices.all().size() <= Slices::most);
}

TEST_CASE("A majority is found in one pass") {
  Majority<int> m{-1, 0};
  for (const int v : {1, 2, 2, 3, 2, 2, 1, 2}) m.add(v, 1);
  CHECK(m.value == 2);
  CHECK(m.votes > 0);
}

TEST_CASE("An interval begins and ends within its first and last slice; short breaks belong to it, long ones do not") {
  std::vector<Slice> slices(40);
  std::vector<double> cost(40);
  std::vector<char> active(40);
  for (std::size_t i = 0; i < 40; ++i) {
    slices[i].begin_ns = static_cast<std::int64_t>(i) * 500 * ms;
    slices[i].end_ns = slices[i].begin_ns + 500 * ms;
    slices[i].intra_messages = 10;
    const bool acts = (i >= 4 && i < 12 && i != 7) || (i >= 20 && i < 30);
    active[i] = acts;
    cost[i] = acts ? 1 : 0;
  }
  cost[4] = 0.5;
  cost[11] = 0.4;
  const std::vector<Interval> intervals = intervals_of(slices, cost, active);
  REQUIRE(intervals.size() == 2);
  CHECK(intervals[0].first == 4);
  CHECK(intervals[0].last == 11);
  CHECK(intervals[0].cost_s == Approx(5.9));
  CHECK(intervals[0].begin_s == Approx(2.25).margin(0.1));  // the inner slices cost 5/6 each
  CHECK(intervals[0].end_s == Approx(5.75).margin(0.1));
  CHECK(intervals[1].begin_s == Approx(10));
  CHECK(intervals[1].end_s == Approx(15));
  CHECK(intervals[1].share == Approx(1));
  CHECK(persistence(intervals[1]) == Approx(1));
  CHECK(persistence(intervals[1], 1) < 0.1);  // one event, however long
}

TEST_CASE("What acts for long at a lower rate belongs to the period, and noise before it does not") {
  std::vector<Slice> slices(80);  // half a second each
  for (std::size_t i = 0; i < slices.size(); ++i) {
    slices[i].begin_ns = static_cast<std::int64_t>(i) * 500'000'000;
    slices[i].end_ns = slices[i].begin_ns + 500'000'000;
  }
  const std::size_t onset = 20, more = 36, end = 72;
  const double noise = 0.02, low = GENERATE(0.12, 0.2, 0.35), high = 1;
  std::vector<double> cost(slices.size(), noise);
  std::vector<char> active(slices.size(), 0);
  for (std::size_t i = onset; i < end; ++i) {
    cost[i] = i < more ? low : high;
    active[i] = 1;
  }
  active[more - 6] = GENERATE(0, 1);  // one of them may not count
  SECTION("lower first") {
    const std::vector<Interval> one = intervals_of(slices, cost, active);
    REQUIRE(one.size() == 1);
    CHECK(one[0].begin_s == Approx(10).margin(1e-6));
    CHECK(one[0].end_s == Approx(36).margin(1e-6));
  }
  SECTION("lower last") {
    std::reverse(cost.begin(), cost.end());
    std::reverse(active.begin(), active.end());
    const std::vector<Interval> one = intervals_of(slices, cost, active);
    REQUIRE(one.size() == 1);
    CHECK(one[0].begin_s == Approx(4).margin(1e-6));
    CHECK(one[0].end_s == Approx(30).margin(1e-6));
  }
  SECTION("what costs hardly more than slices that are not active is cut") {
    std::replace(cost.begin(), cost.end(), noise, low / 3.5);
    const std::vector<Interval> one = intervals_of(slices, cost, active);
    REQUIRE(one.size() == 1);
    CHECK(one[0].begin_s == Approx(18).margin(1e-6));
  }
  SECTION("what is short and little is cut") {
    for (std::size_t i = onset; i < more - 7; ++i) {
      cost[i] = noise;
      active[i] = 0;
    }
    const std::vector<Interval> one = intervals_of(slices, cost, active);
    REQUIRE(one.size() == 1);
    CHECK(one[0].begin_s == Approx(low < 0.2 ? 18 : 14.5).margin(1e-6));
  }
}

TEST_CASE("A rank for which more ranks wait when they are through with all else is slow from where it was slow") {
  // `ranks` in a group with the late one, `more` others that wait in the last collective from `through` on.
  const int ranks = GENERATE(3, 4, 8), more = GENERATE(4, 9);
  const std::size_t calm = GENERATE(0u, 1u, 2u, 3u, 20u), through = calm + GENERATE(2u, 4u, 5u, 30u),
                    end = through + 12;
  const double late = 0.75;  // of the time
  const double before = late * (ranks - 1), after = before + more;
  if (before < 0.2 * after) return;
  std::vector<Slice> slices(end);
  std::vector<double> cost(end, 0.001);
  std::vector<char> active(end, 0);
  for (std::size_t i = 0; i < end; ++i) {
    slices[i].begin_ns = static_cast<std::int64_t>(i) * 500 * ms;
    slices[i].end_ns = slices[i].begin_ns + 500 * ms;
    if (i < calm) continue;
    cost[i] = (i < through ? before : after) / 2;
    active[i] = 1;
  }
  const std::vector<Interval> one = intervals_of(slices, cost, active);
  REQUIRE(one.size() == 1);
  CHECK(one[0].first == calm);
  CHECK(one[0].begin_s == Approx(0.5 * static_cast<double>(calm)).margin(1e-6));
}

TEST_CASE("Figures as people write them") {
  CHECK(words::number(0) == "0");
  CHECK(words::number(1234.5) == "1234");
  CHECK(words::number(12.5) == "12.5");
  CHECK(words::number(0.5) == "0.5");
  CHECK(words::percent(0.234) == "23 %");
  CHECK(words::percent(0.0123) == "1.2 %");
  CHECK(words::ranks({3}) == "rank 3");
  CHECK(words::ranks({1, 2, 3, 4, 5, 6, 7, 8}) == "ranks 1, 2, 3, 4, 5, 6 and 2 more");
  CHECK(words::number(1.0 / 0.0) == "?");
}
