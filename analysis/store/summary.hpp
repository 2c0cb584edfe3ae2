// One of the two copies of the summary in a dump. Private to analysis/store.
#pragma once

#include "analysis/snapshot.hpp"
#include "analysis/store/table.hpp"

namespace pclscope::store {

class SummaryWriter {
 public:
  bool create(hid_t parent, const char* name);
  bool write(const Snapshot& snapshot);

 private:
  TableWriter<RegionRow> regions_;
  TableWriter<RegionRankRow> region_ranks_;
  TableWriter<RegionHistoryRow> region_history_;
  TableWriter<WorstMessage> worst_;
  TableWriter<RankRow> ranks_;
  TableWriter<Criterion> criteria_;
  TableWriter<NodeRow> nodes_;
  TableWriter<RankNodeRow> node_of_rank_;
  TableWriter<FunctionRow> functions_;
  TableWriter<ShareRow> function_history_;
  TableWriter<DeadlockRow> deadlocks_;
  TableWriter<DeadlockMemberRow> deadlock_members_;
  TableWriter<WaitRow> waits_for_;
  TableWriter<SiteActivity> site_activity_;
  Hdf5Handle group_;  // last: closed first
};

// Fills all of `snapshot` but sites, job, command and mpi (in the root). False when a part cannot be read.
// `most_rows` bounds every table: nobody can have more rows than the file has bytes.
bool read_summary(hid_t parent, const char* name, std::uint64_t most_rows, Snapshot& snapshot);

}  // namespace pclscope::store
