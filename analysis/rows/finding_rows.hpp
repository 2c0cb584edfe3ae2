// Findings as rows, and back: the part of snapshot_rows.hpp that has texts.
#pragma once

#include <cstdint>

#include "analysis/rows/snapshot_rows.hpp"

namespace pclscope {

void put(const Attribution& attribution, SnapshotRows& to);
// `nodes`: how many there are; links of others are left out. False when the rows contradict each other.
bool take(const SnapshotRows& from, std::int64_t nodes, Attribution& attribution);

}  // namespace pclscope
