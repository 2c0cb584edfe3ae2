#include "analysis/attribute/merge.hpp"

#include <catch2/catch.hpp>

using namespace pclscope;

namespace {

Finding late(std::vector<std::int32_t> ranks, double begin_s, double end_s, double lost_s, double confidence) {
  Finding f;
  f.cause = Cause::late_sender;
  f.detail = "computation";
  f.ranks = std::move(ranks);
  f.region = 3;
  f.site = 7;
  f.begin_s = begin_s;
  f.end_s = end_s;
  f.lost_s = lost_s;
  f.score = lost_s / ((end_s - begin_s) * 8);
  f.confidence = confidence;
  f.evidence = {"evidence of " + std::to_string(static_cast<int>(begin_s))};
  f.advice = "advice of " + std::to_string(static_cast<int>(begin_s));
  return f;
}

}  // namespace

TEST_CASE("what acted several times is one finding, with its periods") {
  Finding last = late({5, 2}, 30, 32, 4, 0.6);
  last.open = true;
  const std::vector<Finding> list =
      attribute::merged({late({2, 5}, 10, 12, 8, 0.4), late({1}, 0, 40, 1, 0.7), last, late({2, 5}, 1, 2, 2, 0.9)}, 8);
  REQUIRE(list.size() == 2);
  CHECK(list[1] == late({1}, 0, 40, 1, 0.7));
  const Finding& f = list[0];
  CHECK(f.periods == std::vector<FindingPeriod>{{1, 2, 2}, {10, 12, 8}, {30, 32, 4}});
  CHECK(f.begin_s == 1);
  CHECK(f.end_s == 32);
  CHECK(f.lost_s == 14);
  CHECK(f.score == Approx(14.0 / (5 * 8)));
  CHECK(f.confidence == 0.9);
  CHECK(f.open);
  CHECK(f.region == 3);
  CHECK(f.ranks == std::vector<std::int32_t>{2, 5});
  CHECK(f.advice == "advice of 10");
  REQUIRE(f.evidence.size() == 2);
  CHECK(f.evidence[0] ==
        "it acted in 3 periods (1 to 2 s, 10 to 12 s, 30 to 32 s), 14 rank-seconds together; the "
        "following is of 10 to 12 s, which cost most");
  CHECK(f.evidence[1] == "evidence of 10");
}

TEST_CASE("findings that differ in cause, kind, ranks, place or nodes stay apart; of many periods some are named") {
  const Finding one = late({2}, 0, 1, 1, 0.5);
  std::vector<Finding> list(6, late({2}, 10, 11, 1, 0.5));
  list[0] = one;
  list[1].cause = Cause::late_receiver;
  list[2].detail = "off the core";
  list[3].site = 8;
  list[4].ranks = {2, 3};
  list[5].nodes = {0, 1};
  CHECK(attribute::merged(list, 8) == list);
  std::vector<Finding> many;
  for (int i = 0; i < 9; ++i) many.push_back(late({2}, 10.0 * i, 10.0 * i + 1, 1, 0.5));
  many[4].region = 1;  // then it is felt all over the job
  const std::vector<Finding> all = attribute::merged(many, 8);
  REQUIRE(all.size() == 1);
  CHECK(all[0].region == -1);
  CHECK(all[0].evidence[0].find("30 to 31 s, and 5 more), 9 rank-seconds together") != std::string::npos);
  CHECK(attribute::merged({}, 8).empty());
}
