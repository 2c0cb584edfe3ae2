// Single calls of some ranks as an image that lies on the call view: each where it began or ended and as high as it was
// long, in the colour of its function. Few are lines from begin to end as well, more are points, many a density. On a
// picture of arches few are arches, and where points are is the top.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "viewer/layout/call_image.hpp"
#include "viewer/session/timeline_run.hpp"

namespace pclscope::layout {

struct LitRequest {
  std::shared_ptr<const session::TimelineRun> run;
  std::vector<std::int32_t> ranks;        // ascending
  std::optional<std::uint16_t> function;  // that alone
  CallEdge edge = CallEdge::start;
  session::CallShape shape = session::CallShape::points;  // of the picture below
  TimeRange range;
  DurationRange durations;
  int width = 1, height = 1;
  FunctionColours colours;
  bool operator==(const LitRequest&) const = default;
};

struct LitCalls {
  LitRequest of;
  Image image;              // nothing where no call is
  std::uint64_t calls = 0;  // in sight
  bool lines = false;       // they are drawn from begin to end, as lines or arches
};

// Sides of 1 to 8192 pixels, else an empty image. `stopping` true ends it early.
LitCalls light_calls(const LitRequest& request, const std::function<bool()>& stopping = {});

}  // namespace pclscope::layout
