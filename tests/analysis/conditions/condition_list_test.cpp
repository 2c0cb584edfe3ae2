// Conditions from slices whose answers are known on paper.
#include "analysis/conditions/condition_list.hpp"

#include <catch2/catch.hpp>

using namespace pclscope;
using namespace pclscope::conditions;

namespace {

using Cores = std::vector<std::int32_t>;

// A rank that always could run: `off` of the second off its core, all of it outside MPI.
RankSlice rank(std::int32_t number, std::size_t set, double off) {
  RankSlice r;
  r.rank = number;
  r.cores = set;
  r.observed_s = 1;
  r.off_core_s = r.off_computing_s = off;
  r.running_s = r.process_s = 1 - off;
  return r;
}

NodeSlice second(double begin, std::vector<Cores> sets, std::vector<RankSlice> ranks) {
  NodeSlice slice;
  slice.begin_s = begin;
  slice.end_s = begin + 1;
  slice.sets = std::move(sets);
  slice.ranks = std::move(ranks);
  slice.busy_s.assign(4, 0);
  for (const RankSlice& r : slice.ranks)
    for (const std::int32_t core : slice.sets[r.cores])
      slice.busy_s[static_cast<std::size_t>(core)] += r.running_s / static_cast<double>(slice.sets[r.cores].size());
  return slice;
}

std::vector<Condition> after(const NodeSlice& slice, int seconds = 4) {
  ConditionList list;
  NodeSlice next = slice;
  for (int i = 0; i < seconds; ++i) {
    next.begin_s = slice.begin_s + i;
    next.end_s = next.begin_s + 1;
    list.add(next);
  }
  return list.list();
}

}  // namespace

TEST_CASE("two ranks on two cores, alone: no condition") {
  CHECK(after(second(0, {{0, 1}}, {rank(0, 0, 0.01), rank(1, 0, 0.02)})).empty());
  CHECK(ConditionList().list().empty());
}

TEST_CASE("eight ranks on two cores") {
  std::vector<RankSlice> ranks;
  for (std::int32_t r = 0; r < 8; ++r) ranks.push_back(rank(r, 0, 0.75));
  ranks[7].off_computing_s = 0.25;
  const auto found = after(second(3, {{0, 1}}, ranks));
  REQUIRE(found.size() == 1);
  const Condition& c = found[0];
  CHECK(c.kind == ConditionKind::more_ranks_than_cores);
  CHECK(c.ranks_met == 8);
  CHECK(c.ranks == Cores{0, 1, 2, 3, 4, 5, 6, 7});
  CHECK(c.cores == 2);
  CHECK(c.core == -1);
  CHECK(c.cost_s == Approx(4 * (7 * 0.75 + 0.25)));
  CHECK(c.in_mpi_s == Approx(4 * 0.5));
  CHECK(c.begin_s == 3);
  CHECK(c.end_s == 7);
  CHECK(c.active_s == Approx(4));
  CHECK(c.open);
}

TEST_CASE("two ranks bound to one core, beside others that are well") {
  const auto found = after(
      second(0, {{0}, {1}, {2, 3}}, {rank(0, 1, 0), rank(1, 0, 0.5), rank(2, 2, 0), rank(3, 0, 0.5), rank(4, 2, 0)}));
  REQUIRE(found.size() == 1);
  CHECK(found[0].kind == ConditionKind::one_core);
  CHECK(found[0].ranks == Cores{1, 3});
  CHECK(found[0].core == 0);
  CHECK(found[0].cost_s == Approx(4));
}

TEST_CASE("crowds: sets inside sets") {
  // Two on core 0, one that may use 0 and 1: nobody crowds core 1.
  NodeSlice slice = second(0, {{0}, {0, 1}}, {rank(0, 0, 0.5), rank(1, 0, 0.5), rank(2, 1, 0)});
  REQUIRE(crowds(slice).size() == 1);
  CHECK(crowds(slice)[0].ranks == std::vector<std::size_t>{0, 1});
  // One more: now they do.
  slice.ranks.push_back(rank(3, 1, 0.5));
  REQUIRE(crowds(slice).size() == 2);
  CHECK(crowds(slice)[1].ranks == std::vector<std::size_t>{2, 3});
  // Bound ones that are as many as cores, and one that may run anywhere.
  slice = second(0, {{0}, {1}, {0, 1}}, {rank(0, 0, 0), rank(1, 1, 0), rank(2, 2, 0)});
  REQUIRE(crowds(slice).size() == 1);
  CHECK(crowds(slice)[0].ranks.size() == 3);
  slice.sets[2] = {};  // not known
  CHECK(crowds(slice).empty());
}

TEST_CASE("a foreign process on the core of a rank") {
  NodeSlice slice = second(0, {{0}, {1}}, {rank(0, 0, 0), rank(1, 1, 0.5)});
  slice.busy_s[1] = 1;
  slice.processes = {{4711, "burn", 1, 0.5}, {12, "other", 0, 0.4}, {13, "little", 1, 0.02}};
  CHECK(other_cores(slice, 0) == Approx(0));
  CHECK(other_cores(slice, 1) == Approx(0.5));
  const auto found = after(slice);
  REQUIRE(found.size() == 1);
  CHECK(found[0].kind == ConditionKind::other_load);
  CHECK(found[0].ranks == Cores{1});
  CHECK(found[0].core == 1);
  CHECK(found[0].pid == 4711);
  CHECK(found[0].process == "burn");
  CHECK(found[0].load == Approx(0.5));
  CHECK(found[0].process_load == Approx(0.5));
  CHECK(found[0].cost_s == Approx(2));
  // Its name cannot be seen, its load can.
  slice.processes.clear();
  const auto hidden = after(slice);
  REQUIRE(hidden.size() == 1);
  CHECK(hidden[0].pid == 0);
  CHECK(hidden[0].load == Approx(0.5));
  // Not even that: what is left has no load.
  slice.busy_s.clear();
  const auto unknown = after(slice);
  REQUIRE(unknown.size() == 1);
  CHECK(unknown[0].kind == ConditionKind::other_load);
  CHECK(unknown[0].load == 0);
  CHECK(unknown[0].cost_s == Approx(2));
}

TEST_CASE("too many ranks and a foreign process: each its part") {
  // Four ranks and a process on two cores: a fifth of the time of each.
  NodeSlice slice = second(0, {{0, 1}}, {rank(0, 0, 0.6), rank(1, 0, 0.6), rank(2, 0, 0.6), rank(3, 0, 0.6)});
  slice.busy_s = {1, 1};
  slice.processes = {{4711, "burn", 0, 0.4}};
  const auto found = after(slice);
  REQUIRE(found.size() == 2);
  CHECK(found[0].kind == ConditionKind::more_ranks_than_cores);
  CHECK(found[0].cost_s == Approx(4 * 2.0));
  CHECK(found[1].kind == ConditionKind::other_load);
  CHECK(found[1].cost_s == Approx(4 * 0.4));
  CHECK(found[1].pid == 4711);
}

TEST_CASE("a quota of half a core for two ranks on two cores") {
  NodeSlice slice = second(0, {{0, 1}}, {rank(0, 0, 0.75), rank(1, 0, 0.75)});
  slice.ranks[0].quota = slice.ranks[1].quota = 0;
  slice.quotas = {{"/sys/fs/cgroup/job", 0.5, 10, 9}};
  const auto found = after(slice);
  REQUIRE(found.size() == 1);
  CHECK(found[0].kind == ConditionKind::quota);
  CHECK(found[0].quota_cores == 0.5);
  CHECK(found[0].throttled_share == Approx(0.9));
  CHECK(found[0].cost_s == Approx(4 * 1.5));
  // Four ranks: two of them would wait without it.
  for (std::int32_t r = 2; r < 4; ++r) {
    slice.ranks.push_back(rank(r, 0, 0.875));
    slice.ranks.back().quota = 0;
  }
  for (RankSlice& r : slice.ranks) r.off_core_s = r.off_computing_s = 0.875, r.running_s = r.process_s = 0.125;
  const auto both = after(slice);
  REQUIRE(both.size() == 2);
  CHECK(both[0].cost_s == Approx(4 * 2.0));
  CHECK(both[0].kind != both[1].kind);
  CHECK(both[1].cost_s == Approx(4 * 1.5));
  // Never used up: not its fault.
  slice.quotas[0].throttled = 0;
  for (const Condition& c : after(slice)) CHECK(c.kind != ConditionKind::quota);
}

TEST_CASE("a rank's own threads on its one core") {
  NodeSlice slice = second(0, {{0}, {1}}, {rank(0, 0, 0.75), rank(1, 1, 0)});
  slice.ranks[0].threads = 4;
  slice.ranks[0].process_s = 1;
  slice.busy_s = {1, 1};
  const auto found = after(slice);
  REQUIRE(found.size() == 1);
  CHECK(found[0].kind == ConditionKind::own_threads);
  CHECK(found[0].ranks == Cores{0});
  CHECK(found[0].load == Approx(0.75));
  CHECK(found[0].cost_s == Approx(3));
}

TEST_CASE("what ended is not open, and what was short is not told") {
  ConditionList list;
  NodeSlice bad = second(0, {{0, 1}}, {rank(0, 0, 0.5), rank(1, 0, 0.5), rank(2, 0, 0.5)});
  NodeSlice good = second(0, {{0, 1}}, {rank(0, 0, 0), rank(1, 0, 0), rank(2, 0, 0)});
  for (int i = 0; i < 10; ++i) {
    NodeSlice& next = i >= 2 && i < 5 ? bad : good;
    next.begin_s = i, next.end_s = i + 1;
    list.add(next);
  }
  REQUIRE(list.list().size() == 1);
  CHECK(list.list()[0].begin_s == 2);
  CHECK(list.list()[0].end_s == 5);
  CHECK_FALSE(list.list()[0].open);
  CHECK(list.list()[0].cost_s == Approx(4.5));
  ConditionList brief;
  bad.begin_s = 0, bad.end_s = 0.5;
  brief.add(bad);
  good.begin_s = 0.5, good.end_s = 20;
  brief.add(good);
  CHECK(brief.list().empty());
}

TEST_CASE("what two aggregators of a node charge is together what one does, under the same key") {
  std::vector<RankSlice> ranks;
  for (std::int32_t r = 0; r < 8; ++r) ranks.push_back(rank(r, 0, 0.1 * (r + 1)));
  NodeSlice slice = second(3, {{0, 1}}, ranks);
  slice.busy_s = {1, 1, 0, 0};
  const auto whole = after(slice);
  std::vector<std::vector<Condition>> parts;
  for (const bool first : {true, false}) {
    NodeSlice part = slice;
    for (RankSlice& r : part.ranks) {
      if ((r.rank < 3) == first) continue;
      r.rank = -1;
      r.off_computing_s = 0;  // whether it was in MPI is not known here
    }
    parts.push_back(after(part));
  }
  REQUIRE(whole.size() == 1);
  for (const auto& part : parts) REQUIRE(part.size() == 1);
  CHECK(parts[0][0].key == whole[0].key);
  CHECK(parts[1][0].key == whole[0].key);
  CHECK(parts[0][0].kind == whole[0].kind);
  CHECK(parts[0][0].cost_s > 0);
  CHECK(parts[0][0].cost_s + parts[1][0].cost_s == Approx(whole[0].cost_s));
  CHECK(parts[0][0].in_mpi_s + parts[1][0].in_mpi_s == Approx(whole[0].in_mpi_s).margin(1e-9));
  CHECK(parts[0][0].ranks == Cores{0, 1, 2});
  CHECK(parts[1][0].ranks == Cores{3, 4, 5, 6, 7});
  CHECK(after(second(3, {{0, 2}}, ranks))[0].key != whole[0].key);
}
