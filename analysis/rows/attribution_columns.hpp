// Columns of the tables about causes, and of the traffic that mappings are made from. See columns.hpp.
#pragma once

#include <cstdint>

#include "analysis/values/snapshot.hpp"

namespace pclscope {

// Its evidence is one text, a line per sentence.
struct FindingRow : Finding {
  std::uint64_t ranks_begin = 0;
  std::uint64_t ranks_count = 0;
  std::uint64_t nodes_begin = 0;
  std::uint64_t nodes_count = 0;
  std::uint64_t periods_begin = 0;
  std::uint64_t periods_count = 0;
  std::uint64_t detail_begin = 0;
  std::uint64_t detail_count = 0;
  std::uint64_t evidence_begin = 0;
  std::uint64_t evidence_count = 0;
  std::uint64_t advice_begin = 0;
  std::uint64_t advice_count = 0;
};
struct FindingRankRow {
  std::int32_t rank = 0;
};
struct FindingNodeRow {
  std::int32_t node = 0;
};
struct TransferLineRow : TransferLine {
  std::uint64_t values_begin = 0;
  std::uint64_t values_count = 0;
};
struct TransferValueRow {
  float normalised = 0;
};

template <class Column>
void describe(Column&& column, const FindingRow*) {
  column("cause", "id", &FindingRow::cause,
         "0 none, 1 unknown, 2 mapping, 3 pattern, 4 background, 5 late sender, 6 late receiver, 7 collective wait, "
         "8 load imbalance, 9 outage, 10 one-sided wait, 11 file, 12 startup, 13 blocked");
  column("region", "id of a row of regions", &FindingRow::region, "where it is felt; -1 all over the job");
  column("site", "id of a row of sites", &FindingRow::site, "code to look at; 0 not known");
  column("begin_s", "s", &FindingRow::begin_s, "it acts from here, since the time origin");
  column("end_s", "s", &FindingRow::end_s, "to here");
  column("open", "0 or 1", &FindingRow::open, "it still acts");
  column("score", "1", &FindingRow::score, "share of all ranks' time in its periods");
  column("confidence", "1", &FindingRow::confidence, "0 to 1");
  column("lost_s", "s", &FindingRow::lost_s, "time lost, over all ranks");
  column("gain_s", "s", &FindingRow::gain_s,
         "by which the period would be shorter without it, replayed from its calls; -1 not known");
  column("ranks_begin", "row of finding_ranks", &FindingRow::ranks_begin, "its ranks: the first");
  column("ranks_count", "1", &FindingRow::ranks_count, "how many");
  column("nodes_begin", "row of finding_nodes", &FindingRow::nodes_begin, "its pairs of nodes: the first");
  column("nodes_count", "1", &FindingRow::nodes_count, "how many entries, two for a pair");
  column("periods_begin", "row of finding_periods", &FindingRow::periods_begin,
         "the periods in which it acted, if these are several: the first");
  column("periods_count", "1", &FindingRow::periods_count, "how many; 0: one, from begin_s to end_s");
  column("detail_begin", "row of finding_texts", &FindingRow::detail_begin, "its kind: the first byte");
  column("detail_count", "bytes", &FindingRow::detail_count, "how many");
  column("evidence_begin", "row of finding_texts", &FindingRow::evidence_begin,
         "sentences with figures, a line each: the first byte");
  column("evidence_count", "bytes", &FindingRow::evidence_count, "how many");
  column("advice_begin", "row of finding_texts", &FindingRow::advice_begin, "what to do: the first byte");
  column("advice_count", "bytes", &FindingRow::advice_count, "how many");
}

template <class Column>
void describe(Column&& column, const FindingRankRow*) {
  column("rank", "rank", &FindingRankRow::rank, "where it begins, worst first");
}

template <class Column>
void describe(Column&& column, const FindingNodeRow*) {
  column("node", "row of nodes", &FindingNodeRow::node, "end of a slow link");
}

template <class Column>
void describe(Column&& column, const FindingPeriod*) {
  column("begin_s", "s", &FindingPeriod::begin_s, "it acted from here, since the time origin");
  column("end_s", "s", &FindingPeriod::end_s, "to here");
  column("lost_s", "s", &FindingPeriod::lost_s, "time lost, over all ranks");
}

template <class Column>
void describe(Column&& column, const AttributionSlice*) {
  column("begin_s", "s", &AttributionSlice::begin_s, "first moment, since the time origin");
  column("length_s", "s", &AttributionSlice::length_s, "how long");
  column("intra_messages", "1", &AttributionSlice::intra_messages, "between ranks of one node");
  column("inter_messages", "1", &AttributionSlice::inter_messages, "between nodes");
  column("load_balance", "1", &AttributionSlice::load_balance,
         "mean deviation of ranks' message counts over their mean; 0 equal");
  column("wait_s", "s", &AttributionSlice::wait_s, "for late senders, over all ranks");
  column("blocked_s", "s", &AttributionSlice::blocked_s, "senders waited for receives");
  column("collective_s", "s", &AttributionSlice::collective_s, "waits in collectives");
  column("transfer_s", "s", &AttributionSlice::transfer_s, "transfers between nodes");
  column("excess_transfer_s", "s", &AttributionSlice::excess_transfer_s, "of that, beyond the usual");
}

template <class Column>
void describe(Column&& column, const TransferLineRow*) {
  column("bytes_low", "bytes", &TransferLineRow::bytes_low, "sizes from here");
  column("bytes_high", "bytes", &TransferLineRow::bytes_high, "to below here");
  column("messages", "1", &TransferLineRow::messages, "between nodes");
  column("calm", "0 or 1", &TransferLineRow::calm, "hardly varies");
  column("values_begin", "row of transfer_values", &TransferLineRow::values_begin, "a value per slice: the first");
  column("values_count", "1", &TransferLineRow::values_count, "how many");
}

template <class Column>
void describe(Column&& column, const TransferValueRow*) {
  column("normalised", "1", &TransferValueRow::normalised, "mean transfer time over the usual; 0 without messages");
}

template <class Column>
void describe(Column&& column, const PairTraffic*) {
  column("source", "rank", &PairTraffic::source, "who sent");
  column("destination", "rank", &PairTraffic::destination, "who received");
  column("messages", "1", &PairTraffic::messages, "matched messages");
  column("bytes", "bytes", &PairTraffic::bytes, "payload");
  column("timed", "1", &PairTraffic::timed, "of the messages, those with a latency");
  column("time_s", "s", &PairTraffic::time_s, "their times together");
  column("transfer_s", "s", &PairTraffic::transfer_s, "the transfers in these times");
}

}  // namespace pclscope
