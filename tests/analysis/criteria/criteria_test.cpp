#include "analysis/criteria/criteria.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <random>

#include "analysis/values/message.hpp"

using namespace pclscope;

namespace {

double exact(std::vector<std::int64_t> values, double q) {
  const auto rank = static_cast<std::size_t>(std::ceil(q * static_cast<double>(values.size())));
  const auto at = values.begin() + static_cast<std::ptrdiff_t>(std::max<std::size_t>(rank, 1) - 1);
  std::nth_element(values.begin(), at, values.end());
  return static_cast<double>(*at);
}

}  // namespace

TEST_CASE("quantiles of any distribution are within the stated error") {
  static_assert(LogHistogram::relative_error <= 0.01);
  std::mt19937_64 random(7);
  for (int trial = 0; trial < 300; ++trial) {
    std::lognormal_distribution<> times(1 + trial % 25, 0.01 + 0.01 * (trial % 200));
    const int n = 1 + static_cast<int>(random() % 3000);
    LogHistogram histogram;
    std::vector<std::int64_t> values;
    for (int i = 0; i < n; ++i) {
      const double v = std::min(times(random), 1.7e13);
      values.push_back(static_cast<std::int64_t>(v));
      histogram.add(values.back());
    }
    for (const double q : {0.01, 0.25, 0.5, 0.9, 0.99, 1.0}) {
      INFO("trial " << trial << ", n " << n << ", q " << q);
      const double truth = exact(values, q);
      REQUIRE(std::abs(histogram.quantile(q) - truth) <= truth * LogHistogram::relative_error);
    }
  }
}

TEST_CASE("every single value comes back within the stated error, also at bucket edges") {
  for (int bit = 0; bit < 44; ++bit)
    for (const std::int64_t offset : {-1, 0, 1}) {
      const std::int64_t v = (std::int64_t{1} << bit) + offset;
      LogHistogram histogram;
      histogram.add(v);
      const double middle = histogram.quantile(0.5);
      INFO(v);
      REQUIRE(std::abs(middle - static_cast<double>(v)) <= static_cast<double>(v) * LogHistogram::relative_error);
    }
}

TEST_CASE("times beyond the last bucket and an empty histogram do no harm") {
  LogHistogram histogram;
  CHECK(histogram.quantile(0.5) == 0);
  histogram.add(std::int64_t{1} << 60);
  CHECK(histogram.quantile(0.5) > 1e13);
}

TEST_CASE("size bins partition all sizes: 50 bytes wide, then at most 6.25 %") {
  std::uint64_t end = 0;
  for (std::uint32_t bin = 0; bin < size_bins::count; ++bin) {
    const std::uint64_t low = size_bins::low_of(bin), high = size_bins::low_of(bin + 1);
    REQUIRE(low == end);
    REQUIRE(high > low);
    REQUIRE(size_bins::bin_of(low) == bin);
    REQUIRE(size_bins::bin_of(high - 1) == bin);
    if (low < 12'800) REQUIRE(high - low == 50);
    else REQUIRE(static_cast<double>(high - low) <= 0.0625 * static_cast<double>(low));
    end = high;
  }
  CHECK(end == std::uint64_t{1} << 49);
  CHECK(size_bins::bin_of(~0ull) == size_bins::count - 1);
}

TEST_CASE("criteria are the medians of class and bin, and ratios refer to them") {
  std::mt19937_64 random(11);
  Criteria criteria;
  std::vector<std::int64_t> values[2][3];
  const std::uint64_t sizes[3] = {8, 4000, 1 << 20};
  for (int i = 0; i < 20000; ++i) {
    const bool inter = random() % 2;
    const auto s = random() % 3;
    const auto t = static_cast<std::int64_t>((1000 + random() % 1000) * (s + 1) * (inter ? 10 : 1));
    values[inter][s].push_back(t);
    criteria.add(inter, sizes[s], t, t / 2);
  }
  criteria.refresh();
  const std::vector<Criterion> list = criteria.list();
  REQUIRE(list.size() == 6);
  for (const Criterion& c : list) {
    const auto s = std::find_if(std::begin(sizes), std::end(sizes),
                                [&](std::uint64_t b) { return b >= c.bytes_low && b < c.bytes_high; }) -
                   std::begin(sizes);
    REQUIRE(s < 3);
    const auto& of = values[c.inter_node][s];
    CHECK(c.count == of.size());
    CHECK(c.median_s == Approx(exact(of, 0.5) * 1e-9).epsilon(0.008));
    CHECK(c.transfer_median_s == Approx(exact(of, 0.5) * 0.5e-9).epsilon(0.009));
    CHECK(criteria.inverse_ns(c.inter_node, sizes[s]).time == Approx(1 / exact(of, 0.5)).epsilon(0.008));
    CHECK(criteria.inverse_ns(c.inter_node, sizes[s]).transfer == Approx(2 / exact(of, 0.5)).epsilon(0.009));
  }
}

TEST_CASE("a bin with few samples borrows from a neighbour of similar size only") {
  Criteria criteria;
  for (int i = 0; i < 100; ++i) criteria.add(false, 10'000, 5000, 5000);
  criteria.add(false, 9'000, 90'000, 90'000);    // within a factor of two: judged by the neighbour
  criteria.add(false, 100'000, 90'000, 90'000);  // far away: its own median
  criteria.add(true, 10'000, 70'000, 70'000);    // the other class has nothing
  criteria.refresh();
  CHECK(90'000 * criteria.inverse_ns(false, 9'000).time == Approx(18).epsilon(0.01));
  CHECK(90'000 * criteria.inverse_ns(false, 100'000).time == Approx(1).epsilon(0.01));
  CHECK(70'000 * criteria.inverse_ns(true, 10'000).time == Approx(1).epsilon(0.01));
  for (int i = 0; i < 15; ++i) criteria.add(false, 9'000, 90'000, 90'000);
  criteria.refresh();
  CHECK(90'000 * criteria.inverse_ns(false, 9'000).time == Approx(1).epsilon(0.01));
}

TEST_CASE("saved criteria come back as a baseline") {
  Criteria before;
  for (int i = 0; i < 50; ++i) before.add(true, 123'456, 1000 + i, 1000 + i);
  before.refresh();
  Criteria after;
  after.load(before.list());
  for (int i = 0; i < 50; ++i) after.add(true, 123'456, 5000, 5000);
  after.refresh();
  CHECK(5000 * after.inverse_ns(true, 123'456).time == Approx(5000 / 1024.0).epsilon(0.01));
  CHECK(after.inverse_ns(true, 8).time == 0);
}

TEST_CASE("a baseline without transfers, or with nonsense, leaves the run's own") {
  Criteria criteria;
  criteria.load({{false, 100, 150, 5, 2e-6, 0}, {false, 200, 250, 5, -1, 1}, {true, 0, 50, 1, 1e300 * 1e300, 0}});
  for (int i = 0; i < 50; ++i) criteria.add(false, 100, 8000, 4000), criteria.add(false, 200, 600, 300);
  criteria.refresh();
  CHECK(8000 * criteria.inverse_ns(false, 100).time == Approx(4).epsilon(0.01));
  CHECK(4000 * criteria.inverse_ns(false, 100).transfer == Approx(1).epsilon(0.01));
  CHECK(600 * criteria.inverse_ns(false, 200).time == Approx(1).epsilon(0.01));
  CHECK(criteria.inverse_ns(true, 0).time == 0);
}

TEST_CASE("the wait split tells late senders, late receivers and transfer apart") {
  Message m;
  m.send_begin = 100, m.recv_post = 40, m.recv_wait = 60, m.recv_end = 130;
  CHECK(wait_split(m).late_sender == 40);
  CHECK(wait_split(m).late_receiver == 0);
  CHECK(wait_split(m).transfer == 30);
  m.recv_post = m.recv_wait = 120;
  CHECK(wait_split(m).late_sender == 0);
  CHECK(wait_split(m).late_receiver == 20);
  CHECK(wait_split(m).transfer == 10);
  std::mt19937_64 random(3);
  for (int i = 0; i < 1000; ++i) {
    m.send_begin = static_cast<std::int64_t>(random() % 100);
    m.recv_post = static_cast<std::int64_t>(random() % 100);
    m.recv_wait = m.recv_post + static_cast<std::int64_t>(random() % 50);
    m.recv_end = m.recv_wait + static_cast<std::int64_t>(random() % 50);
    const WaitSplit split = wait_split(m);
    REQUIRE(split.late_receiver + split.transfer == m.time());
    REQUIRE(split.late_sender >= 0);
    REQUIRE(split.late_receiver >= 0);
    if (m.time() >= 0) REQUIRE(split.transfer >= 0);
  }
}
