// Findings as rows, and back (flatten.hpp). Private to analysis/store.
#pragma once

#include <vector>

#include "analysis/store/attribution_columns.hpp"
#include "analysis/store/call_columns.hpp"

namespace pclscope::store {

struct FlatAttribution {
  std::vector<FindingRow> findings;
  std::vector<FindingRankRow> ranks;
  std::vector<FindingNodeRow> nodes;
  std::vector<TextRow> texts;
  std::vector<AttributionSlice> slices;
  std::vector<TransferLineRow> lines;
  std::vector<TransferValueRow> values;
};
FlatAttribution flatten(const Attribution& attribution);
// `nodes`: how many there are; links of others are left out. False when it contradicts itself.
bool unflatten(const FlatAttribution& flat, std::int64_t nodes, Attribution& attribution);

}  // namespace pclscope::store
