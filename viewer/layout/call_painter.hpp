// Pictures of calls over time for the window: what is asked for, and what comes back. Made in a thread of its own
// (latest.hpp).
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "analysis/values/snapshot.hpp"
#include "viewer/layout/activity_stack.hpp"
#include "viewer/layout/call_image.hpp"
#include "viewer/session/timeline_run.hpp"

namespace pclscope::layout {

struct CallRequest {
  std::shared_ptr<const Snapshot> snapshot;
  std::shared_ptr<const CallDensity> density;  // a finer one than that of the snapshot; null: there is none
  bool stack = true;                           // stacked activity; else the call view
  std::optional<std::int32_t> region;          // the stack: of its ranks; none: of all
  std::optional<std::uint16_t> function;       // the stack: others fade; the call view: it alone
  TimeRange range;
  int width = 1, height = 1;
  bool fitted = false;                              // the stack: the highest column reaches the top; else all ranks do
  std::optional<session::CallShape> shape;          // the call view's; none: by the number of calls
  std::shared_ptr<const session::TimelineRun> run;  // single calls, for lines and arches; null: there are none
  CallEdge edge = CallEdge::start;                  // where points are; of lines and arches: start
  Opacity opacity = Opacity::logarithmic;
  float least = 0.2f;  // o_min
  bool operator==(const CallRequest& other) const;
};

struct CallPicture {
  CallRequest of;
  Image image;
  FunctionColours colours;
  struct Entry {
    std::uint16_t function = 0;
    double share = 0;  // of the time of the ranks (of the region, in its stack), in the range
    std::uint64_t calls = 0;
  };
  std::vector<Entry> legend;                    // as colours; then one for all others, when there are some
  std::uint64_t others = 0;                     // how many functions that is
  std::shared_ptr<const density::Stack> stack;  // of the range; null in the call view
  float most = 1;                               // share of the ranks at the top edge
  DurationRange durations;                      // of the call view
  session::CallShape shape = session::CallShape::points;
  bool singly = false;                         // lines, arches: each call by itself, not the counts
  std::shared_ptr<const CallDensity> density;  // null: there is none
  double slice_s = 0;                          // of what is shown
  std::string problem;                         // one line: what it lacks; empty
};

class CallPainter {
 public:
  // `stopping` true ends it early.
  CallPicture operator()(const CallRequest& request, const std::function<bool()>& stopping = {});

 private:
  void read(const CallRequest& request);
  void paint_stack(CallPicture& picture) const;
  void paint_calls(CallPicture& picture, const std::function<bool()>& stopping) const;
  void fill_legend(CallPicture& picture, const std::optional<std::int32_t>& region) const;
  std::optional<std::int32_t> told_region(const std::optional<std::int32_t>& region) const;  // none: it is not

  std::optional<std::vector<std::uint8_t>> packed_;  // what density_ was read from; none: it was given
  std::shared_ptr<const CallDensity> density_;
  std::vector<std::uint16_t> functions_;  // most time first
  FunctionColours colours_;
};

// Functions with calls of this duration that are drawn at this moment (of arches: their tops), most calls first.
std::vector<CallPicture::Entry> calls_at(const CallPicture& picture, double second, double log2_ns);

}  // namespace pclscope::layout
