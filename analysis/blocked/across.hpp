// Deadlocks between ranks of several nodes, at the root: from what each node says of its blocked ranks (RankWait). All
// of a cycle must have stood still while every one of them was looked at, and each must have been looked at when all
// that the others had sent before was known on its node; else it is not told.
//
// One thread owns an Across.
#pragma once

#include <cstdint>
#include <vector>

#include "analysis/blocked/rank_waits.hpp"
#include "analysis/blocked/wait_graph.hpp"
#include "analysis/values/rank_wait.hpp"

namespace pclscope::blocked {

// Times of nodes may differ by so much.
inline constexpr std::int64_t across_clocks_ns = 10'000'000;

class Across {
 public:
  explicit Across(std::int32_t ranks);

  void take(std::int32_t rank, const nodes::RankWait& wait);
  void forget(std::int32_t node);  // it died

  struct Member {
    std::int32_t rank = 0;
    std::int64_t since_ns = 0;  // job's axis
    WaitsFor waits_for;
  };
  struct Found {
    std::int64_t looked_ns = 0;   // the last of them then
    std::vector<Member> members;  // in the order of the cycle, from the lowest rank
  };
  // Those that stand now and have members on two nodes or more.
  std::vector<Found> find() const;

 private:
  struct Told {
    nodes::RankWait wait;
    std::int64_t first_looked_ns = 0;  // in this call
  };
  void add_waiter(WaitGraph& graph, std::int32_t rank) const;
  bool may_be_sent(std::int32_t from, std::int32_t to, const nodes::MessagePattern& receive) const;
  bool may_be_taken(std::int32_t from, const nodes::MessagePattern& send) const;
  std::vector<std::int32_t> not_begun(const nodes::CollectiveNeed& need, bool& all_known) const;
  bool proven(const Knot& knot) const;
  const nodes::RankWait* blocked(std::int32_t rank) const;

  std::vector<Told> told_;  // by rank
};

}  // namespace pclscope::blocked
