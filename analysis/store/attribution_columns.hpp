// Columns of the tables about causes, and of the traffic that mappings are made from. See columns.hpp.
#pragma once

#include <cstdint>

#include "analysis/values/snapshot.hpp"

namespace pclscope::store {

// Its evidence is one text, a line per sentence.
struct FindingRow : Finding {
  std::uint64_t ranks_begin = 0;
  std::uint64_t ranks_count = 0;
  std::uint64_t nodes_begin = 0;
  std::uint64_t nodes_count = 0;
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
  column("cause", "id", &FindingRow::cause);
  column("region", "id of a row of regions", &FindingRow::region);
  column("site", "id of a row of sites", &FindingRow::site);
  column("begin_s", "s", &FindingRow::begin_s);
  column("end_s", "s", &FindingRow::end_s);
  column("open", "0 or 1", &FindingRow::open);
  column("score", "1", &FindingRow::score);
  column("confidence", "1", &FindingRow::confidence);
  column("lost_s", "s", &FindingRow::lost_s);
  column("ranks_begin", "row of finding_ranks", &FindingRow::ranks_begin);
  column("ranks_count", "1", &FindingRow::ranks_count);
  column("nodes_begin", "row of finding_nodes", &FindingRow::nodes_begin);
  column("nodes_count", "1", &FindingRow::nodes_count);
  column("detail_begin", "row of finding_texts", &FindingRow::detail_begin);
  column("detail_count", "bytes", &FindingRow::detail_count);
  column("evidence_begin", "row of finding_texts", &FindingRow::evidence_begin);
  column("evidence_count", "bytes", &FindingRow::evidence_count);
  column("advice_begin", "row of finding_texts", &FindingRow::advice_begin);
  column("advice_count", "bytes", &FindingRow::advice_count);
}

template <class Column>
void describe(Column&& column, const FindingRankRow*) {
  column("rank", "rank", &FindingRankRow::rank);
}

template <class Column>
void describe(Column&& column, const FindingNodeRow*) {
  column("node", "row of nodes", &FindingNodeRow::node);
}

template <class Column>
void describe(Column&& column, const AttributionSlice*) {
  column("begin_s", "s", &AttributionSlice::begin_s);
  column("length_s", "s", &AttributionSlice::length_s);
  column("intra_messages", "1", &AttributionSlice::intra_messages);
  column("inter_messages", "1", &AttributionSlice::inter_messages);
  column("load_balance", "1", &AttributionSlice::load_balance);
  column("wait_s", "s", &AttributionSlice::wait_s);
  column("blocked_s", "s", &AttributionSlice::blocked_s);
  column("collective_s", "s", &AttributionSlice::collective_s);
  column("transfer_s", "s", &AttributionSlice::transfer_s);
  column("excess_transfer_s", "s", &AttributionSlice::excess_transfer_s);
}

template <class Column>
void describe(Column&& column, const TransferLineRow*) {
  column("bytes_low", "bytes", &TransferLineRow::bytes_low);
  column("bytes_high", "bytes", &TransferLineRow::bytes_high);
  column("messages", "1", &TransferLineRow::messages);
  column("calm", "0 or 1", &TransferLineRow::calm);
  column("values_begin", "row of transfer_values", &TransferLineRow::values_begin);
  column("values_count", "1", &TransferLineRow::values_count);
}

template <class Column>
void describe(Column&& column, const TransferValueRow*) {
  column("normalised", "1", &TransferValueRow::normalised);
}

template <class Column>
void describe(Column&& column, const PairTraffic*) {
  column("source", "rank", &PairTraffic::source);
  column("destination", "rank", &PairTraffic::destination);
  column("messages", "1", &PairTraffic::messages);
  column("bytes", "bytes", &PairTraffic::bytes);
}

}  // namespace pclscope::store
