// The attribution view's list of findings: cause, where, since when, how sure; evidence and advice of the one that is
// open. A click picks a finding: its region, period and ranks are selected in all views.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "viewer/gui/base/view.hpp"
#include "viewer/layout/attribution_findings.hpp"
#include "viewer/layout/latest.hpp"
#include "viewer/layout/mapping_preview.hpp"
#include "viewer/views/site_text.hpp"

namespace pclscope::gui {

// What a click on a finding selects: it, its region (layout::regions_of), period, ranks and the rank where it begins.
// `finding` must be an index of the snapshot's.
void pick_finding(Selection& selection, const Snapshot& snapshot, std::size_t finding, std::int32_t region);

class FindingsList {
 public:
  // A child window of `area` (pixels of the screen).
  void draw(const Scene& scene, Selection& selection, const layout::Rect& area);
  std::vector<Mark> marks() const { return marks_; }
  // The period of the finding under the mouse.
  const std::optional<SelectedPeriod>& hinted() const { return hinted_; }
  bool unsettled() const { return worker_ && worker_->busy(); }

 private:
  void look_at(const Scene& scene, Selection& selection);
  void draw_rows(const Scene& scene, Selection& selection);
  void draw_row(const Scene& scene, const Finding& finding, std::size_t row, const Selection& selection,
                const layout::Rect& at);
  void draw_open(const Scene& scene, const Finding& finding, const layout::Rect& at);
  void draw_links_button(const Scene& scene, Selection& selection, std::size_t row, layout::Point at);
  void draw_change(const Scene& scene, const Finding& finding, const layout::Rect& at);
  float draw_conditions(const Scene& scene, const layout::Rect& area) const;
  float open_height(const Scene& scene, const Finding& finding, float width) const;
  std::shared_ptr<const layout::MappingPreview> preview_of(const Scene& scene, const Finding& finding);

  std::shared_ptr<const Snapshot> seen_;
  views::Sites sites_;                 // of seen_
  std::vector<std::int32_t> regions_;  // of its findings
  std::optional<Finding> picked_;      // that Selection::finding meant in seen_
  std::optional<SelectedPeriod> hinted_;
  std::vector<Mark> marks_;
  std::shared_ptr<const Snapshot> asked_;  // for a placement
  std::unique_ptr<layout::Latest<std::shared_ptr<const Snapshot>, layout::MappingPreview>> worker_;
};

}  // namespace pclscope::gui
