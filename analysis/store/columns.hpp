// Every table of a dump: its columns, their units, and where they are in our values. Writer and reader share this.
// Names and units are the file format (FORMAT.md): change both together. Private to analysis/store.
#pragma once

#include <array>
#include <cstdint>

#include "analysis/values/message.hpp"
#include "analysis/values/snapshot.hpp"

namespace pclscope::store {

inline constexpr std::int32_t format_major = 2;  // newer: unreadable; 1 can still be read (reader.cpp)
inline constexpr std::int32_t format_minor = 4;  // newer: columns this program does not know

// Rows of tables whose values are nested in ours. Lists become a range of rows in another table.
struct WindowRow : RegionWindow {  // inherited: of all messages in the window
  double begin_s = 0;
  double length_s = 0;
  std::uint64_t regions_begin = 0;
  std::uint64_t regions_count = 0;
  bool operator==(const WindowRow&) const = default;
};
struct WindowRegionRow : RegionWindow {
  std::uint64_t window = 0;
  bool operator==(const WindowRegionRow&) const = default;
};
// When what is in a chunk of /messages or /collectives began and ended: a reader passes over chunks of other times.
struct ChunkTimes {
  std::int64_t earliest_ns = INT64_MAX;
  std::int64_t latest_ns = INT64_MIN;
  bool operator==(const ChunkTimes&) const = default;
};
struct RankRow : RankSummary {
  std::uint64_t waits_begin = 0;
  std::uint64_t waits_count = 0;
};
struct NodeRow {
  std::array<char, 256> name{};
};
struct RankNodeRow {
  std::int32_t node = -1;
};

struct DeadNodeRow {
  std::int32_t node = 0;
};

// describe(column, row type): calls column(name, unit, member) for each column. This one is of version 1.
template <class Column>
void describe(Column&& column, const Message*) {
  column("comm", "id", &Message::comm);
  column("source", "rank", &Message::source);
  column("destination", "rank", &Message::destination);
  column("tag", "1", &Message::tag);
  column("flags", "bits", &Message::flags);
  column("bytes", "bytes", &Message::bytes);
  column("send_begin", "ns", &Message::send_begin);
  column("send_end", "ns", &Message::send_end);
  column("recv_post", "ns", &Message::recv_post);
  column("recv_wait", "ns", &Message::recv_wait);
  column("recv_end", "ns", &Message::recv_end);
  column("send_site", "id of a row of sites", &Message::send_site);
  column("recv_site", "id of a row of sites", &Message::recv_site);
}

template <class Row, class Column>
void describe_region_window(Column&& column) {
  column("messages", "1", &Row::messages);
  column("bytes", "bytes", &Row::bytes);
  column("delayed", "1", &Row::delayed);
  column("mean_ratio", "1", &Row::mean_ratio);
  column("late_sender_s", "s", &Row::late_sender_s);
  column("late_receiver_s", "s", &Row::late_receiver_s);
  column("transfer_s", "s", &Row::transfer_s);
  column("mean_transfer_ratio", "1", &Row::mean_transfer_ratio);
}

template <class Column>
void describe(Column&& column, const WindowRow*) {
  column("begin_s", "s", &WindowRow::begin_s);
  column("length_s", "s", &WindowRow::length_s);
  describe_region_window<WindowRow>(column);
  column("regions_begin", "row of window_regions", &WindowRow::regions_begin);
  column("regions_count", "1", &WindowRow::regions_count);
}

template <class Column>
void describe(Column&& column, const WindowRegionRow*) {
  column("window", "row of windows", &WindowRegionRow::window);
  column("region", "id", &WindowRegionRow::region);
  describe_region_window<WindowRegionRow>(column);
}

template <class Column>
void describe(Column&& column, const WorstMessage*) {
  column("source", "rank", &WorstMessage::source);
  column("destination", "rank", &WorstMessage::destination);
  column("tag", "1", &WorstMessage::tag);
  column("comm", "id", &WorstMessage::comm);
  column("bytes", "bytes", &WorstMessage::bytes);
  column("start_s", "s", &WorstMessage::start_s);
  column("time_s", "s", &WorstMessage::time_s);
  column("ratio", "1", &WorstMessage::ratio);
  column("late_sender_s", "s", &WorstMessage::late_sender_s);
  column("late_receiver_s", "s", &WorstMessage::late_receiver_s);
  column("transfer_s", "s", &WorstMessage::transfer_s);
}

template <class Column>
void describe(Column&& column, const RankRow*) {
  column("rank", "rank", &RankSummary::rank);
  column("node", "row of nodes", &RankSummary::node);
  column("sends", "1", &RankSummary::sends);
  column("receives", "1", &RankSummary::receives);
  column("bytes_sent", "bytes", &RankSummary::bytes_sent);
  column("bytes_received", "bytes", &RankSummary::bytes_received);
  column("collectives", "1", &RankSummary::collectives);
  column("dropped_events", "1", &RankSummary::dropped_events);
  column("mean_ratio", "1", &RankSummary::mean_ratio);
  column("mpi_s", "s", &RankSummary::mpi_s);
  column("late_sender_s", "s", &RankSummary::late_sender_s);
  column("late_receiver_s", "s", &RankSummary::late_receiver_s);
  column("collective_wait_s", "s", &RankSummary::collective_wait_s);
  column("delay_caused_s", "s", &RankSummary::delay_caused_s);
  column("call_function", "id", &RankSummary::call_function);
  column("call_peer", "rank", &RankSummary::call_peer);
  column("call_for_s", "s", &RankSummary::call_for_s);
  column("finished", "0 or 1", &RankSummary::finished);
  column("call_site", "id of a row of sites", &RankSummary::call_site);
  column("call_comm", "id", &RankSummary::call_comm);
  column("call_tag", "1", &RankSummary::call_tag);
  column("waits_for_any", "0 or 1", &RankSummary::waits_for_any);
  column("missing", "0 or 1", &RankSummary::missing);
  column("missing_from_s", "s", &RankSummary::missing_from_s);
  column("waits_begin", "row of waits_for", &RankRow::waits_begin);
  column("waits_count", "1", &RankRow::waits_count);
}

template <class Column>
void describe(Column&& column, const Criterion*) {
  column("inter_node", "0 or 1", &Criterion::inter_node);
  column("bytes_low", "bytes", &Criterion::bytes_low);
  column("bytes_high", "bytes", &Criterion::bytes_high);
  column("count", "1", &Criterion::count);
  column("median_s", "s", &Criterion::median_s);
  column("transfer_median_s", "s", &Criterion::transfer_median_s);
}

template <class Column>
void describe(Column&& column, const NodeRow*) {
  column("name", "", &NodeRow::name);
}

template <class Column>
void describe(Column&& column, const RankNodeRow*) {
  column("node", "row of nodes", &RankNodeRow::node);
}

template <class Column>
void describe(Column&& column, const ChunkTimes*) {
  column("earliest_ns", "ns", &ChunkTimes::earliest_ns);
  column("latest_ns", "ns", &ChunkTimes::latest_ns);
}

template <class Column>
void describe(Column&& column, const DeadNodeRow*) {
  column("node", "row of nodes", &DeadNodeRow::node);
}

template <class Column>
void describe(Column&& column, const ClockState*) {
  column("node", "row of nodes", &ClockState::node);
  column("at_s", "s", &ClockState::at_s);
  column("offset_s", "s", &ClockState::offset_s);
  column("drift", "s/s", &ClockState::drift);
  column("error_s", "s", &ClockState::error_s);
}

template <class Column>
void describe(Column&& column, const NodeLink*) {
  column("source", "row of nodes", &NodeLink::source);
  column("destination", "row of nodes", &NodeLink::destination);
  column("messages", "1", &NodeLink::messages);
  column("bytes", "bytes", &NodeLink::bytes);
  column("delayed", "1", &NodeLink::delayed);
  column("mean_latency_ratio", "1", &NodeLink::mean_latency_ratio);
  column("mean_transfer_ratio", "1", &NodeLink::mean_transfer_ratio);
  column("mean_transfer_s", "s", &NodeLink::mean_transfer_s);
  column("newest_messages", "1", &NodeLink::newest_messages);
  column("newest_transfer_ratio", "1", &NodeLink::newest_transfer_ratio);
  column("peak_transfer_ratio", "1", &NodeLink::peak_transfer_ratio);
  column("peak_s", "s", &NodeLink::peak_s);
}

template <class Column>
void describe(Column&& column, const ClockCorrection*) {
  column("node", "row of nodes", &ClockCorrection::node);
  column("at_s", "s", &ClockCorrection::at_s);
  column("correction_s", "s", &ClockCorrection::correction_s);
  column("error_s", "s", &ClockCorrection::error_s);
}

// The single values of a summary: attributes of its group. `snapshot` is const when writing.
template <class Value, class AnySnapshot>
void describe_values(Value&& value, AnySnapshot& snapshot) {
  value("ranks", snapshot.application.ranks);
  value("aggregators", snapshot.application.aggregators);
  value("time_origin_realtime_ns", snapshot.time_origin_realtime_ns);
  value("duration_s", snapshot.duration_s);
  value("finished", snapshot.finished);
  value("finalized_ranks", snapshot.finalized_ranks);
  value("matched", snapshot.messages.matched);
  value("unmatched_sends", snapshot.messages.unmatched_sends);
  value("unmatched_receives", snapshot.messages.unmatched_receives);
  value("ambiguous", snapshot.messages.ambiguous);
  value("dropped_events", snapshot.messages.dropped_events);
  value("bytes", snapshot.messages.bytes);
  value("delayed", snapshot.messages.delayed);
  value("clock_violations", snapshot.messages.clock_violations);
  value("clock_unclear", snapshot.messages.clock_unclear);
  value("foreign", snapshot.messages.foreign);
  value("events", snapshot.messages.events);
  value("half_recorded", snapshot.messages.half_recorded);
  value("mean_ratio", snapshot.latency.mean_ratio);
  value("median_s", snapshot.latency.median_s);
  value("p99_s", snapshot.latency.p99_s);
  value("window_s", snapshot.live.window_s);
  value("window_end_realtime_ns", snapshot.live.window_end_realtime_ns);
  value("sequence", snapshot.live.sequence);
  value("collective_operations", snapshot.collectives.operations);
  value("collective_calls", snapshot.collectives.calls);
  value("collective_wait_s", snapshot.collectives.wait_s);
  value("delay_waits", snapshot.delay_totals.waits);
  value("delay_waited_s", snapshot.delay_totals.waited_s);
  value("delay_attributed_s", snapshot.delay_totals.attributed_s);
  value("delay_inside_mpi_s", snapshot.delay_totals.inside_mpi_s);
  value("delay_unknown_s", snapshot.delay_totals.unknown_s);
  value("delay_messages_left_out", snapshot.delay_totals.messages_left_out);
  value("modularity", snapshot.dendrogram.modularity);
  value("keep", snapshot.retention.keep);
  value("budget_bytes", snapshot.retention.budget_bytes);
  value("file_bytes", snapshot.retention.file_bytes);
  value("memory_budget_bytes", snapshot.retention.memory_budget_bytes);
  value("memory_bytes", snapshot.retention.memory_bytes);
  value("messages_stored", snapshot.retention.messages_stored);
  value("messages_left_out", snapshot.retention.messages_left_out);
  value("bites_since_s", snapshot.retention.bites_since_s);
  value("memory_from_s", snapshot.retention.memory_from_s);
  value("network_traffic_bytes", snapshot.network.traffic_bytes);
  value("network_messages_left_out", snapshot.network.messages_left_out);
  value("network_collectives_left_out", snapshot.network.collectives_left_out);
}

}  // namespace pclscope::store
