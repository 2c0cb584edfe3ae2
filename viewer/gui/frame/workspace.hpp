// Views that are on the screen together: their places, which of them is alone, and the borders between them. A view is
// made when its workspace is first drawn; one that is not shown costs nothing. UI thread only.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "viewer/gui/base/view.hpp"
#include "viewer/gui/frame/registry.hpp"

namespace pclscope::gui {

class Workspace {
 public:
  // With those of `views` that are in it.
  Workspace(const WorkspaceEntry& entry, std::span<const ViewEntry> views);
  const WorkspaceEntry& entry() const { return entry_; }
  bool empty() const { return cells_.empty(); }

  void draw(const Scene& scene, Selection& selection, layout::Rect area);

  // One view fills the workspace. False: it has no such view.
  bool show_alone(std::string_view name);
  bool has(std::string_view name) const;
  void show_next(int by);  // of all, the first alone, the second alone, ...
  void show_all() { alone_ = -1; }
  bool shows_all() const { return alone_ < 0; }

  // Of what was drawn last.
  bool unsettled() const;
  bool awaits() const;
  bool wants_graph() const;
  std::vector<ViewAxis> axes() const;
  void each_shown(const std::function<void(const View&, const layout::Rect&)>& visit) const;

 private:
  struct Cell {
    ViewEntry entry;
    std::unique_ptr<View> view;  // null before it was drawn
    layout::Rect at;
  };
  bool shown(std::size_t i) const { return cells_[i].view && (alone_ < 0 || alone_ == static_cast<int>(i)); }
  void draw_cell(const Scene& scene, Selection& selection, std::size_t index, layout::Rect at);
  void draw_grid(const Scene& scene, Selection& selection, layout::Rect area);
  void draw_splitter(const char* id, layout::Rect grip, std::vector<float>& ends, std::size_t i, float length,
                     bool across);

  WorkspaceEntry entry_;
  std::vector<Cell> cells_;
  int alone_ = -1;  // index of the only cell shown
  // Where columns and rows of the grid end, as parts of its width and height; the last ones end at 1.
  std::vector<float> columns_, rows_;
};

}  // namespace pclscope::gui
