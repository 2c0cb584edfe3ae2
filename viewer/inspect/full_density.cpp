#include "viewer/inspect/full_density.hpp"

#include <algorithm>
#include <cstdint>

#include "analysis/density/packing.hpp"
#include "viewer/session/live_density.hpp"
#include "viewer/session/summary_json.hpp"

namespace pclscope::commands {

void ask_full_density(InspectedRun& run) {
  Snapshot& s = run.snapshot;
  if (!run.session->live() || s.ended || s.call_density.empty()) return;
  session::LiveDensity live;
  const auto newest_ns = static_cast<std::int64_t>(std::clamp(session::elapsed_s(s), 0.0, 4e9) * 1e9);
  const Status asked = live.refresh([&](const DensityQuestion& question) { return run.session->density(question); },
                                    newest_ns, [] { return false; });
  if (asked && !live.density().empty()) s.call_density = density::pack(live.density());
}

}  // namespace pclscope::commands
