// Calls as lines and arches: pixels against a look at every call, and the distance of the mouse against a walk along
// the curve.
#include "viewer/layout/call_strokes.hpp"

#include <catch2/catch.hpp>
#include <cmath>
#include <numbers>
#include <random>

#include "tests/seed.hpp"
#include "tests/viewer/layout/paper_program.hpp"
#include "viewer/layout/call_painter.hpp"
#include "viewer/layout/call_part.hpp"
#include "viewer/layout/lit_calls.hpp"

using namespace pclscope;
using namespace pclscope::layout;
using session::CallPoint;
using session::CallShape;

namespace {

constexpr double ns = 1e-9;

MpiCall call_of(std::int32_t rank, std::int64_t begin, std::int64_t length, std::uint16_t function = 300) {
  MpiCall call;
  call.rank = rank;
  call.function = function;
  call.begin = begin;
  call.end = begin + length;
  return call;
}

std::shared_ptr<const session::TimelineRun> run_of(const std::vector<MpiCall>& calls) {
  return session::timeline_of(64, calls, {}, {}, false);
}

CallQuestion question_of(CallShape shape, double end_s, int width = 240, int height = 150) {
  CallQuestion q;
  q.shape = shape;
  q.range = {0, end_s};
  q.durations = {4, 20};
  q.width = width;
  q.height = height;
  return q;
}

CallBuffers drawn(const std::vector<MpiCall>& calls, const CallQuestion& q) {
  const std::vector<std::uint16_t> functions{300, 328};
  return stroke_buffers(CallDensity(), run_of(calls).get(), FunctionColours(functions), q);
}

float at(const CallBuffers& b, int x, int y) {
  return b.density[static_cast<std::size_t>(y) * static_cast<std::size_t>(b.width) + static_cast<std::size_t>(x)];
}

// One call per rank, anywhere, some beyond the picture.
std::vector<MpiCall> some_calls(std::mt19937_64& random, double end_s) {
  std::vector<MpiCall> calls;
  const auto end = static_cast<std::int64_t>(end_s * 1e9);
  for (std::int32_t rank = 0; rank < 24; ++rank)
    calls.push_back(call_of(rank, static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(end)) - end / 8,
                            static_cast<std::int64_t>(std::exp2(5 + static_cast<double>(random() % 140) / 10)),
                            random() % 2 ? 300 : 328));
  return calls;
}

}  // namespace

TEST_CASE("lines: a pixel has as many calls as cover it, and their mean colour") {
  const std::uint64_t seed = test::random_seed();
  CAPTURE(seed);
  std::mt19937_64 random(seed);
  for (int round = 0; round < 10; ++round) {
    const double end_s = 0.0003 * static_cast<double>(1 + random() % 9);
    const auto calls = some_calls(random, end_s);
    const CallQuestion q = question_of(CallShape::lines, end_s);
    const CallBuffers b = drawn(calls, q);
    std::vector<double> expected(b.density.size(), 0), red(b.density.size(), 0);
    const std::vector<std::uint16_t> functions{300, 328};
    const FunctionColours colours(functions);
    for (const MpiCall& c : calls) {
      const double first = std::floor(static_cast<double>(c.begin) * ns / end_s * q.width),
                   last = std::floor(static_cast<double>(c.end) * ns / end_s * q.width);
      const double y = (20 - std::log2(static_cast<double>(c.end - c.begin))) / 16 * q.height - 0.5;
      for (int x = 0; x < q.width; ++x)
        for (int row = 0; row < q.height; ++row) {
          const double part = std::min(y + 1, row + 1.0) - std::max(y, static_cast<double>(row));
          if (x < first || x > last || part <= 0) continue;
          expected[static_cast<std::size_t>(row * q.width + x)] += part;
          red[static_cast<std::size_t>(row * q.width + x)] += part * colours.of(c.function).red;
        }
    }
    for (std::size_t i = 0; i < expected.size(); ++i) {
      REQUIRE(static_cast<double>(b.density[i]) == Approx(expected[i]).margin(2e-3));
      if (expected[i] > 0.05) REQUIRE(static_cast<double>(b.colour[3 * i]) == Approx(red[i] / expected[i]).margin(2));
    }
  }
}

TEST_CASE("arches: each rises at its begin, is as high as its call was long, comes down at its end, without a gap") {
  const std::uint64_t seed = test::random_seed();
  CAPTURE(seed);
  std::mt19937_64 random(seed);
  const double end_s = 0.002;
  for (int round = 0; round < 200; ++round) {
    const CallQuestion q = question_of(CallShape::arches, end_s, 200 + static_cast<int>(random() % 200));
    const double per_ns = q.width / (end_s * 1e9);
    const auto length = static_cast<std::int64_t>(std::exp2(5 + static_cast<double>(random() % 140) / 10));
    const auto begin = static_cast<std::int64_t>(random() % 1'500'000);
    const CallBuffers b = drawn({call_of(3, begin, length)}, q);
    const double left = static_cast<double>(begin) * per_ns, right = static_cast<double>(begin + length) * per_ns;
    const double top = (20 - std::log2(static_cast<double>(length))) / 16 * q.height;
    const double middle = (left + right) / 2, half = (right - left) / 2;
    int before_low = -1, before_high = -1;
    float highest = static_cast<float>(q.height);
    for (int x = 0; x < q.width; ++x) {
      int low = q.height, high = -1;
      for (int y = 0; y < q.height; ++y)
        if (at(b, x, y) > 0) low = std::min(low, y), high = std::max(high, y);
      const bool crossed = x >= std::floor(left) && x <= std::floor(right);
      REQUIRE((high >= 0) == crossed);
      if (!crossed) continue;
      for (int y = low; y <= high; ++y) REQUIRE(at(b, x, y) > 0);
      if (before_high >= 0) REQUIRE((low <= before_high + 1 && high >= before_low - 1));
      before_low = low, before_high = high;
      highest = std::min(highest, static_cast<float>(low));
      // The curve in the middle of the column lies on what is drawn.
      const double u = half > 0 ? (x + 0.5 - middle) / half : 0;
      if (std::fabs(u) < 1) {
        const double y = q.height - (q.height - top) * std::sqrt(1 - u * u);
        REQUIRE(y >= low - 0.51);
        REQUIRE(y <= high + 1.51);
      }
    }
    REQUIRE(static_cast<double>(highest) == Approx(std::floor(top)).margin(1.01));
    if (half >= 3) {  // both feet stand on the ground
      REQUIRE(at(b, static_cast<int>(left), q.height - 1) > 0);
      if (right < q.width) REQUIRE(at(b, static_cast<int>(right), q.height - 1) > 0);
    }
  }
}

TEST_CASE("strokes of many calls are the sum of the strokes of each") {
  const std::uint64_t seed = test::random_seed();
  CAPTURE(seed);
  std::mt19937_64 random(seed);
  for (const CallShape shape : {CallShape::lines, CallShape::arches}) {
    const CallQuestion q = question_of(shape, 0.0007);
    const auto calls = some_calls(random, 0.0007);
    const CallBuffers all = drawn(calls, q);
    std::vector<float> sum(all.density.size(), 0);
    for (const MpiCall& c : calls) {
      const CallBuffers one = drawn({c}, q);
      for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += one.density[i];
    }
    for (std::size_t i = 0; i < sum.size(); ++i) REQUIRE(all.density[i] == Approx(sum[i]).margin(1e-3));
    CHECK(*std::max_element(sum.begin(), sum.end()) > 0);
  }
}

TEST_CASE("strokes of counts stand where those of single calls do, to a slice and a bin") {
  const std::vector<std::uint16_t> functions{300};
  const FunctionColours colours(functions);
  for (const CallShape shape : {CallShape::lines, CallShape::arches}) {
    density::Pyramid pyramid({.most_slices = 512, .budget_bytes = 1u << 20, .first_shift = 10});
    std::vector<MpiCall> calls;
    for (std::int32_t rank = 0; rank < 20; ++rank) {  // three at once
      calls.push_back(call_of(rank, 60'000 + 20'000 * (rank / 3), 90'000));
      pyramid.call_inside(pyramid.place(300), rank, calls.back().begin, calls.back().end);
    }
    const CallDensity density = pyramid.value();
    const CallQuestion q = question_of(shape, 0.0004, 100, 80);
    const CallBuffers counts = stroke_buffers(density, nullptr, colours, q), singles = drawn(calls, q);
    double sums[2] = {};
    for (int y = 0; y < q.height; ++y)
      for (int x = 0; x < q.width; ++x) {
        sums[0] += static_cast<double>(at(counts, x, y)), sums[1] += static_cast<double>(at(singles, x, y));
        if (at(singles, x, y) < 0.5f) continue;
        float near = 0;  // a slice is a quarter of a pixel, a bin a third of one; the end may be 9 % off
        for (int dy = -2; dy <= 2; ++dy)
          for (int dx = -3; dx <= 3; ++dx)
            if (x + dx >= 0 && x + dx < q.width && y + dy >= 0 && y + dy < q.height)
              near = std::max(near, at(counts, x + dx, y + dy));
        REQUIRE(near > 0);
      }
    CHECK(sums[0] == Approx(sums[1]).epsilon(0.15));
  }
}

TEST_CASE("distance to a line or an arch: never less than that to the curve, and not much more") {
  const std::uint64_t seed = test::random_seed();
  CAPTURE(seed);
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<> unit(0, 1);
  for (int round = 0; round < 2000; ++round) {
    const std::vector<MpiCall> calls{call_of(0, 100'000, static_cast<std::int64_t>(std::exp2(6 + 12 * unit(random))))};
    const session::TimelineCall call = session::timeline_call(calls[0]);
    CallPoint point;
    point.ns_per_pixel = 1000;
    point.octaves_per_pixel = 0.05;
    point.foot_log2_ns = 4;
    point.shape = random() % 2 ? CallShape::lines : CallShape::arches;
    const double length = std::log2(static_cast<double>(call.end - call.begin));
    const double left = static_cast<double>(call.begin) / 1000, right = static_cast<double>(call.end) / 1000;
    const double high = (length - 4) / 0.05;  // pixels over the foot
    const double middle = (left + right) / 2, half = (right - left) / 2;
    const auto curve = [&](int i) {
      const double angle = std::numbers::pi * i / 4000;
      return point.shape == CallShape::lines ? std::pair(left + (right - left) * i / 4000, high)
                                             : std::pair(middle - half * std::cos(angle), high * std::sin(angle));
    };
    const auto [x, y] = curve(static_cast<int>(random() % 4001));
    const double mx = x + 12 * (unit(random) - 0.5), my = std::max(0.0, y + 12 * (unit(random) - 0.5));
    point.at_ns = mx * 1000;
    point.log2_ns = 4 + my * 0.05;
    double truth = 1e9;
    for (int i = 0; i <= 4000; ++i) truth = std::min(truth, std::hypot(curve(i).first - mx, curve(i).second - my));
    const double told = std::sqrt(point.distance(call, false));
    CAPTURE(mx, my, left, right, high, truth, told);
    REQUIRE(told >= truth - 0.6);      // an arch below a pixel counts as one
    REQUIRE(told <= 1.3 * truth + 1);  // of 120,000 none above 1.2 truth + 0.9
  }
}

TEST_CASE("calls are arches while they are few, then lines, then points; asked for, any shape has any number") {
  for (const auto& [ranks, shape] : {std::pair(8, CallShape::lines), std::pair(4096, CallShape::points)}) {
    CallRequest request;
    request.snapshot = std::make_shared<const Snapshot>(test::inversion(ranks));
    request.stack = false;
    request.range = {0, request.snapshot->duration_s};
    request.width = 300, request.height = 200;
    CallPicture picture = CallPainter()(request);
    CHECK(picture.shape == shape);
    for (const CallShape asked : {CallShape::points, CallShape::lines, CallShape::arches}) {
      request.shape = asked;
      picture = CallPainter()(request);
      CHECK(picture.shape == asked);
      CHECK_FALSE(picture.singly);
      std::size_t seen = 0;
      for (std::size_t i = 3; i < picture.image.rgba.size(); i += 4) seen += picture.image.rgba[i] > 0;
      CHECK(seen > 500);
    }
  }
  CHECK(shape_of(most_arches_drawn) == CallShape::arches);
  CHECK(shape_of(most_arches_drawn + 1) == CallShape::lines);
  CHECK(shape_of(most_lines_drawn + 1) == CallShape::points);
}

TEST_CASE("each call is drawn by itself only where all of them are stored") {
  test::PaperCalls made(16);
  test::matrix_operations(made);
  CallRequest request;
  request.snapshot = std::make_shared<const Snapshot>(made.snapshot());
  request.stack = false;
  request.range = {0, request.snapshot->duration_s};
  request.width = 300, request.height = 200;
  request.shape = CallShape::arches;
  auto run = std::make_shared<session::TimelineRun>(*session::timeline_of(16, made.kept(), {}, {}, false));
  run->count = {true, made.kept().size(), 0, 0};
  request.run = run;
  CHECK(CallPainter()(request).singly);
  // As many were lost from the middle.
  const double middle = request.snapshot->duration_s / 2;
  auto fewer = made.kept();
  std::erase_if(fewer,
                [&](const MpiCall& c) { return std::fabs(static_cast<double>(c.begin) * ns - middle) < middle / 4; });
  REQUIRE(fewer.size() < made.kept().size());
  auto part = std::make_shared<session::TimelineRun>(*session::timeline_of(16, fewer, {}, {}, false));
  part->count = {true, fewer.size(), made.kept().size() - fewer.size(), 0};
  request.run = part;
  CHECK_FALSE(CallPainter()(request).singly);
  request.range = {0, middle / 4};
  CHECK(CallPainter()(request).singly);
}

TEST_CASE("arches of selected ranks light up, each call once, and where they are many their tops do") {
  LitRequest request;
  const std::vector<std::uint16_t> functions{300};
  request.colours = FunctionColours(functions);
  std::vector<MpiCall> calls;
  for (int i = 0; i < 40; ++i) calls.push_back(call_of(5, 2'000 + 20'000 * i, 15'000));
  calls.push_back(call_of(6, 2'000, 600'000));
  request.run = run_of(calls);
  request.ranks = {5};
  request.shape = CallShape::arches;
  request.range = {0, 0.0008};
  request.durations = {4, 20};
  request.width = 400, request.height = 160;
  const LitCalls lit = light_calls(request);
  CHECK(lit.calls == 40);
  CHECK(lit.lines);
  const auto alpha = [&](int x, int y) { return lit.image.rgba[static_cast<std::size_t>(y * 400 + x) * 4 + 3]; };
  const int top = static_cast<int>((20 - std::log2(15'000.0)) * 10);
  for (int i = 0; i < 40; ++i) {
    const int middle = static_cast<int>((2'000 + 20'000 * i + 7'500) / 2000.0);
    bool found = false;
    for (int y = top - 1; y <= top + 1; ++y) found = found || alpha(middle, y) > 0;
    CHECK(found);
    CHECK(alpha(middle, 150) == 0);  // it is hollow
  }
  for (int y = 0; y < top - 2; ++y)
    for (int x = 0; x < 400; ++x) REQUIRE(alpha(x, y) == 0);  // that of rank 6 is not there
}
