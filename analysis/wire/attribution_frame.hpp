// Findings and traffic, to and from FlatBuffers. Private to analysis/wire.
#pragma once

#include <vector>

#include "analysis/values/snapshot.hpp"
#include "analysis/wire/decoding.hpp"
#include "analysis/wire/encoding.hpp"

namespace pclscope::wire {

Offset<fb::Attribution> encode(Builder& to, const Attribution& value);
Offset<fb::Traffic> encode(Builder& to, const std::vector<PairTraffic>& pairs);

// `nodes`: how many there are; links of nodes that do not exist are left out.
Attribution decode(const fb::Attribution& from, std::int64_t nodes, Budget& budget);
std::vector<PairTraffic> decode(const fb::Traffic& from, Budget& budget);

}  // namespace pclscope::wire
