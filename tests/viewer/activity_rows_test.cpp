// Calls over time as lines, objects and rows, computed on paper: 4 ranks, 8 slices of about a millisecond.
#include "viewer/views/activity_rows.hpp"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "analysis/density/packing.hpp"
#include "interpose/record/functions.hpp"

using namespace pclscope;

namespace {

constexpr std::uint64_t slice = std::uint64_t{1} << 20;
constexpr auto recv = static_cast<std::uint16_t>(record::Function::Recv),
               barrier = static_cast<std::uint16_t>(record::Function::Barrier);

// Receives: half of the ranks in slices 0 to 3. A barrier: all in slice 6. Region 2 are ranks 0 and 1, which receive.
Snapshot example() {
  CallDensity d;
  for (std::uint32_t s = 6; s < 7; ++s) d.inside.push_back({-1, barrier, s, 2 * slice});
  for (std::uint32_t s = 6; s < 7; ++s) d.inside.push_back({2, barrier, s, 2 * slice});
  for (std::uint32_t s = 0; s < 4; ++s) d.inside.push_back({2, recv, s, 2 * slice});
  d.calls = {{barrier, 6, 160, 4, 4}, {recv, 0, 176, 2, 0}, {recv, 3, 176, 0, 2}};
  Snapshot s;
  s.application.ranks = 4;
  s.duration_s = 8 * static_cast<double>(slice) * 1e-9;
  s.regions.resize(1);
  s.regions[0].id = 2, s.regions[0].ranks = {0, 1};
  s.functions = {{recv, 2, 0, 0, {}}, {barrier, 4, 0, 0, {}}};
  s.call_density = density::pack(d);
  return s;
}

}  // namespace

TEST_CASE("activity as lines: calls, time and shares") {
  const auto lines = views::activity_lines(views::activity_of(example()), 0, true);
  REQUIRE(lines.size() == 4);
  CHECK(lines[1].find("MPI_Recv         2  8.39 ms    25%") == 0);
  CHECK(lines[2].find("MPI_Barrier      4  4.19 ms    12%") == 0);
  CHECK(lines[3].find(
            "inside MPI 12.6 ms of ranks' time, 38%, without MPI_Init and MPI_Finalize; 6 calls that returned") == 0);
}

TEST_CASE("the stack as text") {
  const auto lines = views::stack_lines(views::activity_of(example()), 21, 4);
  const std::vector<std::string> expected = {
      "100%|            BB  ", "50% |            BB  ",
      "    |AAAAAAAA    BB  ", "    |AAAAAAAA    BB  ",
      "     0--------8.39 ms", "A  MPI_Recv  25%",
      "B  MPI_Barrier  12%",   "   outside: computation, MPI_Init, MPI_Finalize  62%"};
  CHECK(lines == expected);
}

TEST_CASE("activity of a region is of its ranks") {
  const auto activity = views::activity_of(example(), 2);
  CHECK(activity.ranks == 2);
  const auto json = views::activity_json(activity);
  CHECK(json["functions"][0]["function"] == "MPI_Recv");
  CHECK(json["functions"][0]["share"].get<double>() == Approx(0.5));
  CHECK(json["functions"][0]["slices"][0]["share"].get<double>() == Approx(1));
  CHECK_FALSE(json["functions"][0].contains("calls"));
  CHECK(views::activity_lines(views::activity_of(example(), 7), 0, true).front().find("no calls of region 7") == 0);
}

TEST_CASE("activity as objects and rows") {
  const auto activity = views::activity_of(example());
  const auto json = views::activity_json(activity);
  CHECK(json["slice_s"].get<double>() == Approx(1.048576e-3));
  CHECK(json["functions"][0]["calls"] == 2);
  REQUIRE(json["functions"][0]["slices"].size() == 4);
  CHECK(json["functions"][0]["slices"][3]["ends"] == 2);
  CHECK(json["functions"][0]["slices"][3]["starts"] == 0);
  CHECK(json["functions"][1]["slices"][0]["share"].get<double>() == Approx(1));
  const auto rows = views::activity_rows(activity);
  CHECK(rows.cells.size() == 5);
  CHECK(rows.titles.size() == 7);
}

TEST_CASE("without a density it is said why") {
  Snapshot s = example();
  s.call_density.clear();
  CHECK(views::activity_lines(views::activity_of(s), 0, true).front().find("no density of calls") == 0);
  s.functions.clear();
  CHECK(views::activity_lines(views::activity_of(s), 0, true).front() == "no MPI calls were recorded");
  s.call_density = {1, 2, 3};
  CHECK(views::stack_lines(views::activity_of(s), 80, 5).front() == "the density of calls is damaged");
  CHECK(views::activity_rows(views::activity_of(s)).cells.empty());
}
