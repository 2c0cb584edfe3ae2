// The views that there are (views.def), and the workspaces that they are in (workspaces.def). Read only.
#pragma once

#include <memory>
#include <span>

#include "viewer/gui/base/view.hpp"

namespace pclscope::gui {

enum class WorkspaceKey {
#define PCLSCOPE_WORKSPACE(name, title, questions) name,
#include "viewer/gui/base/workspaces.def"
#undef PCLSCOPE_WORKSPACE
};

struct WorkspaceEntry {
  WorkspaceKey key;
  const char* name;   // what --workspace takes
  const char* title;  // on its tab
  const char* questions;
};
// At most nine: each has a key, also those without views.
std::span<const WorkspaceEntry> all_workspaces();

struct ViewEntry {
  const char* name;  // what --only takes
  WorkspaceKey workspace;
  std::unique_ptr<View> (*make)();
};
std::span<const ViewEntry> all_views();

}  // namespace pclscope::gui
