// Columns of the tables about conditions of the run. See columns.hpp.
#pragma once

#include <array>
#include <cstdint>

#include "analysis/values/conditions.hpp"

namespace pclscope {

struct ConditionRow : Condition {
  std::array<char, 64> process_name{};
  std::uint64_t ranks_begin = 0;
  std::uint64_t ranks_count = 0;
};
struct ConditionRankRow {
  std::int32_t rank = 0;
};

template <class Column>
void describe(Column&& column, const ConditionRow*) {
  column("kind", "id", &Condition::kind,
         "0 more ranks than cores, 1 several ranks on one core, 2 load of others, 3 quota, 4 own threads");
  column("node", "row of nodes", &Condition::node, "where");
  column("ranks_met", "1", &Condition::ranks_met, "how many ranks it hits");
  column("core", "1", &Condition::core, "when it is one; else -1");
  column("cores", "1", &Condition::cores, "that those ranks may use");
  column("begin_s", "s", &Condition::begin_s, "when it first cost anything, since the time origin");
  column("end_s", "s", &Condition::end_s, "until when it last did");
  column("open", "0 or 1", &Condition::open, "it still does");
  column("active_s", "s", &Condition::active_s, "for so long together");
  column("cost_s", "s", &Condition::cost_s,
         "ranks were runnable but off their cores outside MPI because of it, over all of them");
  column("in_mpi_s", "s", &Condition::in_mpi_s, "beside that, inside MPI");
  column("quota_cores", "1", &Condition::quota_cores, "quota: so many cores");
  column("throttled_share", "1", &Condition::throttled_share, "quota: share of its periods in which it was used up");
  column("load", "1", &Condition::load, "load of others: cores that they used, of those of the ranks, on average");
  column("process_load", "1", &Condition::process_load, "of that, by `process`");
  column("pid", "1", &Condition::pid, "of the process that used most; 0: it cannot be seen");
  column("process", "", &ConditionRow::process_name, "its name");
  column("ranks_begin", "row of condition_ranks", &ConditionRow::ranks_begin, "whom it hits: the first");
  column("ranks_count", "1", &ConditionRow::ranks_count, "how many, at most 64");
}

template <class Column>
void describe(Column&& column, const ConditionRankRow*) {
  column("rank", "rank", &ConditionRankRow::rank, "whom it hits, ascending");
}

}  // namespace pclscope
