// The single calls of a rectangle of the call view, worst first: who, what, how long, when, from where. Private to
// viewer/gui/calls.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "viewer/gui/calls/call_search.hpp"

namespace pclscope::gui {

class SingleList {
 public:
  void open(const layout::CallBox& box) { box_ = box; }
  void close() {
    box_.reset();
    search_.forget();
  }
  bool is_open() const { return box_.has_value(); }
  const std::optional<layout::CallBox>& box() const { return box_; }
  static float height(float of, float scale);  // of the view's
  // `question`: of the rectangle, without how many.
  void draw(const Scene& scene, Selection& selection, layout::Rect area, CallQuestionOfPart question,
            const views::Sites& sites, std::vector<Mark>& marks);
  bool busy() const { return is_open() && search_.busy(); }

 private:
  void draw_head(const Scene& scene, layout::Rect area, const CallsOfPart& calls, const views::Sites& sites,
                 std::vector<Mark>& marks);
  void draw_rows(const Scene& scene, Selection& selection, layout::Rect area, const CallsOfPart& calls,
                 const views::Sites& sites, std::vector<Mark>& marks);

  std::optional<layout::CallBox> box_;
  CallSearch search_;
  std::shared_ptr<const CallsOfPart> shown_;  // the last whole answer
};

}  // namespace pclscope::gui
