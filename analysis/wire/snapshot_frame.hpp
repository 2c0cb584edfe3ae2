// Snapshots to and from FlatBuffers. Private to analysis/wire.
#pragma once

#include "analysis/values/snapshot.hpp"
#include "analysis/wire/decoding.hpp"
#include "analysis/wire/encoding.hpp"

namespace pclscope::wire {

Offset<fb::Snapshot> encode(Builder& to, const Snapshot& value);  // the dendrogram stays at home
Snapshot decode(const fb::Snapshot& from, Budget& budget);

}  // namespace pclscope::wire
