// A view: one window, one class, one file. It owns its state (zoom, layouts, textures); it reads the Scene and reads
// and writes the Selection. All of this in the UI thread: nothing here waits for a network, a disk or a long
// computation (layout/latest.hpp is for those).
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "analysis/values/dag.hpp"
#include "analysis/values/snapshot.hpp"
#include "viewer/gui/base/live_calls.hpp"
#include "viewer/gui/base/logical_source.hpp"
#include "viewer/gui/base/network_state.hpp"
#include "viewer/gui/base/selection.hpp"
#include "viewer/gui/base/timeline_source.hpp"
#include "viewer/layout/geometry.hpp"
#include "viewer/layout/palette.hpp"
#include "viewer/session/feed.hpp"
#include "viewer/session/history.hpp"
#include "viewer/session/session.hpp"

namespace pclscope::gui {

// The dependency graph that the selection asks for.
struct DagState {
  DagQuestion question;            // of `dag`
  std::shared_ptr<const Dag> dag;  // null: none yet
  std::string problem;             // one line: why there is none; empty
  bool waiting = false;            // a newer one is under way
};

// How the source of all this does (session/feed.hpp).
struct Connection {
  std::string name;  // of the job or file, printable
  session::Phase phase = session::Phase::opening;
  std::string problem;  // one line, of lost and failed
  double silent_s = 0;  // live: since the last snapshot came
  double progress = 0;  // opening a dump: 0 .. 1; 0 not known
  std::uint64_t reconnects = 0;
};

// What there is to draw, the same for all views in a frame.
struct Scene {
  std::shared_ptr<const Snapshot> snapshot;         // null before the first. Compare pointers to see that it is another
  std::shared_ptr<const session::History> history;  // of all regions; null before the first snapshot
  DagState dag;
  Connection connection;
  bool paused = false;                       // snapshot and history stand still; data is still collected
  double now_s = 0;                          // right edge of live time axes, seconds since the time origin
  const layout::Palette* palette = nullptr;  // never null
  float scale = 1;                           // HiDPI: pixels per point; sizes in points are multiplied by it
  bool glides = false;                       // what moves to another place may take a moment for it: not in pictures
  std::function<void()> wake;                // may be called in any thread: draws a frame soon
  // Questions to the run itself, answered one after the other in the thread that reads it (session::Feed::ask); empty:
  // there is nobody to ask.
  std::function<void(session::Feed::Work)> ask;
  // Shows a view of any workspace from the next frame on, by its name in views.def; empty: nobody can.
  std::function<void(std::string name)> open_view;
  LogicalSource* logical = nullptr;  // null: nobody knows of logical time
  LiveCalls* live_calls = nullptr;   // null: what snapshots have of calls over time
  TimelineSource* calls = nullptr;   // null: nobody knows of single calls
  NetworkState* network = nullptr;   // null: nobody knows of the network
  const Scene* compared = nullptr;   // another run to compare this one with; null: none
};

// A place on the screen with a name: for tests and for scripts that drive the viewer.
struct Mark {
  std::string name;  // e.g. "region 3", "slider left", "node 12"
  layout::Point at;  // pixels of the window
};

// An axis of a view, as drawn last: for the ruler across views.
enum class AxisKind { time, steps };  // seconds since the time origin; logical steps
struct ViewAxis {
  AxisKind kind = AxisKind::time;
  layout::Rect area;                    // of the window, where its pixels mean something
  std::function<double(float)> moment;  // of an x
  std::function<float(double)> x;       // of a moment
  bool measures = true;                 // shift and drag measures; false where the view has another use for it
};

class View {
 public:
  virtual ~View() = default;
  virtual const char* title() const = 0;
  // Inside a child window of ImGui that the caller has begun; the view fills ImGui::GetContentRegionAvail(), which
  // may be as small as 1x1 and as large as the screen.
  virtual void draw(const Scene& scene, Selection& selection) = 0;
  // What was drawn last and can be clicked, at most some hundred.
  virtual std::vector<Mark> marks() const { return {}; }
  // True while a layout is being computed or something moves: the next frame will differ.
  virtual bool unsettled() const { return false; }
  // True while something is computed that takes seconds: the picture is not the last one yet, but the next frame need
  // not follow at once (whoever computes wakes the window).
  virtual bool awaits() const { return false; }
  virtual std::vector<ViewAxis> axes() const { return {}; }
  // Whether it needs Scene::dag: nobody is asked for a graph that nobody shows.
  virtual bool wants_graph() const { return false; }
  // False: it has something to show of traffic alone, without a run.
  virtual bool needs_run() const { return true; }
};

#define PCLSCOPE_VIEW(name, workspace) std::unique_ptr<View> make_##name##_view();
#include "viewer/gui/base/views.def"
#undef PCLSCOPE_VIEW

}  // namespace pclscope::gui
