#include "viewer/gui/frame/registry.hpp"

namespace pclscope::gui {
namespace {

constexpr WorkspaceEntry workspaces[] = {
#define PCLSCOPE_WORKSPACE(name, title, questions) {WorkspaceKey::name, #name, title, questions},
#include "viewer/gui/base/workspaces.def"
#undef PCLSCOPE_WORKSPACE
};
static_assert(std::size(workspaces) <= 9);

constexpr ViewEntry entries[] = {
#define PCLSCOPE_VIEW(name, workspace) {#name, WorkspaceKey::workspace, make_##name##_view},
#include "viewer/gui/base/views.def"
#undef PCLSCOPE_VIEW
};

}  // namespace

std::span<const WorkspaceEntry> all_workspaces() { return workspaces; }
std::span<const ViewEntry> all_views() { return entries; }

}  // namespace pclscope::gui
