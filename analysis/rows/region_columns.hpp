// Columns of the tables about regions: who is in them, their evolution, how they were found. See columns.hpp.
#pragma once

#include <cstdint>

#include "analysis/values/snapshot.hpp"

namespace pclscope {

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
  column("id", "id", &RegionRow::id, "never used for other ranks");
  column("from_s", "s", &RegionRow::from_s, "begin of the window in which its pattern began, since the time origin");
  column("until_s", "s", &RegionRow::until_s, "begin of the window in which another pattern began; -1 it goes on");
  column("parent", "id", &RegionRow::parent, "the ended region that it has most ranks of; -1 none");
  column("messages", "1", &RegionRow::messages, "inside it, from `from_s` to `until_s`");
  column("bytes", "bytes", &RegionRow::bytes, "payload");
  column("delayed", "1", &RegionRow::delayed, "of those, above the criterion of when their window closed");
  column("mean_latency_ratio", "1", &RegionRow::mean_latency_ratio,
         "mean of time / latency criterion; 0 without messages");
  column("mean_transfer_ratio", "1", &RegionRow::mean_transfer_ratio,
         "mean of transfer time / criterion of transfers; 0 when not known");
  column("delayed_share", "1", &RegionRow::delayed_share, "delayed / messages; 0 without messages");
  column("late_sender_s", "s", &RegionRow::late_sender_s, "receivers were blocked: the awaited send had not begun");
  column("late_receiver_s", "s", &RegionRow::late_receiver_s, "senders were blocked: the receive was not posted");
  column("transfer_s", "s", &RegionRow::transfer_s, "exposed transfers: threads were blocked afterwards");
  column("collective_wait_s", "s", &RegionRow::collective_wait_s,
         "its ranks waited in collectives for those that came later");
  column("typical_ratio", "1", &RegionRow::typical_ratio,
         "geometric mean of time / latency criterion; 0 without messages");
  column("ranks_begin", "row of region_ranks", &RegionRow::ranks_begin, "its ranks: the first");
  column("ranks_count", "1", &RegionRow::ranks_count, "how many");
  column("history_begin", "row of region_history", &RegionRow::history_begin, "its newest windows: the first");
  column("history_count", "1", &RegionRow::history_count, "how many");
  column("periods_begin", "row of region_periods", &RegionRow::periods_begin, "its evolution: the first");
  column("periods_count", "1", &RegionRow::periods_count, "how many");
}

template <class Column>
void describe(Column&& column, const RegionRankRow*) {
  column("rank", "rank", &RegionRankRow::rank, "member");
}

template <class Column>
void describe(Column&& column, const RegionHistoryRow*) {
  column("ratio", "1", &RegionHistoryRow::ratio, "typical ratio of the window; 0 without messages");
  column("messages", "1", &RegionHistoryRow::messages, "of the window");
}

template <class Column>
void describe(Column&& column, const Period*) {
  column("kind", "id", &Period::kind, "0 other, 1 growth, 2 steady");
  column("open", "0 or 1", &Period::open, "it may still go on");
  column("begin_s", "s", &Period::begin_s, "begin of its first window, since the time origin");
  column("end_s", "s", &Period::end_s, "end of its last");
  column("windows", "1", &Period::windows, "with messages");
  column("messages", "1", &Period::messages, "matched messages");
  column("bytes", "bytes", &Period::bytes, "payload");
  column("delayed", "1", &Period::delayed, "of those, above the criterion of when their window closed");
  column("mean_ratio", "1", &Period::mean_ratio, "mean of time / latency criterion; 0 without messages");
  column("begin_ratio", "1", &Period::begin_ratio, "typical ratio of its first window with messages");
  column("middle_ratio", "1", &Period::middle_ratio, "of the one in the middle");
  column("end_ratio", "1", &Period::end_ratio, "of its last");
  column("late_sender_s", "s", &Period::late_sender_s, "receivers were blocked: the awaited send had not begun");
  column("late_receiver_s", "s", &Period::late_receiver_s, "senders were blocked: the receive was not posted");
  column("transfer_s", "s", &Period::transfer_s, "exposed transfers: threads were blocked afterwards");
  column("typical_ratio", "1", &Period::typical_ratio, "geometric mean of time / latency criterion; 0 when not known");
}

template <class Column>
void describe(Column&& column, const RegionLink*) {
  column("a", "id of a row of regions", &RegionLink::a, "the lower id");
  column("b", "id of a row of regions", &RegionLink::b, "the higher; -1 ranks in no region");
  column("messages", "1", &RegionLink::messages, "between the two, both directions");
  column("bytes", "bytes", &RegionLink::bytes, "payload");
  column("delayed", "1", &RegionLink::delayed, "of those, above the criterion of when their window closed");
  column("mean_latency_ratio", "1", &RegionLink::mean_latency_ratio,
         "mean of time / latency criterion; 0 without messages");
  column("mean_transfer_ratio", "1", &RegionLink::mean_transfer_ratio,
         "mean of transfer time / criterion of transfers; 0 when not known");
  column("late_sender_s", "s", &RegionLink::late_sender_s, "receivers were blocked: the awaited send had not begun");
  column("late_receiver_s", "s", &RegionLink::late_receiver_s, "senders were blocked: the receive was not posted");
  column("transfer_s", "s", &RegionLink::transfer_s, "exposed transfers: threads were blocked afterwards");
  column("typical_ratio", "1", &RegionLink::typical_ratio,
         "geometric mean of time / latency criterion; 0 without messages");
}

template <class Column>
void describe(Column&& column, const LeafRow*) {
  column("leaf", "1", &LeafRow::leaf, "of this rank in the dendrogram; -1 none");
}

template <class Column>
void describe(Column&& column, const DendrogramMerge*) {
  column("left", "leaf or cluster", &DendrogramMerge::left, "merged");
  column("right", "leaf or cluster", &DendrogramMerge::right, "with");
  column("height", "1", &DendrogramMerge::height, "distance (method correlation: the negative correlation)");
}

}  // namespace pclscope
