// Sums per pair of nodes: totals, the newest intervals, the worst one.
#include "analysis/window/node_links.hpp"

#include <catch2/catch.hpp>

using namespace pclscope;

namespace {
LatencySums sums(std::uint64_t messages, double transfer_ratio) {
  LatencySums s;
  s.messages = s.timed = messages;
  s.bytes = 10 * messages;
  s.transfer_ratio = transfer_ratio * static_cast<double>(messages);
  s.ratio = s.transfer_ratio;
  s.transfer_time_ns = 1000 * static_cast<std::int64_t>(messages);
  return s;
}
}  // namespace

TEST_CASE("links between nodes: totals, newest, worst") {
  NodeLinks links;
  links.add(0, 0, sums(5, 1));
  links.add(-1, 1, sums(5, 1));
  CHECK(links.list(10, {}).empty());
  const double plan[] = {1, 1, 40, 30, 1, 1, 1};
  for (int k = 0; k < 7; ++k) {
    links.advance(k * NodeLinks::interval_ns);
    links.add(0, 1, sums(10, plan[k]));
    links.add(1, 0, sums(4, 100));  // too few to be the worst
  }
  const NodeRatios ratios{{{0, 1}, {70, 140, 210}}};
  const auto list = links.list(10, ratios);
  REQUIRE(list.size() == 2);
  CHECK(list[0].source == 0);
  CHECK(list[0].messages == 70);
  CHECK(list[0].bytes == 700);
  CHECK(list[0].mean_latency_ratio == Approx(2));
  CHECK(list[0].mean_transfer_ratio == Approx(3));
  CHECK(list[0].mean_transfer_s == Approx(1e-6));
  CHECK(list[0].newest_messages == 20);
  CHECK(list[0].newest_transfer_ratio == Approx(1));
  CHECK(list[0].peak_transfer_ratio == Approx(40));
  CHECK(list[0].peak_s == Approx(4));
  CHECK(list[1].peak_transfer_ratio == 0);
  CHECK(links.list(1, ratios).size() == 1);
}
