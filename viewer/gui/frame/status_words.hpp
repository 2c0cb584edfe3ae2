// What the status says, in words with an urgency; no drawing. Strings are safe to show.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "analysis/values/efficiency.hpp"
#include "viewer/gui/base/view.hpp"
#include "viewer/views/blocked_sections.hpp"
#include "viewer/views/site_text.hpp"

namespace pclscope::gui {

enum class Urgency : std::uint8_t { calm, good, warning, bad };

struct StatusItem {
  std::string text;  // empty: nothing to say
  Urgency urgency = Urgency::calm;
  std::string meaning;  // for a tooltip
};

// The window shows a file of traffic or routes.
inline bool only_traffic(const Scene& scene) { return scene.network != nullptr && scene.network->only_traffic(); }

// "running", "finished", "LOST", ...: a word, whatever its colour.
StatusItem connection_item(const Scene& scene);
// Of a running job: how old the newest window is. A warning beyond 3 windows, bad beyond 10 (of at least 0.1 s). Of a
// lost one: how long nothing has come. Of others nothing. `now` is CLOCK_REALTIME.
StatusItem age_item(const Scene& scene, std::int64_t now_realtime_ns);
StatusItem job_item(const Scene& scene);  // "fake-1  ./fake in.dat, 16 ranks on 2 nodes, Open MPI v4.1.4, 20.0 s"
std::vector<StatusItem> count_items(const Scene& scene);  // matched, unmatched, ambiguous, dropped, ...
StatusItem clock_item(const Snapshot& snapshot);
StatusItem memory_item(const Snapshot& snapshot);

// What takes a look at all ranks: made once per snapshot.
struct InsideNow {
  std::uint16_t function = 0;  // 0: outside MPI
  std::size_t ranks = 0;
};
struct StatusFacts {
  views::Sites sites;
  std::vector<InsideNow> inside;  // most ranks first; outside MPI is the last
  std::size_t ranks = 0;          // that have called MPI_Init and have not finished
  std::size_t finished = 0;
  std::vector<views::BlockedGroup> blocked;  // longest first, at most 20
  std::size_t more_blocked = 0;              // groups
  std::vector<std::string> deadlocks;        // in full sentences, as in Snapshot::deadlocks, at most 20
  Efficiency efficiency;                     // of the job so far
  std::vector<std::pair<std::int32_t, Efficiency>> of_region;  // by id; while the pattern is the first one, at most 64
  std::vector<std::string> network;                            // clocks, dead nodes, what was left out
};
StatusFacts status_facts(const Snapshot& snapshot);
// The rank that has been inside a call longest, at least 0.1 s; null: none, or the job has ended in order.
const RankSummary* longest_blocked(const Snapshot& snapshot);
std::string blocked_text(const RankSummary& rank);  // "rank 3 in MPI_Recv for 3.2 s"

}  // namespace pclscope::gui
