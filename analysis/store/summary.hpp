// One of the two copies of the summary in a dump. Private to analysis/store.
#pragma once

#include "analysis/store/flat_attribution.hpp"
#include "analysis/store/flatten.hpp"
#include "analysis/store/table.hpp"
#include "analysis/values/snapshot.hpp"

namespace pclscope::store {

// A snapshot as rows.
struct FlatSummary {
  FlatRegions regions;
  FlatWaits waits;
  FlatFunctions functions;
  FlatDelays delays;
  std::vector<NodeRow> nodes;
  std::vector<RankNodeRow> node_of_rank;
  std::vector<LeafRow> leaves;
  std::vector<DendrogramMerge> merges;
  std::vector<RegionLink> links;
  std::vector<WorstMessage> worst;
  std::vector<Criterion> criteria;
  std::vector<SiteActivity> site_activity;
  std::vector<ClockState> clocks;
  std::vector<ClockCorrection> corrections;
  std::vector<DeadNodeRow> dead_nodes;
  std::vector<NodeLink> node_links;
  FlatAttribution attribution;
  std::vector<PairTraffic> traffic;
};

class SummaryWriter {
 public:
  bool create(hid_t parent, const char* name);
  // The file grows by at most `room` bytes: what does not fit is left out, lists first, at last all but the totals.
  bool write(const Snapshot& snapshot, std::uint64_t room);

 private:
  template <class Visit, class Flat>
  void each_table(Visit&& visit, Flat& flat);
  std::uint64_t growth(const FlatSummary& flat);

  TableWriter<RegionRow> regions_;
  TableWriter<RegionRankRow> region_ranks_;
  TableWriter<RegionHistoryRow> region_history_;
  TableWriter<Period> region_periods_;
  TableWriter<RegionLink> links_;
  TableWriter<LeafRow> leaf_of_rank_;
  TableWriter<DendrogramMerge> merges_;
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
  TableWriter<DelayRow> delays_;
  TableWriter<VictimRow> delay_victims_;
  TableWriter<ClockState> clocks_;
  TableWriter<ClockCorrection> corrections_;
  TableWriter<DeadNodeRow> dead_nodes_;
  TableWriter<NodeLink> node_links_;
  TableWriter<FindingRow> findings_;
  TableWriter<FindingRankRow> finding_ranks_;
  TableWriter<FindingNodeRow> finding_nodes_;
  TableWriter<TextRow> finding_texts_;
  TableWriter<AttributionSlice> slices_;
  TableWriter<TransferLineRow> transfer_lines_;
  TableWriter<TransferValueRow> transfer_values_;
  TableWriter<PairTraffic> traffic_;
  Hdf5Handle group_;  // last: closed first
};

// Fills all of `snapshot` but sites, job, command and mpi (in the root). False when a part cannot be read.
// `most_rows` bounds every table: nobody can have more rows than the file has bytes.
bool read_summary(hid_t parent, const char* name, std::uint64_t most_rows, Snapshot& snapshot);

}  // namespace pclscope::store
