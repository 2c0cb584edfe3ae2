#include "viewer/gui/frame/registry.hpp"

namespace pclscope::gui {
namespace {

constexpr ViewEntry entries[] = {
#define PCLSCOPE_VIEW(name) {#name, make_##name##_view},
#include "viewer/gui/base/views.def"
#undef PCLSCOPE_VIEW
};
static_assert(std::size(entries) <= 9);

}  // namespace

std::span<const ViewEntry> all_views() { return entries; }

}  // namespace pclscope::gui
