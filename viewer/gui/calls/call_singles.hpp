// Single calls on the call view: those of the selected ranks light up, those near the mouse are told, a click selects
// the nearest. Private to viewer/gui/calls.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "viewer/gui/calls/call_parts.hpp"
#include "viewer/gui/calls/call_search.hpp"
#include "viewer/layout/lit_calls.hpp"

namespace pclscope::gui {

// What a frame of the call view shows.
struct CallSight {
  const CallPlot& plot;
  layout::Rect area;  // of the plot
  const layout::CallPicture& picture;
  layout::CallEdge edge;
  session::CallShape shape;
  std::shared_ptr<const session::TimelineRun> run;  // null: not (yet) read
  const views::Sites& sites;

  double duration_at(float y) const;  // log2 of ns
  float y_of(double log2_ns) const;
  layout::CallBox box_at(layout::Rect pixels) const;
  // Begins (or ends) and durations of the calls that are drawn there; of arches, of those whose tops are.
  layout::CallBox drawn_in(layout::Rect pixels) const;
  layout::Rect pixels_of(const layout::CallBox& box) const;
  CallQuestionOfPart question(const layout::CallBox& box, const Selection& selection) const;
};

class CallSingles {
 public:
  // Takes what is done, asks for what is missing. True: there is something to light up.
  bool follow(const Scene& scene, const Selection& selection, const CallSight& sight);
  // What is said of calls of the selected ranks; empty: none is selected, or there are no single calls.
  const std::string& words() const { return words_; }
  void draw_lit(const CallSight& sight) const;  // over the density
  void draw_selected(const Scene& scene, const Selection& selection, const CallSight& sight) const;
  // Under the mouse, as a tooltip.
  void explain(const Scene& scene, const Selection& selection, const CallSight& sight);
  // The mouse clicked: what is nearest is looked up, and selected in a later frame.
  void click(const Scene& scene, const Selection& selection, const CallSight& sight);
  void forget_click() { click_.forget(); }
  void select(const Scene& scene, Selection& selection);  // what a click found
  bool busy() const { return click_.busy() || near_.busy() || (painter_ && painter_->busy()); }

 private:
  using Painter = layout::Latest<layout::LitRequest, layout::LitCalls>;
  CallSearch near_, click_;
  layout::LitRequest asked_;
  std::string words_;
  std::shared_ptr<const layout::LitCalls> lit_;
  Texture texture_;
  std::unique_ptr<Painter> painter_;  // last: its thread ends first
};

}  // namespace pclscope::gui
