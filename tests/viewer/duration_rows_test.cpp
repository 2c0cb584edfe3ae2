// Calls by time and duration as lines, objects and rows: computed on paper, and against sums of random calls.
#include "viewer/views/duration_rows.hpp"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "analysis/density/packing.hpp"
#include "interpose/record/functions.hpp"
#include "tests/analysis/density/random_calls.hpp"

using namespace pclscope;

namespace {

constexpr auto short_send = static_cast<std::uint16_t>(record::Function::Send),
               empty_barrier = static_cast<std::uint16_t>(record::Function::Barrier);

// 100 sends: 98 of 1 us and a little (bin 80: 2^10 ns), two of 1 ms (bin 160: 2^20 ns). A barrier that took nothing.
Snapshot some_calls() {
  CallDensity d;
  d.inside = {{-1, short_send, 0, 98 * 1024 + 2 * 1048576}};
  d.calls = {{empty_barrier, 3, 0, 1, 1},
             {short_send, 0, 80, 98, 90},
             {short_send, 0, 160, 2, 0},
             {short_send, 1, 80, 0, 8},
             {short_send, 1, 160, 0, 2}};
  std::sort(d.calls.begin(), d.calls.end(), [](const auto& a, const auto& b) { return a.place() < b.place(); });
  Snapshot s;
  s.functions = {{short_send, 100, 0, 0, {}}};
  s.call_density = density::pack(d);
  return s;
}

}  // namespace

TEST_CASE("durations as lines: where the shortest, half, 99 % and the longest of the calls are") {
  const auto lines = views::duration_lines(views::durations_of(some_calls()), 0, true);
  REQUIRE(lines.size() == 4);
  CHECK(lines[1].find("MPI_Send       100   1.02 us  1.02 us  1.05 ms  1.05 ms") == 0);
  CHECK(lines[2].find("MPI_Barrier      1       0 s      0 s      0 s      0 s") == 0);
}

TEST_CASE("durations as objects and rows: each bin once, with its limits") {
  const views::CallDurations durations = views::durations_of(some_calls());
  const auto json = views::durations_json(durations);
  CHECK(json["bins_per_octave"] == 8);
  CHECK(json["slice_s"].get<double>() == Approx(1048576e-9));
  REQUIRE(json["functions"].size() == 2);
  const auto& sends = json["functions"][0];
  CHECK(sends["function"] == "MPI_Send");
  CHECK(sends["calls"] == 100);
  REQUIRE(sends["bins"].size() == 4);
  CHECK(sends["bins"][2]["begin_s"].get<double>() == Approx(1048576e-9));
  CHECK(sends["bins"][2]["from_s"].get<double>() == Approx(1024e-9));
  CHECK(sends["bins"][2]["to_s"].get<double>() == Approx(1024e-9 * std::exp2(0.125)));
  CHECK(sends["bins"][2]["starts"] == 0);
  CHECK(sends["bins"][2]["ends"] == 8);
  CHECK(json["functions"][1]["bins"][0]["from_s"] == 0.0);
  CHECK(views::duration_rows(durations).cells.size() == 5);
}

TEST_CASE("durations: the sum over all bins is the number of calls, however coarse they are") {
  for (unsigned seed = 1; seed <= 8; ++seed) {
    density::Pyramid pyramid({.most_slices = 64, .budget_bytes = 20'000 * seed, .first_shift = 12});
    for (const auto& c : density::test::random_calls(seed, 700, std::int64_t{1} << 32)) density::test::put(pyramid, c);
    Snapshot s;
    s.call_density = density::pack(pyramid.value());
    std::uint64_t starts = 0, ends = 0, calls = 0;
    const auto json = views::durations_json(views::durations_of(s));
    for (const auto& function : json["functions"]) {
      calls += function["calls"].get<std::uint64_t>();
      for (const auto& bin : function["bins"]) {
        starts += bin["starts"].get<std::uint64_t>();
        ends += bin["ends"].get<std::uint64_t>();
        CHECK(bin["from_s"].get<double>() < bin["to_s"].get<double>());
      }
    }
    CHECK(starts == 700);
    CHECK(ends == 700);
    CHECK(calls == 700);
  }
}

TEST_CASE("durations that are not there: a line says why") {
  Snapshot s;
  CHECK(views::duration_lines(views::durations_of(s), 0, true).at(0) == "no MPI calls were recorded");
  s.call_density = {1, 2, 3};
  CHECK(views::duration_lines(views::durations_of(s), 0, true).at(0) == "the density of calls is damaged");
  CHECK(views::durations_json(views::durations_of(s))["functions"].empty());
  CHECK(views::duration_rows(views::durations_of(s)).cells.empty());
}
