// What `pclscope watch --json` prints: the summary object and what everyone is blocked in. Fields: docs/json.md.
#pragma once

#include <cstdint>
#include <optional>

#include "analysis/values/snapshot.hpp"
#include "viewer/session/summary_json.hpp"

namespace pclscope::views {

session::Json watch_json(const Snapshot& snapshot, std::optional<std::int64_t> now_realtime_ns);

}  // namespace pclscope::views
