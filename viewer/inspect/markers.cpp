// pclscope inspect TARGET markers: the parts of the program that it named itself.
#include "viewer/inspect/topic.hpp"
#include "viewer/views/marker_rows.hpp"

namespace pclscope::commands {
namespace {

int show_markers(const InspectWords& words, InspectedRun& run) {
  Snapshot& s = run.snapshot;
  cut(words, s.markers);
  return show(
      words, run, std::nullopt, [&](const views::PageOptions& page) { return views::marker_lines(s, page.width); },
      [&] { return views::marker_rows(s); },
      [&]() -> session::Json {
        return {{"markers", views::markers_json(s)}};
      });
}

}  // namespace

extern const Topic markers_topic;
const Topic markers_topic{"markers", takes::tables, show_markers};

}  // namespace pclscope::commands
