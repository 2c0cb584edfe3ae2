// A snapshot as tables: lists inside values become ranges of another table's rows. What a dump's summary holds and
// what travels to viewers. Plain values: whoever has them owns them.
#pragma once

#include <cstdint>
#include <vector>

#include "analysis/rows/attribution_columns.hpp"
#include "analysis/rows/call_columns.hpp"
#include "analysis/rows/columns.hpp"
#include "analysis/rows/condition_columns.hpp"
#include "analysis/rows/density_columns.hpp"
#include "analysis/rows/machine_columns.hpp"
#include "analysis/rows/marker_columns.hpp"
#include "analysis/rows/region_columns.hpp"

namespace pclscope {

struct SnapshotRows {
  std::vector<RegionRow> regions, ended_regions;
  std::vector<RegionRankRow> region_ranks;
  std::vector<RegionHistoryRow> region_history;
  std::vector<Period> region_periods;
  std::vector<RegionLink> links, ended_links;
  std::vector<LeafRow> leaf_of_rank;
  std::vector<DendrogramMerge> merges;
  std::vector<WorstMessage> worst;
  std::vector<RankRow> ranks;
  std::vector<Criterion> criteria;
  std::vector<NodeRow> nodes;
  std::vector<RankNodeRow> node_of_rank;
  std::vector<FunctionRow> functions;
  std::vector<ShareRow> function_history;
  std::vector<DeadlockRow> deadlocks;
  std::vector<DeadlockMemberRow> deadlock_members;
  std::vector<WaitRow> waits_for;
  std::vector<SiteActivity> site_activity;
  std::vector<DelayRow> delays;
  std::vector<VictimRow> delay_victims;
  std::vector<ClockState> clocks;
  std::vector<ClockCorrection> clock_corrections;
  std::vector<DeadNodeRow> dead_nodes;
  std::vector<NodeLink> node_links;
  std::vector<WaitStateSum> wait_states;
  std::vector<FindingRow> findings;
  std::vector<FindingRankRow> finding_ranks;
  std::vector<FindingNodeRow> finding_nodes;
  std::vector<FindingPeriod> finding_periods;
  std::vector<TextRow> finding_texts;
  std::vector<AttributionSlice> attribution_slices;
  std::vector<TransferLineRow> transfer_lines;
  std::vector<TransferValueRow> transfer_values;
  std::vector<ConditionRow> conditions;
  std::vector<ConditionRankRow> condition_ranks;
  std::vector<MachineThreadRow> machine_threads;
  std::vector<NodeMachineRow> node_machines;
  std::vector<BindingRow> bindings;
  std::vector<ThreadRange> binding_ranges;
  std::vector<TextRow> slurm_topology;
  std::vector<MarkerRow> markers;
  std::vector<PairTraffic> traffic;
  std::vector<DensityByteRow> call_density;
};

// What is true of a table besides its columns.
struct TableInfo {
  const char* name;
  std::uint64_t rows_per_chunk;  // in a dump
  const char* meaning;
  bool live = true;       // travels to viewers
  bool essential = true;  // stays when a dump has no room for all
  bool first = false;     // in the first version of dumps: none lacks it
};

// visit(info, its rows in `rows`), in the order in which tables lie in a dump.
template <class Visit, class Rows>
void each_table(Visit&& visit, Rows& rows) {
  using T = TableInfo;
  visit(T{.name = "regions", .rows_per_chunk = 32, .meaning = "regions at the last summary", .first = true},
        rows.regions);
  visit(T{.name = "ended_regions",
          .rows_per_chunk = 32,
          .meaning = "regions of earlier patterns of communication, newest first"},
        rows.ended_regions);
  visit(T{.name = "region_ranks",
          .rows_per_chunk = 512,
          .meaning = "world ranks of the regions, region by region; then of `ended_regions`",
          .first = true},
        rows.region_ranks);
  visit(T{.name = "region_history",
          .rows_per_chunk = 512,
          .meaning = "the newest windows of the regions, region by region, oldest first",
          .essential = false,
          .first = true},
        rows.region_history);
  visit(T{.name = "region_periods",
          .rows_per_chunk = 64,
          .meaning = "evolution of the regions, region by region, oldest first; then of `ended_regions`",
          .essential = false},
        rows.region_periods);
  visit(T{.name = "links",
          .rows_per_chunk = 64,
          .meaning = "messages between two regions, most first",
          .essential = false},
        rows.links);
  visit(T{.name = "ended_links",
          .rows_per_chunk = 64,
          .meaning = "messages between two regions of which one is in `ended_regions`, while both existed, most first",
          .live = false,
          .essential = false},
        rows.ended_links);
  visit(T{.name = "leaf_of_rank",
          .rows_per_chunk = 512,
          .meaning = "for rank 0, 1, ...: its leaf in the dendrogram",
          .live = false,
          .essential = false},
        rows.leaf_of_rank);
  visit(
      T{.name = "merges",
        .rows_per_chunk = 512,
        .meaning = "how the regions were found, ascending height: merge k of clusters `left` and `right` makes cluster "
                   "(leaves + k); clusters 0 to leaves-1 are the leaves",
        .live = false,
        .essential = false},
      rows.merges);
  visit(T{.name = "worst",
          .rows_per_chunk = 32,
          .meaning = "worst messages of the newest windows",
          .essential = false,
          .first = true},
        rows.worst);
  visit(T{.name = "ranks", .rows_per_chunk = 64, .meaning = "ranks", .first = true}, rows.ranks);
  visit(T{.name = "criteria", .rows_per_chunk = 64, .meaning = "latency criteria", .essential = false, .first = true},
        rows.criteria);
  visit(T{.name = "nodes", .rows_per_chunk = 16, .meaning = "host names", .first = true}, rows.nodes);
  visit(T{.name = "node_of_rank", .rows_per_chunk = 512, .meaning = "for rank 0, 1, ...: its node", .first = true},
        rows.node_of_rank);
  visit(T{.name = "functions", .rows_per_chunk = 32, .meaning = "MPI functions, most time first", .essential = false},
        rows.functions);
  visit(T{.name = "function_history",
          .rows_per_chunk = 1024,
          .meaning = "shares of all ranks' time per window, function by function, oldest first",
          .essential = false},
        rows.function_history);
  visit(T{.name = "deadlocks", .rows_per_chunk = 16, .meaning = "that stood at the last summary"}, rows.deadlocks);
  visit(
      T{.name = "deadlock_members", .rows_per_chunk = 32, .meaning = "deadlock by deadlock, in the order of the cycle"},
      rows.deadlock_members);
  visit(T{.name = "waits_for",
          .rows_per_chunk = 128,
          .meaning = "ranks that somebody waits for: of `ranks`, then of `deadlock_members`"},
        rows.waits_for);
  visit(T{.name = "site_activity",
          .rows_per_chunk = 64,
          .meaning = "call sites with messages, most time lost first (50; at the end of the run all)",
          .essential = false},
        rows.site_activity);
  visit(T{.name = "delays", .rows_per_chunk = 32, .meaning = "where delays began, most cost first", .essential = false},
        rows.delays);
  visit(T{.name = "delay_victims",
          .rows_per_chunk = 256,
          .meaning = "who lost most, delay by delay, most first",
          .essential = false},
        rows.delay_victims);
  visit(T{.name = "clocks",
          .rows_per_chunk = 16,
          .meaning = "newest estimate of each node's clock against the root's (several nodes)"},
        rows.clocks);
  visit(T{.name = "clock_corrections",
          .rows_per_chunk = 64,
          .meaning = "clocks estimated anew at an orderly end, see below; per node ascending in `at_s`",
          .live = false,
          .essential = false},
        rows.clock_corrections);
  visit(T{.name = "dead_nodes",
          .rows_per_chunk = 16,
          .meaning = "nodes whose aggregator died: their ranks were not recorded from then on"},
        rows.dead_nodes);
  visit(T{.name = "node_links",
          .rows_per_chunk = 32,
          .meaning = "messages from one node to another, most first, at most 1,000",
          .essential = false},
        rows.node_links);
  visit(T{.name = "wait_states",
          .rows_per_chunk = 64,
          .meaning = "how long ranks waited for others, by wait state, function, communicator and call site; without "
                     "sends and receives",
          .essential = false},
        rows.wait_states);
  visit(T{.name = "findings", .rows_per_chunk = 16, .meaning = "why messages are late, the first is the answer"},
        rows.findings);
  visit(T{.name = "finding_ranks", .rows_per_chunk = 64, .meaning = "where it begins, finding by finding"},
        rows.finding_ranks);
  visit(T{.name = "finding_nodes",
          .rows_per_chunk = 32,
          .meaning = "pairs (from, to) of nodes with slow links, finding by finding"},
        rows.finding_nodes);
  visit(T{.name = "finding_periods",
          .rows_per_chunk = 32,
          .meaning = "when it acted, of those that acted several times, finding by finding"},
        rows.finding_periods);
  visit(T{.name = "finding_texts",
          .rows_per_chunk = 2048,
          .meaning = "UTF-8, back to back: `_begin` and `_count` of `findings`"},
        rows.finding_texts);
  visit(T{.name = "attribution_slices",
          .rows_per_chunk = 64,
          .meaning = "the measures over time that findings rest on, oldest first",
          .essential = false},
        rows.attribution_slices);
  visit(T{.name = "transfer_lines",
          .rows_per_chunk = 16,
          .meaning = "messages between nodes by size, most first",
          .essential = false},
        rows.transfer_lines);
  visit(T{.name = "transfer_values",
          .rows_per_chunk = 512,
          .meaning = "line by line, a value per slice",
          .essential = false},
        rows.transfer_values);
  visit(T{.name = "conditions",
          .rows_per_chunk = 16,
          .meaning = "conditions of the run: what kept ranks off their cores, most cost first"},
        rows.conditions);
  visit(T{.name = "condition_ranks", .rows_per_chunk = 64, .meaning = "whom it hits, condition by condition"},
        rows.condition_ranks);
  visit(T{.name = "machine_threads",
          .rows_per_chunk = 128,
          .meaning = "what nodes are inside: the hardware threads of each distinct machine, in hwloc's order",
          .essential = false},
        rows.machine_threads);
  visit(T{.name = "node_machines",
          .rows_per_chunk = 64,
          .meaning = "for row 0, 1, ... of `nodes`: its machine",
          .essential = false},
        rows.node_machines);
  visit(T{.name = "bindings", .rows_per_chunk = 64, .meaning = "where ranks may run, by rank", .essential = false},
        rows.bindings);
  visit(T{.name = "binding_ranges",
          .rows_per_chunk = 128,
          .meaning = "hardware threads, binding by binding, ascending",
          .essential = false},
        rows.binding_ranges);
  visit(T{.name = "slurm_topology",
          .rows_per_chunk = 2048,
          .meaning = "UTF-8: what `scontrol show topology` printed inside the job",
          .live = false,
          .essential = false},
        rows.slurm_topology);
  visit(T{.name = "markers",
          .rows_per_chunk = 16,
          .meaning = "parts of the program that it named itself, by begin (docs/markers.md)"},
        rows.markers);
  visit(T{.name = "traffic",
          .rows_per_chunk = 256,
          .meaning = "messages of each pair of ranks that exchanged some, by source, then destination (of more than "
                     "20,000 pairs at the end of the run only)",
          .live = false,
          .essential = false},
        rows.traffic);
  visit(T{.name = "call_density",
          .rows_per_chunk = 4096,
          .meaning = "every call by begin, end and duration, and time inside each function over time, packed: see "
                     "\"Density of calls\"",
          .essential = false},
        rows.call_density);
}

// All lists of a snapshot but its call sites, which have texts (a dump: analysis/store/sites.hpp). What is no list:
// summary_values.hpp, and the texts `job`, `command`, `mpi` and `method`.
SnapshotRows rows_of(const Snapshot& snapshot);

// Back, into a snapshot that has its single values (the number of ranks is used). False when rows contradict each
// other; what is sound is there all the same. Every entry of a list must belong to exactly the row that follows the one
// before: damaged rows cannot make us copy entries again and again. Indices of nodes are those of `nodes`, or -1.
bool snapshot_of(const SnapshotRows& rows, Snapshot& snapshot);

}  // namespace pclscope
