// Single calls of a running job, to and from FlatBuffers. Private to analysis/wire.
#pragma once

#include "analysis/values/calls_part.hpp"
#include "analysis/wire/decoding.hpp"
#include "analysis/wire/encoding.hpp"

namespace pclscope::wire {

Offset<fb::CallsQuestion> encode(Builder& to, const CallsQuestion& value);
Offset<fb::Calls> encode(Builder& to, const CallsPart& value);

// Ranks ascending, each once; most within limit::calls.
CallsQuestion decode(const fb::CallsQuestion& from, Budget& budget);
// Refuses (Budget) calls that end before they begin, or beyond all time: readers subtract.
CallsPart decode(const fb::Calls& from, Budget& budget);

}  // namespace pclscope::wire
