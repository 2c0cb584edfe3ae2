// What a row of each table is: name, unit, member and meaning of every column. Dumps (analysis/store), messages to
// viewers (analysis/wire), JSON and the tables of FORMAT.md come from these lists: a new field is a member and a line.
// describe(column, row type) calls column(name, unit, member, meaning) for each. Names and units are a file format: an
// older name stays readable (former_name()). Here: messages, windows, ranks, criteria, nodes; regions, calls and
// findings have files of their own.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>

#include "analysis/values/message.hpp"
#include "analysis/values/snapshot.hpp"

namespace pclscope {

// Rows of tables whose values are nested in ours. Lists become a range of rows in another table.
struct WindowRow : RegionWindow {  // inherited: of all messages in the window
  double begin_s = 0;
  double length_s = 0;
  std::uint64_t shed = 0;
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

// What a column was called in older dumps; nullptr: the same.
template <class Row>
const char* former_name(const char*) {
  return nullptr;
}
template <>
inline const char* former_name<RankRow>(const char* name) {
  return std::strcmp(name, "mean_latency_ratio") == 0 ? "mean_ratio" : nullptr;  // until 2.4
}

// As version 1 of a dump had it; newer ones: analysis/store/packed_rows.hpp.
template <class Column>
void describe(Column&& column, const Message*) {
  column("comm", "id", &Message::comm, "communicator");
  column("source", "rank", &Message::source, "who sent");
  column("destination", "rank", &Message::destination, "who received");
  column("tag", "1", &Message::tag, "of the message");
  column("flags", "bits", &Message::flags, "of the send and of the receive (event.hpp, message.hpp)");
  column("bytes", "bytes", &Message::bytes, "as received when known, else as sent");
  column("send_begin", "ns", &Message::send_begin, "entry of the call that started the send");
  column("send_end", "ns", &Message::send_end, "return of that call");
  column("recv_post", "ns", &Message::recv_post, "entry of the call that posted the receive");
  column("recv_wait", "ns", &Message::recv_wait, "entry of the call that completed it");
  column("recv_end", "ns", &Message::recv_end, "return of that call");
  column("send_site", "id of a row of sites", &Message::send_site, "call that started the send; 0 not known");
  column("recv_site", "id of a row of sites", &Message::recv_site, "call that posted the receive; 0 not known");
}

template <class Row, class Column>
void describe_region_window(Column&& column) {
  column("messages", "1", &Row::messages, "matched messages");
  column("bytes", "bytes", &Row::bytes, "payload");
  column("delayed", "1", &Row::delayed, "of those, above the criterion of when their window closed");
  column("mean_ratio", "1", &Row::mean_ratio, "mean of time / latency criterion; 0 without messages");
  column("late_sender_s", "s", &Row::late_sender_s, "receivers were blocked: the awaited send had not begun");
  column("late_receiver_s", "s", &Row::late_receiver_s, "senders were blocked: the receive was not posted");
  column("transfer_s", "s", &Row::transfer_s, "exposed transfers: threads were blocked afterwards");
  column("mean_transfer_ratio", "1", &Row::mean_transfer_ratio,
         "mean of transfer time / criterion of transfers; 0 when not known");
  column("typical_ratio", "1", &Row::typical_ratio, "geometric mean of time / latency criterion; 0 when not known");
}

template <class Column>
void describe(Column&& column, const WindowRow*) {
  column("begin_s", "s", &WindowRow::begin_s, "first moment, since the time origin");
  column("length_s", "s", &WindowRow::length_s, "how long");
  column("shed", "1", &WindowRow::shed, "of its messages: for lack of time neither stored nor kept for questions");
  describe_region_window<WindowRow>(column);
  column("regions_begin", "row of window_regions", &WindowRow::regions_begin, "its regions: the first");
  column("regions_count", "1", &WindowRow::regions_count, "how many");
}

template <class Column>
void describe(Column&& column, const WindowRegionRow*) {
  column("window", "row of windows", &WindowRegionRow::window, "when");
  column("region", "id", &WindowRegionRow::region, "which");
  describe_region_window<WindowRegionRow>(column);
}

template <class Column>
void describe(Column&& column, const WorstMessage*) {
  column("source", "rank", &WorstMessage::source, "who sent");
  column("destination", "rank", &WorstMessage::destination, "who received");
  column("tag", "1", &WorstMessage::tag, "of the message");
  column("comm", "id", &WorstMessage::comm, "communicator");
  column("bytes", "bytes", &WorstMessage::bytes, "payload");
  column("start_s", "s", &WorstMessage::start_s, "the send began, since the time origin");
  column("time_s", "s", &WorstMessage::time_s, "from begin of the send to end of the receive");
  column("ratio", "1", &WorstMessage::ratio, "time / latency criterion");
  column("late_sender_s", "s", &WorstMessage::late_sender_s,
         "before that time: the receiver was blocked, the send had not begun");
  column("late_receiver_s", "s", &WorstMessage::late_receiver_s,
         "of that time: the sender was blocked, the receive was not posted");
  column("transfer_s", "s", &WorstMessage::transfer_s, "of that time, afterwards: one of them at least was blocked");
  column("overlapped_s", "s", &WorstMessage::overlapped_s, "of that time: nobody was blocked");
}

template <class Column>
void describe(Column&& column, const RankRow*) {
  column("rank", "rank", &RankSummary::rank, "in the application's world");
  column("node", "row of nodes", &RankSummary::node, "where; -1 not known");
  column("sends", "1", &RankSummary::sends, "matched messages sent");
  column("receives", "1", &RankSummary::receives, "matched messages received");
  column("bytes_sent", "bytes", &RankSummary::bytes_sent, "of those sent");
  column("bytes_received", "bytes", &RankSummary::bytes_received, "of those received");
  column("collectives", "1", &RankSummary::collectives, "calls of collectives");
  column("dropped_events", "1", &RankSummary::dropped_events, "lost because its buffer was full");
  column("buffer_events", "1", &RankSummary::buffer_events,
         "that its largest buffer holds: it grows when it is half full; 0 not known");
  column("held_up_s", "s", &RankSummary::held_up_s, "by the tool: its threads waited for room in full buffers");
  column("mean_latency_ratio", "1", &RankSummary::mean_latency_ratio,
         "mean of time / latency criterion of the messages received");
  column("threads", "1", &RankSummary::threads,
         "that called MPI, more than one with MPI_THREAD_MULTIPLE only: times are sums over them");
  column("mpi_s", "s", &RankSummary::mpi_s, "inside recorded MPI calls: the sum of the nine that follow");
  column("init_s", "s", &RankSummary::init_s, "in MPI_Init");
  column("finalize_s", "s", &RankSummary::finalize_s,
         "in MPI_Finalize until the last rank entered it (before that: so far)");
  column("late_sender_s", "s", &RankSummary::late_sender_s, "blocked: the send that it waited for had not begun");
  column("late_receiver_s", "s", &RankSummary::late_receiver_s, "blocked in sends: the receive was not posted");
  column("transfer_s", "s", &RankSummary::transfer_s, "blocked afterwards: exposed transfers");
  column("collective_wait_s", "s", &RankSummary::collective_wait_s, "in collectives, for those that came later");
  column("one_sided_s", "s", &RankSummary::one_sided_s, "in synchronisation of windows");
  column("file_s", "s", &RankSummary::file_s, "in MPI-IO");
  column("other_s", "s", &RankSummary::other_s, "the rest: MPI's own work, and waits that are not told apart");
  column("delay_caused_s", "s", &RankSummary::delay_caused_s, "what computation here cost all other ranks");
  column("running_s", "s", &RankSummary::running_s,
         "its main thread ran; with the time off the core and asleep: since its ring was found; all 0: not known");
  column("off_core_s", "s", &RankSummary::off_core_s, "runnable, but not running: off the core");
  column("off_core_computing_s", "s", &RankSummary::off_core_computing_s,
         "of that, outside MPI: an estimate between the two that follow");
  column("off_core_computing_least_s", "s", &RankSummary::off_core_computing_least_s, "the same, at least");
  column("off_core_computing_most_s", "s", &RankSummary::off_core_computing_most_s,
         "the same, at most; 0 although there is some: not known (older dumps)");
  column("asleep_s", "s", &RankSummary::asleep_s, "neither: it slept, or was stopped");
  column("other_load", "1", &RankSummary::other_load,
         "share of the time of the cores that it may use, used by others than the job's ranks");
  column("begin_s", "s", &RankSummary::begin_s,
         "MPI_Init had returned (attached later: its first recorded call began), since the time origin; -1 not known");
  column("end_s", "s", &RankSummary::end_s,
         "MPI_Finalize began (before that: its newest recorded call returned), since the time origin; -1 not known");
  column("ideal_saved_s", "s", &RankSummary::ideal_saved_s,
         "a network on which nothing takes time would have brought it to end_s so much earlier (a replay)");
  column("call_function", "id", &RankSummary::call_function,
         "MPI function that it is inside now (in a dump: at its end); 0 outside");
  column("call_peer", "rank", &RankSummary::call_peer, "of that call");
  column("call_for_s", "s", &RankSummary::call_for_s, "for how long");
  column("finished", "0 or 1", &RankSummary::finished, "it has called MPI_Finalize");
  column("call_site", "id of a row of sites", &RankSummary::call_site, "from where; 0 not known");
  column("call_comm", "id", &RankSummary::call_comm, "its communicator");
  column("call_tag", "1", &RankSummary::call_tag, "its tag; -1 any, or none");
  column("waits_for_any", "0 or 1", &RankSummary::waits_for_any, "one of the awaited suffices, else all are needed");
  column("missing", "0 or 1", &RankSummary::missing, "not all of its record was read");
  column("typical_ratio", "1", &RankSummary::typical_ratio,
         "geometric mean of time / latency criterion of messages received; 0 without");
  column("missing_from_s", "s", &RankSummary::missing_from_s,
         "then: from here on, since the time origin; 0 from the beginning");
  column("waits_begin", "row of waits_for", &RankRow::waits_begin, "who could release it: the first");
  column("waits_count", "1", &RankRow::waits_count, "how many; 0 not known");
}

template <class Column>
void describe(Column&& column, const Criterion*) {
  column("inter_node", "0 or 1", &Criterion::inter_node, "messages between nodes");
  column("bytes_low", "bytes", &Criterion::bytes_low, "sizes from here");
  column("bytes_high", "bytes", &Criterion::bytes_high, "to below here");
  column("count", "1", &Criterion::count, "messages so far");
  column("median_s", "s", &Criterion::median_s, "of their times: the criterion");
  column("transfer_median_s", "s", &Criterion::transfer_median_s, "of their transfer times; 0 not known");
  column("criterion_s", "s", &Criterion::criterion_s,
         "what times are compared with: the median; of few messages a neighbour's; or the baseline's; 0 not known");
  column("transfer_criterion_s", "s", &Criterion::transfer_criterion_s, "the same for transfers");
}

template <class Column>
void describe(Column&& column, const NodeRow*) {
  column("name", "", &NodeRow::name, "host name");
}

template <class Column>
void describe(Column&& column, const RankNodeRow*) {
  column("node", "row of nodes", &RankNodeRow::node, "of this rank; -1 not known");
}

template <class Column>
void describe(Column&& column, const ChunkTimes*) {
  column("earliest_ns", "ns", &ChunkTimes::earliest_ns, "first moment of its rows");
  column("latest_ns", "ns", &ChunkTimes::latest_ns, "last moment");
}

template <class Column>
void describe(Column&& column, const DeadNodeRow*) {
  column("node", "row of nodes", &DeadNodeRow::node, "its aggregator died");
}

template <class Column>
void describe(Column&& column, const ClockState*) {
  column("node", "row of nodes", &ClockState::node, "whose clock");
  column("at_s", "s", &ClockState::at_s, "newest estimate, since the time origin");
  column("offset_s", "s", &ClockState::offset_s, "the root's axis minus the node's own");
  column("drift", "s/s", &ClockState::drift, "of that offset");
  column("error_s", "s", &ClockState::error_s, "bound of the offset's error");
}

template <class Column>
void describe(Column&& column, const NodeLink*) {
  column("source", "row of nodes", &NodeLink::source, "node of the senders");
  column("destination", "row of nodes", &NodeLink::destination, "node of the receivers");
  column("messages", "1", &NodeLink::messages, "matched messages");
  column("bytes", "bytes", &NodeLink::bytes, "payload");
  column("delayed", "1", &NodeLink::delayed, "of those, above the criterion of when their window closed");
  column("mean_latency_ratio", "1", &NodeLink::mean_latency_ratio,
         "mean of time / latency criterion; 0 without messages");
  column("mean_transfer_ratio", "1", &NodeLink::mean_transfer_ratio,
         "mean of transfer time / what is usual between nodes");
  column("late_sender_s", "s", &NodeLink::late_sender_s, "receivers were blocked: the awaited send had not begun");
  column("late_receiver_s", "s", &NodeLink::late_receiver_s, "senders were blocked: the receive was not posted");
  column("transfer_s", "s", &NodeLink::transfer_s, "exposed transfers: threads were blocked afterwards");
  column("mean_transfer_s", "s", &NodeLink::mean_transfer_s, "mean of transfer times");
  column("newest_messages", "1", &NodeLink::newest_messages, "of the last 2 to 4 seconds");
  column("newest_transfer_ratio", "1", &NodeLink::newest_transfer_ratio, "of those");
  column("peak_transfer_ratio", "1", &NodeLink::peak_transfer_ratio, "of the worst 2 seconds");
  column("peak_s", "s", &NodeLink::peak_s, "their begin, since the time origin");
}

template <class Column>
void describe(Column&& column, const ClockCorrection*) {
  column("node", "row of nodes", &ClockCorrection::node, "whose clock");
  column("at_s", "s", &ClockCorrection::at_s, "when, since the time origin");
  column("correction_s", "s", &ClockCorrection::correction_s, "to be added to the node's stored times");
  column("error_s", "s", &ClockCorrection::error_s, "bound of the error that is left");
}

}  // namespace pclscope
