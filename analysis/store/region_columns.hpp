// Columns of the tables about regions: who is in them, their evolution, how they were found. See columns.hpp.
#pragma once

#include <cstdint>

#include "analysis/values/snapshot.hpp"

namespace pclscope::store {

struct RegionRow : Region {
  std::uint64_t ranks_begin = 0;
  std::uint64_t ranks_count = 0;
  std::uint64_t history_begin = 0;
  std::uint64_t history_count = 0;
  std::uint64_t periods_begin = 0;
  std::uint64_t periods_count = 0;
};
struct RegionRankRow {
  std::int32_t rank = 0;
};
struct RegionHistoryRow {
  float ratio = 0;
  std::uint32_t messages = 0;
};
struct LeafRow {
  std::int32_t leaf = -1;
};

template <class Column>
void describe(Column&& column, const RegionRow*) {
  column("id", "id", &RegionRow::id);
  column("messages", "1", &RegionRow::messages);
  column("bytes", "bytes", &RegionRow::bytes);
  column("delayed", "1", &RegionRow::delayed);
  column("mean_latency_ratio", "1", &RegionRow::mean_latency_ratio);
  column("mean_transfer_ratio", "1", &RegionRow::mean_transfer_ratio);
  column("delayed_share", "1", &RegionRow::delayed_share);
  column("late_sender_s", "s", &RegionRow::late_sender_s);
  column("late_receiver_s", "s", &RegionRow::late_receiver_s);
  column("transfer_s", "s", &RegionRow::transfer_s);
  column("collective_wait_s", "s", &RegionRow::collective_wait_s);
  column("ranks_begin", "row of region_ranks", &RegionRow::ranks_begin);
  column("ranks_count", "1", &RegionRow::ranks_count);
  column("history_begin", "row of region_history", &RegionRow::history_begin);
  column("history_count", "1", &RegionRow::history_count);
  column("periods_begin", "row of region_periods", &RegionRow::periods_begin);
  column("periods_count", "1", &RegionRow::periods_count);
}

template <class Column>
void describe(Column&& column, const RegionRankRow*) {
  column("rank", "rank", &RegionRankRow::rank);
}

template <class Column>
void describe(Column&& column, const RegionHistoryRow*) {
  column("ratio", "1", &RegionHistoryRow::ratio);
  column("messages", "1", &RegionHistoryRow::messages);
}

template <class Column>
void describe(Column&& column, const Period*) {
  column("kind", "id", &Period::kind);
  column("open", "0 or 1", &Period::open);
  column("begin_s", "s", &Period::begin_s);
  column("end_s", "s", &Period::end_s);
  column("windows", "1", &Period::windows);
  column("messages", "1", &Period::messages);
  column("bytes", "bytes", &Period::bytes);
  column("delayed", "1", &Period::delayed);
  column("mean_ratio", "1", &Period::mean_ratio);
  column("begin_ratio", "1", &Period::begin_ratio);
  column("middle_ratio", "1", &Period::middle_ratio);
  column("end_ratio", "1", &Period::end_ratio);
  column("late_sender_s", "s", &Period::late_sender_s);
  column("late_receiver_s", "s", &Period::late_receiver_s);
  column("transfer_s", "s", &Period::transfer_s);
}

template <class Column>
void describe(Column&& column, const RegionLink*) {
  column("a", "id of a row of regions", &RegionLink::a);
  column("b", "id of a row of regions", &RegionLink::b);
  column("messages", "1", &RegionLink::messages);
  column("bytes", "bytes", &RegionLink::bytes);
  column("delayed", "1", &RegionLink::delayed);
  column("mean_latency_ratio", "1", &RegionLink::mean_latency_ratio);
  column("mean_transfer_ratio", "1", &RegionLink::mean_transfer_ratio);
  column("late_sender_s", "s", &RegionLink::late_sender_s);
  column("late_receiver_s", "s", &RegionLink::late_receiver_s);
  column("transfer_s", "s", &RegionLink::transfer_s);
}

template <class Column>
void describe(Column&& column, const LeafRow*) {
  column("leaf", "1", &LeafRow::leaf);
}

template <class Column>
void describe(Column&& column, const DendrogramMerge*) {
  column("left", "leaf or cluster", &DendrogramMerge::left);
  column("right", "leaf or cluster", &DendrogramMerge::right);
  column("height", "1", &DendrogramMerge::height);
}

}  // namespace pclscope::store
