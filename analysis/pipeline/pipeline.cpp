#include "analysis/pipeline/pipeline.hpp"

#include <algorithm>

namespace pclscope {

Pipeline::Pipeline(Application application, const PipelineOptions& options)
    : measured_(std::move(application), options),
      evaluation_(measured_, options),
      measurement_(measured_, options,
                   {.on_window = [this](const OpenWindows::Closed& closed) { close(closed); },
                    .on_wait = [this](const CollectiveCall& call) { evaluation_.add_wait(call); }}) {}

void Pipeline::set_tick_scale(TickScale scale) {
  measurement_.set_tick_scale(scale);
  evaluation_.set_tick_scale(scale);
}

void Pipeline::set_node(std::int32_t rank, const std::string& node) {
  if (!measured_.knows(rank)) return;
  auto& nodes = measured_.application.nodes;
  const auto it = std::find(nodes.begin(), nodes.end(), node);
  measurement_.set_place(rank, static_cast<std::int32_t>(it - nodes.begin()));
  if (it == nodes.end()) nodes.push_back(node);
}

void Pipeline::add(std::int32_t rank, std::uint32_t thread, std::span<const record::Event> events) {
  constexpr std::size_t at_once = 256;  // read by several stages: stays in the nearest cache
  while (!events.empty()) {
    const auto chunk = events.first(std::min(at_once, events.size()));
    measurement_.add(rank, thread, chunk);
    evaluation_.add_collectives(rank, chunk);
    evaluation_.add_calls(rank, thread, chunk);
    events = events.subspan(chunk.size());
  }
}

void Pipeline::close(const OpenWindows::Closed& closed) {
  evaluation_.take_pairs(closed.begin_ns);
  Evaluation::ClosedWindow window{closed.begin_ns, closed.skipped, {}, {}, closed.messages, true};
  const std::vector<RegionSums> regions = measured_.pairs.region_sums(evaluation_.region_of_rank(), window.all);
  window.regions = regions;
  evaluation_.close_window(window);
}

void Pipeline::finish() {
  evaluation_.last_windows();
  measurement_.finish();
  evaluation_.finish();
}

}  // namespace pclscope
