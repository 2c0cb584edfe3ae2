// Whether what is shown is alive, how old and how complete it is: a strip above the views, and a panel with the
// details. Both belong to the UI thread. When the connection is lost they say so in red; the app dims the views.
#pragma once

#include <cstdint>
#include <memory>

#include "viewer/gui/base/view.hpp"
#include "viewer/views/site_text.hpp"

namespace pclscope::gui {

// Three lines of text, the first with the sentences about the run, over the width that is there: draw() inside a
// window, it takes height() pixels.
class StatusBar {
 public:
  StatusBar();
  ~StatusBar();
  void draw(const Scene& scene, Selection& selection);
  static float height(float scale);
  // "status": its middle; "blocked", "deadlock": what can be clicked.
  std::vector<Mark> marks() const;
  // Of the snapshot that was drawn last.
  const views::Sites& sites() const;

 private:
  struct Inside;
  std::unique_ptr<Inside> inside_;
};

// Connection, counts, clocks, memory, MPI functions, who is blocked longest, deadlocks; fills
// GetContentRegionAvail().
class StatusPanel final : public View {
 public:
  StatusPanel();
  ~StatusPanel() override;
  const char* title() const override { return "status"; }
  void draw(const Scene& scene, Selection& selection) override;
  std::vector<Mark> marks() const override;  // "blocked N", "deadlock N"
  bool unsettled() const override;

 private:
  struct Inside;
  std::unique_ptr<Inside> inside_;
};

}  // namespace pclscope::gui
