// Snapshots and traffic, to and from tables. Private to analysis/wire.
#pragma once

#include <vector>

#include "analysis/values/snapshot.hpp"
#include "analysis/wire/decoding.hpp"
#include "analysis/wire/encoding.hpp"

namespace pclscope::wire {

Offset<fb::Snapshot> encode(Builder& to, const Snapshot& value);  // without what is in dumps only
Offset<fb::Traffic> encode(Builder& to, const std::vector<PairTraffic>& pairs);

Snapshot decode(const fb::Snapshot& from, Budget& budget);
std::vector<PairTraffic> decode(const fb::Traffic& from, Budget& budget);

}  // namespace pclscope::wire
