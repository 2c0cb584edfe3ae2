// Questions about order and their answers, to and from FlatBuffers. Private to analysis/wire.
#pragma once

#include "analysis/values/dag.hpp"
#include "analysis/wire/decoding.hpp"
#include "analysis/wire/encoding.hpp"

namespace pclscope::wire {

Offset<fb::DagQuestion> encode(Builder& to, const DagQuestion& value);
Offset<fb::Dag> encode(Builder& to, const Dag& value);

// Ranks ascending, each once; most_messages within limit::dag_messages.
DagQuestion decode(const fb::DagQuestion& from, Budget& budget);
// Refuses (Budget) a graph whose edges do not lead from lower to higher nodes: readers rely on it to end.
Dag decode(const fb::Dag& from, Budget& budget);

}  // namespace pclscope::wire
