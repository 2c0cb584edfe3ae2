// Everything inside the window: the feed, the selection, the views, the status, keys, and the hint for
// newcomers. Knows nothing of GLFW: a window or a screenshot calls frame() between ImGui::NewFrame and ImGui::Render.
// UI thread only.
#pragma once

#include <array>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "viewer/gui/base/view.hpp"
#include "viewer/gui/frame/graph_question.hpp"
#include "viewer/gui/frame/registry.hpp"
#include "viewer/gui/frame/ruler.hpp"
#include "viewer/gui/frame/search.hpp"
#include "viewer/gui/frame/selection_trail.hpp"
#include "viewer/gui/frame/status_bar.hpp"
#include "viewer/gui/frame/view_options.hpp"
#include "viewer/gui/frame/workspace.hpp"
#include "viewer/session/feed.hpp"

namespace pclscope::gui {

class App {
 public:
  // `open` is called in the feed's thread; `wake` in any. `views`: of at least one workspace.
  App(const ViewOptions& options, session::Feed::Open open, std::function<void()> wake,
      std::span<const ViewEntry> views = all_views());
  ~App();

  void frame(float width, float height, float scale);
  void find();    // opens the search
  void copy();    // what is selected, as a line of text
  void escape();  // the key was pressed: as those before not left to ImGui, which misses a key that is down for less
                  // than a frame
  bool wants_to_close() const { return close_; }
  layout::Theme theme() const { return theme_; }
  // Something moves or is being computed: the next frame should follow at once.
  bool unsettled() const;
  // Everything that was asked for is drawn: for screenshots. `problem` is set when it never will be.
  bool complete(std::string& problem) const;
  bool anything_came() const { return scene_.snapshot != nullptr; }
  void show_hint() { hint_ = true; }
  std::string description() const;  // JSON of what is shown and where (docs/viewer.md)

 private:
  void update_scene();
  void update_graph();
  void update_compared();
  bool over() const {  // nobody answers questions any more
    const session::Phase phase = scene_.connection.phase;
    return phase == session::Phase::finished || phase == session::Phase::lost;
  }
  void choose_at_first();
  void ask_for_graph();
  void keys();
  void open_view();
  void draw_cells(float top, float width, float height);
  float draw_tabs(float top, float width);  // returns their height
  Workspace& shown_workspace() { return workspaces_[workspace_]; }
  const Workspace& shown_workspace() const { return workspaces_[workspace_]; }
  void look_at_period();
  void draw_help(float width, float height);
  void draw_hint(float width, float height);
  void draw_details(float width, float height);
  void draw_copied(float width, float height);
  void draw_search(float width, float top);
  void draw_missing(float top, float width, float height);
  void dim(float top, float width, float height) const;

  ViewOptions options_;
  session::Feed feed_;
  LogicalSource logical_;
  LiveCalls live_calls_;
  TimelineSource calls_;
  NetworkState network_;
  std::unique_ptr<session::Feed> compared_feed_;  // of the run to compare with; null: none
  LogicalSource compared_logical_;
  Scene compared_scene_;
  Scene scene_;
  session::FeedState fed_;
  Selection selection_;
  std::vector<Workspace> workspaces_;  // that have views
  std::size_t workspace_ = 0;          // the one that is shown
  std::string view_to_open_;           // by a view, from the next frame on; empty: none
  std::vector<Mark> tabs_;
  StatusBar status_;
  StatusPanel status_panel_;
  layout::Theme theme_;
  SelectionTrail trail_;
  Ruler ruler_;
  struct {
    bool open = false, fresh = false;  // fresh: it gets the keyboard
    std::array<char, 128> words{};
    std::string found_for;
    std::shared_ptr<const Snapshot> found_in;
    std::vector<SearchHit> hits;
    std::size_t chosen = 0;
    std::vector<Mark> marks;
  } search_;
  std::string copied_;  // last; empty: nothing was selected
  double copied_at_s_ = -1e9;
  bool close_ = false, help_ = false, hint_ = false, details_ = false;
  bool chosen_ = false;  // the first selection has been made
  FollowedRegion followed_;
  DagState last_graph_;  // the last one that came
  DagQuestion asked_;
  bool any_asked_ = false;
  double asked_at_s_ = -1e9;
  int quiet_frames_ = 0;      // since something last moved
  bool stood_still_ = false;  // in one of those below: no view was making a picture
  int whole_frames_ = 0;      // with a snapshot and, if they were asked for, a graph and single calls
};

}  // namespace pclscope::gui
