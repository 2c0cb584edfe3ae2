// From what is selected to the dependency graph that is asked for, and what is selected when nobody has chosen yet.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "analysis/values/dag.hpp"
#include "analysis/values/snapshot.hpp"
#include "viewer/gui/base/selection.hpp"
#include "viewer/session/history.hpp"

namespace pclscope::gui {

// Of the selected region, or of the selected ranks (a lasso). Of a period with more messages than a graph takes, the
// region's worst windows in it. Without a period: live the newest windows, else a piece
// of the region's worst period, both short enough for a graph that can be read; with a history, windows in which the
// region has messages. Nothing when neither is selected.
std::optional<DagQuestion> graph_question(const Snapshot& snapshot, const Selection& selection, bool live, double now_s,
                                          const session::History* history = nullptr);

// What is selected and not there, in one line; empty: all is.
std::string missing_from(const Snapshot& snapshot, const Selection& selection);

// Region, period and ranks of a finding.
void choose_finding(const Snapshot& snapshot, std::size_t finding, Selection& selection);
// The first finding that can be believed and is in a region, else the region that is late most; no period while the
// job goes on. False: there is nothing to choose (yet).
bool choose_worst(const Snapshot& snapshot, bool live, Selection& selection);

// The selected region as a snapshot last had it.
struct FollowedRegion {
  std::int32_t id = -1;  // -1: none was seen yet
  std::vector<std::int32_t> ranks;
};
// A running job finds its regions anew as it knows more, and an id may then be gone without having ended: the selection
// goes on with the region that has most of its ranks now. Call it with each snapshot.
void follow_region(const Snapshot& snapshot, FollowedRegion& followed, Selection& selection);

}  // namespace pclscope::gui
