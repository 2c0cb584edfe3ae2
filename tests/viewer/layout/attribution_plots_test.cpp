#include "viewer/layout/attribution_plots.hpp"

#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <random>

using namespace pclscope;
using namespace pclscope::layout;

namespace {

AttributionSlice slice(double begin, double length, std::uint64_t intra = 0, std::uint64_t inter = 0,
                       double balance = 0) {
  AttributionSlice s;
  s.begin_s = begin;
  s.length_s = length;
  s.intra_messages = intra;
  s.inter_messages = inter;
  s.load_balance = balance;
  return s;
}

const double nan_value = std::numeric_limits<double>::quiet_NaN(), infinite = std::numeric_limits<double>::infinity();

// 0..10 s on x = 100..300, values upwards from y = 60 to y = 10.
Plot plot_to(double high) { return {{{100, 10}, {300, 60}}, {0, 10}, 0, high, false}; }

}  // namespace

TEST_CASE("moments and values to pixels, and back") {
  const Plot p = plot_to(4);
  CHECK(p.x(0) == 100);
  CHECK(p.x(2.5) == 150);
  CHECK(p.x(10) == 300);
  CHECK(p.y(0) == 60);
  CHECK(p.y(1) == 47.5f);
  CHECK(p.y(4) == 10);
  CHECK(p.y(1e300) == 10);
  CHECK(p.moment(150) == Approx(2.5));
  CHECK(p.moment(-1e9f) == 0);
  CHECK(p.moment(1e9f) == 10);
  const Plot doubling{{{0, 0}, {100, 100}}, {0, 1}, 0.5, 8, true};  // four doublings
  CHECK(doubling.y(0.5) == 100);
  CHECK(doubling.y(1) == Approx(75));
  CHECK(doubling.y(2) == Approx(50));
  CHECK(doubling.y(8) == Approx(0).margin(1e-4));
  CHECK(doubling.y(0) == 100);
}

TEST_CASE("rates are counts by length: through the middles, from the first begin to the last end") {
  Attribution a;
  a.slices = {slice(0, 4, 40, 8), slice(4, 4, 80, 0), slice(8, 2, 10, 2)};
  const auto slices = usable_slices(a);
  REQUIRE(slices.size() == 3);
  CHECK(time_range(slices) == TimeRange{0, 10});
  CHECK(highest_rate(a, slices) == 20);
  const auto lines = rate_lines(plot_to(20), a, slices, Between::ranks_of_a_node);
  REQUIRE(lines.size() == 1);
  const Polyline expected{{100, 35}, {140, 35}, {220, 10}, {280, 47.5f}, {300, 47.5f}};  // 10, 20 and 5 per second
  CHECK(lines[0] == expected);
  CHECK(rate_lines(plot_to(20), a, slices, Between::nodes)[0][2].y == 60);
}

TEST_CASE("a gap in time makes two pieces") {
  Attribution a;
  a.slices = {slice(0, 1, 5), slice(1, 1, 5), slice(6, 1, 5), slice(7, 1, 5)};
  const auto lines = rate_lines(plot_to(5), a, usable_slices(a), Between::ranks_of_a_node);
  REQUIRE(lines.size() == 2);
  CHECK(lines[0].front().x == 100);
  CHECK(lines[0].back().x == 140);
  CHECK(lines[1].front().x == 220);
}

TEST_CASE("load balance as bars from the value down to nothing") {
  Attribution a;
  a.slices = {slice(0, 5, 1, 1, 0.5), slice(5, 5, 1, 1, 0), slice(10, 1, 1, 1, nan_value)};
  const auto slices = usable_slices(a);
  CHECK(highest_balance(a, slices) == 0.5);
  const auto bars = balance_bars(plot_to(1), a, slices);
  REQUIRE(bars.size() == 1);
  CHECK(bars[0].area == Rect{{100, 35}, {200, 60}});
  CHECK(bars[0].value == 0.5);
}

TEST_CASE("transfer lines have gaps where no message was") {
  Attribution a;
  for (int i = 0; i < 5; ++i) a.slices.push_back(slice(2 * i, 2));
  TransferLine line;
  line.normalised = {1, 2, 0, 4, std::numeric_limits<float>::quiet_NaN()};
  a.transfer_lines = {line};
  const auto slices = usable_slices(a);
  CHECK(peak_of(line, slices) == 4);
  CHECK(highest_transfer(a, slices) == 4);
  Plot p = plot_to(4);
  p.low = 0.5;
  p.logarithmic = true;
  const auto pieces = transfer_lines(p, line, slices);
  REQUIRE(pieces.size() == 2);
  REQUIRE(pieces[0].size() == 4);
  CHECK(pieces[0][1].y == Approx(60 - 50 / 3.));      // 1 is one of three doublings
  CHECK(pieces[0][2].y == Approx(60 - 2 * 50 / 3.));  // 2 is two
  CHECK(pieces[1][1].y == Approx(10));
  CHECK(pieces[1].back().x == 260);
}

TEST_CASE("powers of two on a logarithmic axis, the usual among them") {
  CHECK(doublings(0.5, 4, 10) == std::vector<double>{0.5, 1, 2, 4});
  CHECK(doublings(0.5, 1000, 4) == std::vector<double>{1, 8, 64, 512});
  CHECK(doublings(0, 4, 4).empty());
  CHECK(doublings(1, infinite, 4).empty());
  CHECK(doublings(0.5, nan_value, 4).empty());
}

TEST_CASE("the slice at a moment") {
  Attribution a;
  a.slices = {slice(1, 1), slice(2, 1), slice(5, 1)};
  const auto slices = usable_slices(a);
  CHECK(slice_at(slices, 0.5) == nullptr);
  CHECK(slice_at(slices, 1)->index == 0);
  CHECK(slice_at(slices, 2)->index == 1);
  CHECK(slice_at(slices, 4) == nullptr);
  CHECK(slice_at(slices, 5.5)->index == 2);
  CHECK(slice_at(slices, 6) == nullptr);
}

TEST_CASE("how far a point is from a line") {
  const Polyline line{{0, 0}, {10, 0}, {10, 10}};
  CHECK(distance_to(line, {5, 3}) == Approx(3));
  CHECK(distance_to(line, {12, 5}) == Approx(2));
  CHECK(distance_to(line, {13, 14}) == Approx(5));
  CHECK(std::isinf(distance_to({{1, 1}}, {1, 1})));
}

TEST_CASE("broken slices are left out, and everything stays inside of the plot") {
  const unsigned seed = 5;
  INFO("seed " << seed);
  std::mt19937 random(seed);
  const double odd[] = {nan_value, infinite, -infinite, 1e300, -1e300, 0, -1, 5};
  const auto value = [&] { return random() % 3 == 0 ? odd[random() % 8] : static_cast<double>(random() % 1000) / 50; };
  for (int round = 0; round < 300; ++round) {
    Attribution a;
    for (std::size_t i = 0, n = random() % 40; i < n; ++i)
      a.slices.push_back(
          slice(value(), value(), random() % 5 == 0 ? UINT64_MAX : random() % 1000, random() % 1000, value()));
    TransferLine line;
    for (std::size_t i = 0, n = random() % 50; i < n; ++i) line.normalised.push_back(static_cast<float>(value()));
    a.transfer_lines = {line};
    const auto slices = usable_slices(a);
    for (std::size_t i = 0; i < slices.size(); ++i) {
      CHECK(slices[i].time.end_s > slices[i].time.begin_s);
      if (i > 0) CHECK(slices[i].time.begin_s >= slices[i - 1].time.end_s);
    }
    const auto range = time_range(slices);
    CHECK(range.has_value() == !slices.empty());
    if (!range) continue;
    Plot p{{{100, 10}, {300, 60}}, *range, 0, highest_rate(a, slices), false};
    const auto inside = [&](Point q) { return q.x >= 99.9f && q.x <= 300.1f && q.y >= 9.9f && q.y <= 60.1f; };
    for (const Between between : {Between::nodes, Between::ranks_of_a_node})
      for (const Polyline& piece : rate_lines(p, a, slices, between))
        for (const Point q : piece) REQUIRE(inside(q));
    p.high = highest_balance(a, slices);
    for (const BalanceBar& bar : balance_bars(p, a, slices)) REQUIRE((inside(bar.area.low) && inside(bar.area.high)));
    p.low = lowest_transfer;
    p.high = highest_transfer(a, slices);
    p.logarithmic = true;
    for (const Polyline& piece : transfer_lines(p, line, slices)) {
      REQUIRE(piece.size() >= 3);
      for (const Point q : piece) REQUIRE(inside(q));
    }
  }
}
