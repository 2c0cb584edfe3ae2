// The middle part of the evolution view when there are more regions than rows: all regions as one map
// (layout/region_heat.hpp). Private to evolution_*.cpp.
#pragma once

#include <memory>

#include "viewer/gui/base/texture.hpp"
#include "viewer/gui/evolution/evolution_frame.hpp"

namespace pclscope::gui {

class EvolutionHeat {
 public:
  // `picture`: frame.picture.
  void draw(const EvolutionFrame& frame, const std::shared_ptr<const layout::EvolutionPicture>& picture,
            Selection& selection, layout::Rect area);

 private:
  void draw_names(const EvolutionFrame& frame, ImDrawList& list, Selection& selection, layout::Rect area) const;
  void draw_selected(const EvolutionFrame& frame, ImDrawList& list, const Selection& selection,
                     layout::Rect area) const;
  void mark_cells(const EvolutionFrame& frame, layout::Rect map) const;
  void react(const EvolutionFrame& frame, ImDrawList& list, Selection& selection, layout::Rect map) const;

  std::shared_ptr<const layout::EvolutionPicture> uploaded_;
  Texture texture_;
};

}  // namespace pclscope::gui
