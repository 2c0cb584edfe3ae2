// What would the time be if a delay were not there, the load were equal, a link were healthy, ranks ran elsewhere?
// Replays the dependency graph of a period with that change (docs/methods.md, "What if").
//
// Pure functions of the records; n log n in their number, some 300 bytes for each message.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "analysis/values/attribution.hpp"
#include "analysis/values/collective_call.hpp"
#include "analysis/values/message.hpp"
#include "analysis/values/result.hpp"
#include "analysis/values/snapshot.hpp"
#include "analysis/values/what_if.hpp"
#include "analysis/whatif/period.hpp"
#include "analysis/whatif/transfer_times.hpp"

namespace pclscope::whatif {

struct Change {
  enum class Kind : std::uint8_t {
    delays,    // `ranks` compute no longer than their peers, or than in their own calm time
    balanced,  // all ranks compute equally long
    steady,    // no rank computes longer than usual, now and then
    links,     // transfers between `nodes` (pairs from, to) take what they usually do
    placed,    // ranks run on the nodes `placed`
  } kind = Kind::balanced;
  std::vector<std::int32_t> ranks;
  std::vector<std::int32_t> nodes;
  std::vector<std::int32_t> placed = {};          // node of each rank
  Hops hops = {};                                 // between nodes, of both placements
  std::optional<LinkTimes> given = std::nullopt;  // what transfers take; nothing: as such ones took in the record
};

// Ranks run on these nodes, which are equally far from each other unless `hops` says otherwise.
Change to_nodes(std::vector<std::int32_t> node_of_rank, Hops hops = {});
// What would take away what a finding names. Fails with bad_argument: nothing that a replay could tell (one line).
Result<Change> change_for(const Finding& finding);

struct Records {
  std::int32_t ranks = 0;
  std::span<const Message> messages;  // any order; those outside the period tell what is usual
  std::span<const CollectiveCall> collectives;
  std::span<const std::int32_t> node_of_rank;
};

// Of [from_ns, to_ns); all messages and collective calls of that and of the time around it are in `records`. Fails with
// not_found (no calls there, nothing to compare with) and bad_argument (threads whose calls overlap): one line each.
Result<WhatIf> what_if(const Records& records, std::int64_t from_ns, std::int64_t to_ns, const Change& change);

// --- when not all messages were kept ---
// Runs of windows of which at least 98 % of the messages were kept, within [from_ns, to_ns). Windows without messages
// are whole. `windows`: by time.
std::vector<Period> whole_parts(std::span<const Window> windows, std::span<const Message> kept, std::int64_t from_ns,
                                std::int64_t to_ns);
// Of those parts of the period that are whole: the sum, to be read as of all of it; `covered` says how much was
// replayed. Fails with not_found when that is less than half. What is usual is looked for in all `whole` parts.
Result<WhatIf> what_if(const Records& records, std::span<const Period> whole, std::int64_t from_ns, std::int64_t to_ns,
                       const Change& change);

// Latencies and bandwidths that the record tells. Nothing: it has no transfers within a node, or none between nodes.
std::optional<LinkTimes> link_times(const Records& records, const Hops& hops);

}  // namespace pclscope::whatif
