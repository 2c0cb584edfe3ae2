// Columns of a dependency graph on the wire. See columns.hpp.
#pragma once

#include <cstdint>

#include "analysis/values/dag.hpp"

namespace pclscope {

struct DagNodeRow : DagNode {
  std::uint32_t received_count = 0;  // its messages follow those of the node before
  std::uint32_t sent_count = 0;
};

// What is no list; one row.
template <class Column>
void describe(Column&& column, const Dag*) {
  column("region", "id of a row of regions", &Dag::region, "-1: asked for by ranks");
  column("from_s", "s", &Dag::from_s, "begin of the period, since the time origin");
  column("to_s", "s", &Dag::to_s, "its end");
  column("messages", "1", &Dag::messages, "in the graph");
  column("messages_missing", "1", &Dag::messages_missing,
         "known to be in the period, but not kept, or beyond the limit");
  column("partial", "0 or 1", &Dag::partial, "not all of the period is in it");
  column("why_partial", "", &Dag::why_partial, "one line");
}

template <class Column>
void describe(Column&& column, const DagRank*) {
  column("rank", "rank", &DagRank::rank, "in the application's world");
  column("compute_node", "row of nodes", &DagRank::compute_node, "where; -1 not known");
  column("messages", "1", &DagRank::messages, "sent and received");
  column("load_balance", "1", &DagRank::load_balance, "deviation of its messages from the mean; 0 where all are equal");
  column("node_ratio", "1", &DagRank::node_ratio, "mean ratio of messages received by ranks of its compute node");
}

template <class Column>
void describe(Column&& column, const DagNodeRow*) {
  column("rank", "rank", &DagNodeRow::rank, "in the application's world");
  column("layer", "1", &DagNodeRow::layer, "longest path from a node without predecessors");
  column("begin_s", "s", &DagNodeRow::begin_s, "of its first event, since the time origin");
  column("end_s", "s", &DagNodeRow::end_s, "of its last");
  column("received_count", "1", &DagNodeRow::received_count, "its next rows of received");
  column("sent_count", "1", &DagNodeRow::sent_count, "its next rows of sent");
}

template <class Column>
void describe(Column&& column, const DagMessage*) {
  column("other_node", "row of nodes of the graph", &DagMessage::other_node, "at the other end; -1 not in the graph");
  column("peer", "rank", &DagMessage::peer, "its rank");
  column("tag", "1", &DagMessage::tag, "of the message");
  column("bytes", "bytes", &DagMessage::bytes, "payload");
  column("begin_s", "s", &DagMessage::begin_s, "the send began, since the time origin");
  column("time_s", "s", &DagMessage::time_s, "from begin of the send to end of the receive");
  column("ratio", "1", &DagMessage::ratio, "time / latency criterion; 0 when it has none");
  column("call_s", "s", &DagMessage::call_s, "of the call that sent it; how long its receiver could only wait for it");
  column("site", "id of a row of sites", &DagMessage::site,
         "of the call that sent it, or that posted its receive; 0 not known");
}

template <class Column>
void describe(Column&& column, const DagEdge*) {
  column("from", "row of nodes of the graph", &DagEdge::from, "the lower");
  column("to", "row of nodes of the graph", &DagEdge::to, "the higher");
  column("messages", "1", &DagEdge::messages, "from one to the other");
  column("bytes", "bytes", &DagEdge::bytes, "payload");
  column("ratio", "1", &DagEdge::ratio, "mean of time / latency criterion");
}

}  // namespace pclscope
