// Stacked activity and the call view: pixels against sums one by one, and the situations of the paper by generator.
#include <catch2/catch.hpp>
#include <cmath>
#include <random>

#include "analysis/density/packing.hpp"
#include "interpose/record/functions.hpp"
#include "tests/analysis/density/random_calls.hpp"
#include "tests/viewer/layout/paper_program.hpp"
#include "viewer/layout/call_painter.hpp"

using namespace pclscope;
using namespace pclscope::layout;
using density::Pyramid;
using density::test::random_calls;

namespace {

constexpr double second = 1e-9;

CallDensity random_density(unsigned seed, std::int64_t until_ns) {
  Pyramid pyramid({.most_slices = 64, .budget_bytes = 1u << 20, .first_shift = 10});
  pyramid.set_regions(std::vector<std::int32_t>{3, 3, 3, 3, 8, 8, -1, -1});
  for (const auto& c : random_calls(seed, 400, until_ns)) density::test::put(pyramid, c);
  return pyramid.value();
}

double total(const std::vector<float>& values) {
  double sum = 0;
  for (const float v : values) sum += static_cast<double>(v);
  return sum;
}

}  // namespace

TEST_CASE("stack: columns are means of their slices, and the area is rank-seconds") {
  for (unsigned seed = 1; seed <= 8; ++seed) {
    std::mt19937 random(seed);
    const std::int64_t until = 3'000'000 + static_cast<std::int64_t>(random() % 9'000'000);
    const CallDensity d = random_density(seed, until);
    const auto functions = density::functions_by_time(d);
    density::StackQuestion q;
    q.functions = std::span(functions).first(3);
    q.ranks = 8;
    q.duration_s = static_cast<double>(until) * second;
    q.end_s = q.duration_s;
    q.columns = 1 + random() % 300;
    if (seed % 2 == 0) q.region = 3;
    const auto stack = density::stack_of(d, q);
    REQUIRE(stack.shares.size() == 4);
    std::vector<double> expected(4, 0), found(4, 0);
    for (const auto& i : d.inside) {
      if (q.region && i.region != *q.region) continue;
      const auto layer = std::find(functions.begin(), functions.begin() + 3, i.function) - functions.begin();
      expected[static_cast<std::size_t>(layer)] += static_cast<double>(i.ns) * second;
    }
    for (std::size_t layer = 0; layer < 4; ++layer) {
      found[layer] = total(stack.shares[layer]) * q.ranks * q.duration_s / static_cast<double>(q.columns);
      CHECK(found[layer] == Approx(expected[layer]).epsilon(1e-4));
    }
    // A column, second by second of its slices.
    const std::size_t column = random() % q.columns;
    const double width = q.duration_s / static_cast<double>(q.columns), from = static_cast<double>(column) * width;
    double inside = 0;
    for (const auto& i : d.inside) {
      if ((q.region && i.region != *q.region) || i.function != functions[0]) continue;
      const double slice = std::ldexp(second, d.inside_shift), begin = i.slice * slice,
                   end = std::min(begin + slice, q.duration_s);
      const double overlap = std::min(end, from + width) - std::max(begin, from);
      if (overlap > 0) inside += static_cast<double>(i.ns) * second * overlap / (end - begin);
    }
    CHECK(static_cast<double>(stack.shares[0][column]) == Approx(inside / (width * q.ranks)).margin(1e-6));
  }
}

TEST_CASE("stack: pixels cover as much as the shares say") {
  density::Stack stack;
  stack.functions = {300, 328};
  stack.shares = {{0.25f, 0.1f, 0}, {0.5f, 0.05f, 0}, {0, 0.1f, 0}};
  stack.end_s = 3;
  const FunctionColours colours(stack.functions);
  const Image image = stack_image(stack, colours, 40, 1, std::nullopt);
  REQUIRE((image.width == 3 && image.height == 40));
  const auto pixel = [&](int x, int y) {
    const std::uint8_t* p = &image.rgba[static_cast<std::size_t>(y * 3 + x) * 4];
    return Rgba{p[0], p[1], p[2], p[3]};
  };
  for (int y = 0; y < 40; ++y) {
    const int up = 39 - y;  // from the bottom
    CHECK(pixel(0, y) == (up < 10 ? colours.of(300) : up < 30 ? colours.of(328) : Rgba{0, 0, 0, 0}));
    CHECK(pixel(1, y) == (up < 4    ? colours.of(300)
                          : up < 6  ? colours.of(328)
                          : up < 10 ? other_functions_colour
                                    : Rgba{0, 0, 0, 0}));
    CHECK(pixel(2, y).alpha == 0);
  }
  double covered = 0;
  for (int y = 0; y < 40; ++y) covered += pixel(1, y).alpha / 255.0;
  CHECK(covered == Approx(0.25 * 40).margin(0.1));
  const Image faded = stack_image(stack, colours, 40, 1, 0);
  CHECK(faded.rgba[static_cast<std::size_t>(39 * 3) * 4 + 3] == 255);
  CHECK(faded.rgba[static_cast<std::size_t>(20 * 3) * 4 + 3] == 64);
}

TEST_CASE("calls: density and mean colour of pixels, cell by cell") {
  for (unsigned seed = 1; seed <= 6; ++seed) {
    std::mt19937 random(seed);
    const CallDensity d = random_density(seed, 8'000'000);
    const auto functions = density::functions_by_time(d);
    const FunctionColours colours(functions);
    CallQuestion q;
    q.edge = seed % 2 ? CallEdge::start : CallEdge::end;
    q.range = {0.001, 0.001 + 0.001 * (1 + random() % 6)};
    q.durations = durations_of(d);
    q.width = 5 + static_cast<int>(random() % 120);
    q.height = 5 + static_cast<int>(random() % 120);
    if (seed == 3) q.function = functions[0];
    const CallBuffers b = call_buffers(d, colours, q);
    std::vector<double> expected(b.density.size(), 0), red(b.density.size(), 0);
    const double pixel_s = q.range.length_s() / q.width, pixel_up = (q.durations.high - q.durations.low) / q.height;
    for (const auto& c : d.calls) {
      const auto calls = static_cast<double>(q.edge == CallEdge::start ? c.starts : c.ends);
      if (q.function && c.function != *q.function) continue;
      const double slice = std::ldexp(second, d.calls_shift), bin = 1.0 / d.bins_per_octave;
      for (int y = 0; y < q.height; ++y) {
        for (int x = 0; x < q.width; ++x) {
          const double left = q.range.begin_s + x * pixel_s, top = q.durations.high - y * pixel_up;
          const double across = std::min((c.slice + 1) * slice, left + pixel_s) - std::max(c.slice * slice, left);
          const double up = std::min((c.bin + 1) * bin, top) - std::max(c.bin * bin, top - pixel_up);
          if (across <= 0 || up <= 0) continue;
          const double part = calls * across / std::min(slice, pixel_s) * up / std::min(bin, pixel_up);
          expected[static_cast<std::size_t>(y * q.width + x)] += part;
          red[static_cast<std::size_t>(y * q.width + x)] += part * colours.of(c.function).red;
        }
      }
    }
    double most = 0;
    for (std::size_t i = 0; i < expected.size(); ++i) {
      REQUIRE(static_cast<double>(b.density[i]) == Approx(expected[i]).margin(1e-3));
      if (expected[i] > 1e-3)
        REQUIRE(static_cast<double>(b.colour[3 * i]) == Approx(red[i] / expected[i]).margin(0.05));
      most = std::max(most, expected[i]);
    }
    CHECK(static_cast<double>(b.most) == Approx(most).margin(1e-3));
  }
}

TEST_CASE("calls: opacity by the paper's two maps") {
  CallBuffers b;
  b.width = 4, b.height = 1;
  b.density = {0, 1, 10, 100};
  b.colour = {0, 0, 0, 10, 20, 30, 40, 50, 60, 70, 80, 90};
  b.most = 100;
  const Image log = call_image(b, Opacity::logarithmic, 0.2f), linear = call_image(b, Opacity::linear, 0.2f);
  CHECK(log.rgba[3] == 0);
  CHECK(log.rgba[7] == std::lround(0.2 * 255));
  CHECK(log.rgba[11] == std::lround((0.2 + 0.8 * 0.5) * 255));
  CHECK(log.rgba[15] == 255);
  CHECK(linear.rgba[7] == std::lround((0.2 + 0.8 * 0.01) * 255));
  CHECK(linear.rgba[11] == std::lround((0.2 + 0.8 * 0.1) * 255));
  CHECK(linear.rgba[15] == 255);
  CHECK(std::vector<std::uint8_t>(log.rgba.begin() + 8, log.rgba.begin() + 11) ==
        std::vector<std::uint8_t>{40, 50, 60});
  b.density = {0, 1, 1, 1}, b.most = 1;  // single calls alone
  CHECK(call_image(b, Opacity::logarithmic, 0.2f).rgba[7] == 255);
}

TEST_CASE("colours do not change with the order by time, and the common functions keep theirs") {
  const std::vector<std::uint16_t> some{300, 328, 412, 15}, turned{15, 412, 328, 300};
  for (const std::uint16_t f : some) CHECK(FunctionColours(some).of(f) == FunctionColours(turned).of(f));
  CHECK(FunctionColours(some).of(300) == FunctionColours(std::vector<std::uint16_t>{300}).of(300));
  std::mt19937 random(4);
  for (int i = 0; i < 200; ++i) {
    std::vector<std::uint16_t> functions;
    while (functions.size() < 14) {
      const auto f = static_cast<std::uint16_t>(1 + random() % 450);
      if (std::find(functions.begin(), functions.end(), f) == functions.end()) functions.push_back(f);
    }
    const FunctionColours colours(functions);
    REQUIRE(colours.functions().size() == 10);
    for (std::size_t a = 0; a < 10; ++a)
      for (std::size_t b = 0; b < a; ++b) REQUIRE_FALSE(colours.at(a) == colours.at(b));
    CHECK(colours.of(functions[12]) == other_functions_colour);
  }
}

// --- the situations of the paper (paper_calls.hpp) ---

namespace {

struct Spot {  // counts of a function, by bin
  std::vector<std::uint64_t> by_bin = std::vector<std::uint64_t>(376, 0);
  std::uint64_t between(double low_ns, double high_ns) const {
    std::uint64_t sum = 0;
    for (unsigned b = 0; b < by_bin.size(); ++b)
      if (density::begin_ns(b) >= low_ns && density::begin_ns(b) < high_ns) sum += by_bin[b];
    return sum;
  }
};
Spot spot(const CallDensity& d, record::Function function, bool ends, std::uint32_t first = 0,
          std::uint32_t last = UINT32_MAX) {
  Spot s;
  for (const auto& c : d.calls)
    if (c.function == static_cast<std::uint16_t>(function) && c.slice >= first && c.slice <= last)
      s.by_bin[c.bin] += ends ? c.ends : c.starts;
  return s;
}

}  // namespace

TEST_CASE("matrix multiplication on 256 and 16,384 ranks: layers of sends, receives, reduces, and one allreduce") {
  for (const int ranks : {256, 16384}) {
    const Snapshot s = test::matrix_multiplication(ranks);
    const auto d = density::unpack(s.call_density);
    REQUIRE(d);
    const Spot sends = spot(*d, record::Function::Send, false), receives = spot(*d, record::Function::Recv, false),
               reduces = spot(*d, record::Function::Reduce, false);
    CHECK(sends.between(1e3, 1e4) > 9 * sends.between(1e4, 1e9));         // the shortest layer
    CHECK(receives.between(1e4, 1e5) > receives.between(1e6, 1e9));       // short ones
    CHECK(receives.between(1e6, 1e8) > 0);                                // and a layer of its own above
    CHECK(receives.between(3e5, 9e5) * 20 < receives.between(1e6, 1e8));  // apart from the first
    CHECK(reduces.between(1e5, 1e6) > 0);
    std::uint64_t calls = 0;
    for (const auto& c : d->calls) calls += c.starts;
    CHECK(calls == static_cast<std::uint64_t>(ranks) * (3 * test::rounds + 1));
  }
}

TEST_CASE("LU decomposition: long and short receives take turns") {
  const Snapshot s = test::lu_decomposition(256);
  const auto d = density::unpack(s.call_density);
  REQUIRE(d);
  const double slice_s = std::ldexp(1e-9, d->calls_shift);
  int turns = 0, was = -1;
  for (int phase = 0; phase < test::lu_phases; ++phase) {
    const auto first = static_cast<std::uint32_t>(phase * test::lu_phase_s / slice_s) + 1,
               last = static_cast<std::uint32_t>((phase + 1) * test::lu_phase_s / slice_s) - 2;
    const Spot at = spot(*d, record::Function::Recv, false, first, last);
    const bool is_long = at.between(1e7, 1e9) > at.between(0, 1e6);
    turns += was >= 0 && is_long != (was == 1);
    was = is_long;
  }
  CHECK(turns == test::lu_phases - 1);
}

TEST_CASE("reduces that begin together and end along a logarithm: a column of starts, a curve of ends") {
  const Snapshot s = test::inversion(1024);
  const auto d = density::unpack(s.call_density);
  REQUIRE(d);
  const auto reduce = static_cast<std::uint16_t>(record::Function::Reduce);
  const auto middle = static_cast<std::uint32_t>(test::inversion_part_s / std::ldexp(1e-9, d->calls_shift));
  for (const bool second_part : {false, true}) {
    std::uint32_t first_start = UINT32_MAX, last_start = 0, first_end = UINT32_MAX, last_end = 0;
    std::map<std::uint32_t, std::uint16_t> longest;  // by slice of their ends
    std::uint64_t ends = 0;
    for (const auto& c : d->calls) {
      if (c.function != reduce || (c.slice >= middle) != second_part) continue;
      if (c.starts > 0) first_start = std::min(first_start, c.slice), last_start = std::max(last_start, c.slice);
      if (c.ends > 0) {
        first_end = std::min(first_end, c.slice), last_end = std::max(last_end, c.slice);
        longest[c.slice] = std::max(longest[c.slice], c.bin);
        ends += c.ends;
      }
    }
    CHECK(ends == 1024);
    CHECK(last_start - first_start <= 1);
    CHECK(last_end - first_end > 50);
    std::uint16_t before = 0;
    for (const auto& [slice, bin] : longest) {  // later ends are longer calls
      CHECK(bin >= before);
      before = bin;
    }
    const std::uint32_t from = second_part ? middle : 0, to = second_part ? UINT32_MAX : middle - 1;
    CHECK((spot(*d, record::Function::Bcast, false, from, to).between(0, 1e6) > 1000) == !second_part);
    CHECK((spot(*d, record::Function::Recv, false, from, to).between(0, 1e6) > 1000) == second_part);
  }
}

TEST_CASE("the whole program on 256 ranks: one broadcast holds rank after rank and lets all go at once") {
  test::PaperCalls made(256);
  test::matrix_operations(made);
  const Snapshot s = made.snapshot();
  const auto d = density::unpack(s.call_density);
  REQUIRE(d);
  std::uint64_t calls = 0, longest = 0;
  for (const auto& c : d->calls) calls += c.ends;
  CHECK(calls == made.kept().size());
  std::vector<std::int64_t> begins, ends;
  for (const MpiCall& c : made.kept()) {
    longest = std::max(longest, static_cast<std::uint64_t>(c.end - c.begin));
    if (c.end - c.begin < 400'000'000) continue;
    CHECK(c.function == static_cast<std::uint16_t>(record::Function::Bcast));
    begins.push_back(c.begin), ends.push_back(c.end);
  }
  CHECK(begins.size() == 256);
  CHECK(std::ranges::max(begins) - std::ranges::min(begins) > 1'000'000'000);
  CHECK(std::ranges::max(ends) == std::ranges::min(ends));
  CHECK(static_cast<double>(longest) * second > s.duration_s / 3);
  // In the stack: a ramp that ends in a cliff.
  const std::vector<std::uint16_t> only{static_cast<std::uint16_t>(record::Function::Bcast)};
  density::StackQuestion q;
  q.functions = only;
  q.ranks = 256;
  q.duration_s = s.duration_s;
  q.begin_s = static_cast<double>(std::ranges::min(begins)) * second;
  q.end_s = static_cast<double>(ends.front()) * second + 0.2;
  q.columns = 40;
  const auto stack = density::stack_of(*d, q);
  for (std::size_t column = 1; column < 28; ++column)
    CHECK(stack.shares[0][column] > stack.shares[0][column - 1] - 0.02f);
  CHECK(stack.shares[0][33] > 0.99f);
  CHECK(stack.shares[0][39] < 0.01f);
}

TEST_CASE("a multiplication on more ranks: longer to begin, less computation, and rounds that fade") {
  double before_computing = 1, before_share = 0, swing[2] = {};
  for (const int ranks : {64, 1024, 4096, 16384}) {
    const Snapshot s = test::only(ranks, test::growing_multiplication);
    const auto d = density::unpack(s.call_density);
    REQUIRE(d);
    const auto functions = density::functions_by_time(*d);
    const double begins = test::initialization_s(ranks);
    density::StackQuestion q;
    q.functions = functions;
    q.ranks = ranks;
    q.duration_s = s.duration_s;
    q.begin_s = begins + test::multiplication_s / 3;
    q.end_s = begins + test::multiplication_s * 0.9;
    q.columns = 120;
    const auto stack = density::stack_of(*d, q);
    double sum = 0, lowest = 1, highest = 0;
    for (std::size_t column = 0; column < stack.columns(); ++column) {
      const auto height = static_cast<double>(stack.height(column));
      sum += height / 120, lowest = std::min(lowest, height), highest = std::max(highest, height);
    }
    CHECK(1 - sum < before_computing);
    CHECK(begins / s.duration_s > before_share);
    CHECK((begins > s.duration_s - begins) == (ranks >= 4096));  // as the paper says
    before_computing = 1 - sum, before_share = begins / s.duration_s;
    swing[ranks > 64] = highest - lowest;
  }
  CHECK(before_computing < 0.15);
  CHECK(swing[0] > 0.5);   // cyclic
  CHECK(swing[1] < 0.05);  // no more
}

TEST_CASE("painter: both pictures, region and function, and what older dumps have") {
  CallPainter painter;
  CallRequest request;
  auto snapshot = std::make_shared<Snapshot>(test::lu_decomposition(64));
  request.snapshot = snapshot;
  request.range = {0, snapshot->duration_s};
  request.width = 200, request.height = 80;
  CallPicture stack = painter(request);
  CHECK(stack.problem.empty());
  CHECK(stack.image.rgba.size() == 200u * 80 * 4);
  REQUIRE(stack.stack);
  double share = 0, area = 0;
  for (const auto& entry : stack.legend) share += entry.share;
  for (std::size_t column = 0; column < 200; ++column) area += static_cast<double>(stack.stack->height(column)) / 200;
  CHECK(share == Approx(area).epsilon(1e-3));
  request.region = 77;
  CHECK(painter(request).problem.find("not told apart") != std::string::npos);
  request.region.reset();
  request.stack = false;
  const CallPicture calls = painter(request);
  CHECK(calls.problem.empty());
  CHECK(calls.image.rgba.size() == 200u * 80 * 4);
  std::uint64_t counted = 0;
  for (const auto& entry : calls.legend) counted += entry.calls;
  std::uint64_t all = 0;
  for (const auto& c : calls.density->calls) all += c.starts;
  CHECK(static_cast<double>(counted) == Approx(static_cast<double>(all)).margin(5));
  const auto& busiest = *std::max_element(calls.density->calls.begin(), calls.density->calls.end(),
                                          [](const auto& a, const auto& b) { return a.starts < b.starts; });
  const auto found =
      calls_at(calls, (busiest.slice + 0.5) * calls.slice_s, (busiest.bin + 0.5) / calls.density->bins_per_octave);
  REQUIRE_FALSE(found.empty());
  CHECK(found.front().calls >= busiest.starts);
  // An older dump: the newest windows of the functions.
  auto old = std::make_shared<Snapshot>();
  old->application.ranks = 2;
  old->duration_s = 1;
  old->live.window_s = 0.1;
  old->functions = {{300, 5, 0.5, 0, {0.5f, 0.25f}}};
  request.snapshot = old;
  request.range = {0, 1};
  CHECK(painter(request).problem.find("no density of calls") == 0);
  request.stack = true;
  stack = painter(request);
  CHECK(stack.problem.find("newest windows only") != std::string::npos);
  CHECK(stack.stack->shares[0][100] == 0);
  CHECK(stack.stack->shares[0][170] == 0.5f);
  CHECK(stack.stack->shares[0][190] == 0.25f);
}
