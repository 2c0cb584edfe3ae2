// JSON objects of a run, the same for live and stored. Every field and its unit: docs/json.md.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

#include "analysis/values/snapshot.hpp"

namespace pclscope::session {

using Json = nlohmann::ordered_json;

// The summary object. With `now_realtime_ns` it has the field `live`.
Json summary_json(const Snapshot& snapshot, std::optional<std::int64_t> now_realtime_ns = std::nullopt);

Json region_json(const Region& region);
Json period_json(const Period& period);
Json node_link_json(const NodeLink& link, const Application& application);  // nodes by name
Json link_json(const RegionLink& link);
Json rank_json(const RankSummary& rank, const Application& application);
Json criterion_json(const Criterion& criterion);

// A number, or null where there is none (not finite).
Json finite(double value);

// Plain ASCII: text outside it is escaped, broken UTF-8 replaced. `pretty`: indented, else one line.
std::string to_text(const Json& json, bool pretty);

// From second 0 to when the snapshot was made: longer than duration_s where ranks hang, or compute, without an event.
double elapsed_s(const Snapshot& snapshot);

// Seconds between the newest analysed instant and now; nothing when the snapshot does not say, never negative.
std::optional<double> age_s(const Snapshot& snapshot, std::int64_t now_realtime_ns);

}  // namespace pclscope::session
