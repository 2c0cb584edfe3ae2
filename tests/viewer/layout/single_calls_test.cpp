// Single calls of parts of the call view: against a look at every call, and against the density's counts.
#include "viewer/session/single_calls.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <map>
#include <random>
#include <set>

#include "analysis/density/coarser.hpp"
#include "analysis/density/pyramid.hpp"
#include "tests/seed.hpp"
#include "tests/viewer/memory_session.hpp"
#include "viewer/layout/call_part.hpp"
#include "viewer/layout/lit_calls.hpp"

using namespace pclscope;
using layout::CallBox;
using layout::CallEdge;
using session::CallPart;
using session::FoundCall;
using session::FoundCalls;

namespace {

constexpr std::int32_t ranks = 7;
constexpr std::uint16_t functions[] = {300, 328, 412};

struct Calls {
  std::vector<MpiCall> all;
  std::shared_ptr<const session::TimelineRun> run;
  CallDensity density;
  std::int64_t end_ns = 0;
  std::uint64_t returned = 0;
};

// One or two threads per rank, durations over many octaves, some that left no return.
Calls random_calls(std::mt19937_64& random, std::size_t count) {
  Calls made;
  density::Pyramid pyramid({.most_slices = 128, .budget_bytes = 1u << 20, .first_shift = 10});
  const auto length = [&](double most) {
    return static_cast<std::int64_t>(std::exp2(std::uniform_real_distribution<>(-1, most)(random)));
  };
  std::map<std::pair<std::int32_t, std::uint16_t>, std::int64_t> now;
  for (std::size_t i = 0; i < count; ++i) {
    MpiCall call;
    call.rank = static_cast<std::int32_t>(random() % ranks);
    call.thread = static_cast<std::uint16_t>(call.rank == 3 ? random() % 2 : 0);
    call.function = functions[random() % std::size(functions)];
    call.site = random() % 5;
    std::int64_t& at = now[{call.rank, call.thread}];
    call.begin = at + length(12);
    call.end = call.begin + length(16);
    if (random() % 20 == 0) call.ending = CallEnding::unseen, call.end = call.begin;
    at = call.end;
    made.end_ns = std::max(made.end_ns, call.end);
    if (call.ending == CallEnding::returned) {
      pyramid.call(pyramid.place(call.function), call.begin, call.end);
      ++made.returned;
    }
    made.all.push_back(call);
  }
  made.density = pyramid.value();
  // As a dump has them.
  std::stable_sort(made.all.begin(), made.all.end(), [](const MpiCall& a, const MpiCall& b) {
    return std::tuple(a.rank, a.thread, a.begin) < std::tuple(b.rank, b.thread, b.begin);
  });
  made.run = session::timeline_of(ranks, made.all, {}, {}, false);
  return made;
}

CallBox random_box(std::mt19937_64& random, double end_s) {
  const auto two = [&](double low, double high) {
    std::uniform_real_distribution<> in(low, high);
    return std::minmax({in(random), in(random)});
  };
  const auto [begin, end] = two(-0.1 * end_s, 1.1 * end_s);
  const auto [low, high] = two(-1, 18);
  return {{begin, end}, {low, high}};
}

// The calls as a dump hands them out.
class CallSession final : public test::MemorySession {
 public:
  explicit CallSession(const std::vector<MpiCall>& calls) : MemorySession({}), calls_(calls) {}
  Status mpi_calls(const session::TimeSpan& span, const std::function<bool(std::span<const MpiCall>)>& visit) override {
    std::vector<MpiCall> inside;
    for (const MpiCall& c : calls_)
      if (c.end >= span.begin_ns && c.begin < span.end_ns) inside.push_back(c);
    for (std::size_t at = 0; at < inside.size(); at += 5)
      if (!visit(std::span(inside).subspan(at, std::min<std::size_t>(5, inside.size() - at)))) break;
    return {};
  }

 private:
  const std::vector<MpiCall>& calls_;
};

struct Row {
  std::uint64_t ns;
  std::int64_t begin;
  std::int32_t rank;
  std::uint16_t thread;
  std::uint64_t site;
  std::uint16_t function;
  std::int64_t at;
  bool operator<(const Row& o) const {
    return std::tuple(~ns, begin, rank, thread, function, site) <
           std::tuple(~o.ns, o.begin, o.rank, o.thread, o.function, o.site);
  }
};

// Every call looked at.
std::vector<Row> by_hand(const Calls& calls, const CallPart& part) {
  std::vector<Row> rows;
  for (const MpiCall& c : calls.all) {
    if (c.ending == CallEnding::unseen) continue;
    const auto ns = static_cast<std::uint64_t>(c.end - c.begin);
    const std::int64_t at = part.by_end ? c.end : c.begin;
    if (at < part.begin_ns || at >= part.end_ns || ns < part.least_ns || ns >= part.below_ns) continue;
    if (part.function && *part.function != c.function) continue;
    rows.push_back({ns, c.begin, c.rank, c.thread, c.site, c.function, at});
  }
  std::sort(rows.begin(), rows.end());
  return rows;
}

std::vector<FoundCalls::Sum> sums_by_hand(const std::vector<Row>& rows, std::uint64_t (*key)(const Row&)) {
  std::map<std::uint64_t, FoundCalls::Sum> sums;
  for (const Row& row : rows) {
    auto& sum = sums[key(row)];
    sum.of = key(row);
    ++sum.calls;
    sum.ns += row.ns;
  }
  std::vector<FoundCalls::Sum> list;
  for (const auto& [of, sum] : sums) list.push_back(sum);
  std::stable_sort(list.begin(), list.end(),
                   [](const auto& a, const auto& b) { return a.ns != b.ns ? a.ns > b.ns : a.calls > b.calls; });
  list.resize(std::min<std::size_t>(list.size(), 3));
  return list;
}

}  // namespace

TEST_CASE(
    "single calls: what is in a part, worst first, who and where, and the nearest, as a look at every call says") {
  const std::uint64_t seed = test::random_seed();
  CAPTURE(seed);
  std::mt19937_64 random(seed);
  std::size_t in_parts = 0;
  for (int round = 0; round < 20; ++round) {
    const Calls calls = random_calls(random, 20 + random() % 1500);
    const double end_s = static_cast<double>(calls.end_ns) * 1e-9;
    for (int question = 0; question < 25; ++question) {
      const CallEdge edge = random() % 2 == 0 ? CallEdge::start : CallEdge::end;
      std::optional<std::uint16_t> function;
      if (random() % 3 == 0) function = functions[random() % std::size(functions)];
      const CallPart part = layout::part_of(calls.density, edge, random_box(random, end_s), function);
      session::CallPoint point;
      point.at_ns = std::uniform_real_distribution<>(0, end_s * 1e9)(random);
      point.log2_ns = std::uniform_real_distribution<>(0, 17)(random);
      point.ns_per_pixel = end_s * 1e9 / 700;
      point.octaves_per_pixel = 0.05;
      const std::size_t most = random() % 40;
      const FoundCalls found = session::find_calls(*calls.run, part, most, point);
      // From the dump the same.
      CallSession dump(calls.all);
      const auto read = session::read_calls(dump, ranks, part, most, point);
      REQUIRE(read);
      REQUIRE(read->stored == found.stored);
      REQUIRE(read->ranks == found.ranks);
      REQUIRE(read->sites == found.sites);
      REQUIRE(read->nearest.has_value() == found.nearest.has_value());
      if (found.nearest) REQUIRE(read->nearest->order() == found.nearest->order());
      REQUIRE(std::equal(read->longest.begin(), read->longest.end(), found.longest.begin(), found.longest.end(),
                         [](const FoundCall& a, const FoundCall& b) { return a.order() == b.order(); }));
      const std::vector<Row> rows = by_hand(calls, part);
      in_parts += rows.size();
      REQUIRE(found.stored == rows.size());
      REQUIRE(found.longest.size() == std::min(most, rows.size()));
      for (std::size_t i = 0; i < found.longest.size(); ++i) {
        const FoundCall& f = found.longest[i];
        REQUIRE(session::duration_of(f.call) == rows[i].ns);
        REQUIRE(std::tuple(f.call.begin, f.rank, f.thread, f.call.function, std::uint64_t{f.call.site}) ==
                std::tuple(rows[i].begin, rows[i].rank, rows[i].thread, rows[i].function, rows[i].site));
      }
      REQUIRE(found.ranks == sums_by_hand(rows, [](const Row& r) { return static_cast<std::uint64_t>(r.rank); }));
      REQUIRE(found.sites == sums_by_hand(rows, [](const Row& r) { return r.site; }));
      // Pixels to the point.
      const auto distance = [&](const Row& row) {
        const double x = (static_cast<double>(row.at) - point.at_ns) / point.ns_per_pixel;
        const double y = (std::log2(static_cast<double>(std::max<std::uint64_t>(row.ns, 1))) - point.log2_ns) / 0.05;
        return x * x + y * y;
      };
      REQUIRE(found.nearest.has_value() == !rows.empty());
      if (rows.empty()) continue;
      const auto nearest = std::min_element(rows.begin(), rows.end(),
                                            [&](const Row& a, const Row& b) { return distance(a) < distance(b); });
      REQUIRE(std::tuple(found.nearest->call.begin, found.nearest->rank, found.nearest->thread) ==
              std::tuple(nearest->begin, nearest->rank, nearest->thread));
    }
  }
  CHECK(in_parts > 1000);
}

TEST_CASE("single calls: where all are stored, each part has as many as were counted, however coarse the density is") {
  const std::uint64_t seed = test::random_seed();
  CAPTURE(seed);
  std::mt19937_64 random(seed);
  std::uint64_t counted = 0;
  for (int round = 0; round < 12; ++round) {
    Calls calls = random_calls(random, 1000);
    for (int coarser = static_cast<int>(random() % 3); coarser > 0; --coarser) density::halve_bins(calls.density);
    for (int coarser = static_cast<int>(random() % 3); coarser > 0; --coarser) density::halve_calls(calls.density);
    const double end_s = static_cast<double>(calls.end_ns) * 1e-9;
    for (const CallEdge edge : {CallEdge::start, CallEdge::end}) {
      const CallPart all = layout::part_of(calls.density, edge, {{-1, end_s}, {0, 60}}, {});
      CHECK(layout::counted_in(calls.density, all) == calls.returned);
      for (int question = 0; question < 40; ++question) {
        const CallBox box = random_box(random, end_s);
        const CallPart part = layout::part_of(calls.density, edge, box, {});
        const std::uint64_t stored = session::find_calls(*calls.run, part, 0).stored;
        REQUIRE(layout::counted_in(calls.density, part) == stored);
        counted += stored;
        // What is told of lies around what was asked for.
        if (box.time.end_s < 0 || box.durations.high < 0) continue;
        const CallBox told = layout::box_of(part);
        CHECK(told.time.begin_s <= std::max(0.0, box.time.begin_s) + 1e-12);
        CHECK(told.time.end_s > box.time.end_s);
        CHECK(std::exp2(told.durations.low) < std::exp2(std::max(0.0, box.durations.low)) + 1);  // whole ns
      }
    }
  }
  CHECK(counted > 1000);
}

TEST_CASE("single calls: of nonsense there are none") {
  std::mt19937_64 random(1);
  const Calls calls = random_calls(random, 50);
  for (const double odd : std::initializer_list<double>{NAN, INFINITY, -INFINITY, 1e300, -1e300})
    for (const CallBox& box : {CallBox{{odd, 1}, {0, 60}}, CallBox{{0, odd}, {0, 60}}, CallBox{{0, 1}, {odd, 60}},
                               CallBox{{0, 1}, {0, odd}}}) {
      const CallPart part = layout::part_of(calls.density, CallEdge::start, box, {});
      CHECK(layout::counted_in(calls.density, part) == session::find_calls(*calls.run, part, 3).stored);
    }
  CHECK(session::find_calls(session::TimelineRun(), {false, INT64_MIN, INT64_MAX, 0, UINT64_MAX, {}}, 3).stored == 0);
}

TEST_CASE("single calls: those of the selected ranks light up, each where it belongs, and no others") {
  const std::uint64_t seed = test::random_seed();
  CAPTURE(seed);
  std::mt19937_64 random(seed);
  for (const std::size_t count : {30, 3000}) {
    const Calls calls = random_calls(random, count);
    for (const CallEdge edge : {CallEdge::start, CallEdge::end}) {
      layout::LitRequest request;
      request.run = calls.run;
      request.ranks = {1, 3};
      request.edge = edge;
      const double end_s = static_cast<double>(calls.end_ns) * 1e-9;
      request.range = {0.2 * end_s, 0.9 * end_s};
      request.durations = {0, 17};
      request.width = 640;
      request.height = 340;
      const layout::LitCalls lit = layout::light_calls(request);
      REQUIRE(lit.image.rgba.size() == 640u * 340u * 4u);
      std::uint64_t expected = 0;
      std::set<std::pair<int, int>> near;  // pixels that may have colour
      const auto lights = [&](double x, double y) {
        for (int dy = -2; dy <= 2; ++dy)
          for (int dx = -2; dx <= 2; ++dx)
            near.insert({static_cast<int>(std::floor(x)) + dx, static_cast<int>(std::floor(y)) + dy});
      };
      for (const MpiCall& c : calls.all) {
        if ((c.rank != 1 && c.rank != 3) || c.ending == CallEnding::unseen) continue;
        const auto x_of = [&](std::int64_t ns) {
          return (static_cast<double>(ns) * 1e-9 - request.range.begin_s) / request.range.length_s() * 640;
        };
        const double x = x_of(edge == CallEdge::start ? c.begin : c.end);
        const double y =
            std::min((17 - std::log2(static_cast<double>(std::max<std::int64_t>(c.end - c.begin, 1)))) * 20, 339.0);
        if (lit.lines)
          for (double at = std::max(0.0, x_of(c.begin)); at <= std::min(640.0, x_of(c.end) + 1); at += 0.5)
            lights(at, y);
        if (x < 0 || x >= 640) continue;
        ++expected;
        lights(x, y);
        bool seen = false;
        for (int dy = -1; dy <= 1; ++dy)
          for (int dx = -1; dx <= 1; ++dx) {
            const int px = static_cast<int>(x) + dx, py = static_cast<int>(y) + dy;
            if (px >= 0 && py >= 0 && px < 640 && py < 340)
              seen = seen || lit.image.rgba[4 * static_cast<std::size_t>(py * 640 + px) + 3] > 0;
          }
        REQUIRE(seen);
      }
      CHECK(lit.calls == expected);
      CHECK(lit.lines == (expected <= 2000));
      for (int y = 0; y < 340; ++y)
        for (int x = 0; x < 640; ++x)
          if (lit.image.rgba[4 * static_cast<std::size_t>(y * 640 + x) + 3] > 0) REQUIRE(near.count({x, y}) == 1);
    }
  }
}
