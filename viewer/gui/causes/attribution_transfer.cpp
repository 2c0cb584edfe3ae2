#include "viewer/gui/causes/attribution_transfer.hpp"

#include <algorithm>
#include <cmath>

#include "viewer/text/quantities.hpp"
#include "viewer/views/sentences.hpp"

namespace pclscope::gui {
namespace {

using layout::Plot;
using layout::Point;

constexpr std::size_t most_lines = 16;

// Calm lines grey; others from orange to red by how far they go.
layout::Rgba colour_of(const TransferLine& line, double peak, const layout::Palette& palette) {
  if (line.calm) return palette.calm;
  return palette.share(0.42 + 0.33 * std::clamp(std::log2(std::max(peak, 1.0)) / 4, 0.0, 1.0));
}

struct Named {
  const TransferLine* line;
  double peak;
};

// In the order of drawing: calm ones first, the worst last.
std::vector<Named> lines_of(const Attribution& attribution, const std::vector<layout::UsableSlice>& slices) {
  std::vector<Named> lines;
  for (const TransferLine& line : attribution.transfer_lines) {
    if (lines.size() >= most_lines) break;
    if (const double peak = layout::peak_of(line, slices); peak > 0) lines.push_back({&line, peak});
  }
  std::stable_sort(lines.begin(), lines.end(), [](const Named& a, const Named& b) {
    return a.line->calm != b.line->calm ? a.line->calm : a.peak < b.peak;
  });
  return lines;
}

std::string size_text(const TransferLine& line) {
  const std::string low = text::format_bytes(static_cast<double>(line.bytes_low));
  return line.bytes_high == UINT64_MAX ? "from " + low
                                       : low + " to " + text::format_bytes(static_cast<double>(line.bytes_high));
}

std::string why_empty(const Snapshot& snapshot, bool lines) {
  if (snapshot.application.nodes.size() < 2) return "no messages between nodes: all ranks are on one node";
  return lines ? views::so_far(snapshot, "transfer times between nodes are not known")
               : "no messages between nodes so far";
}

}  // namespace

bool has_transfers(const Attribution& attribution, const std::vector<layout::UsableSlice>& slices) {
  return std::any_of(attribution.transfer_lines.begin(), attribution.transfer_lines.end(),
                     [&](const TransferLine& line) { return layout::peak_of(line, slices) > 0; });
}

bool TransferPlot::Request::same(const Request& o) const {
  return snapshot == o.snapshot && plot.area == o.plot.area && plot.time == o.plot.time && plot.high == o.plot.high &&
         theme == o.theme && scale == o.scale;
}

layout::Image TransferPlot::make(const Request& request) {
  const Attribution& attribution = request.snapshot->attribution;
  const auto slices = layout::usable_slices(attribution);
  std::vector<layout::Stroke> strokes;
  for (const Named& named : lines_of(attribution, slices)) {
    const layout::Rgba colour = colour_of(*named.line, named.peak, layout::palette(request.theme));
    for (layout::Polyline& piece : layout::transfer_lines(request.plot, *named.line, slices))
      strokes.push_back({std::move(piece), (named.line->calm ? 1.1f : 1.7f) * request.scale, colour, colour});
  }
  return layout::draw_strokes(static_cast<int>(request.plot.area.width()), static_cast<int>(request.plot.area.height()),
                              strokes);
}

void TransferPlot::ask(const PlotPanel& panel, const Scene& scene) {
  Request request{scene.snapshot, panel.plot, scene.palette->theme, panel.scale};
  request.plot.area = {{0, 0}, {std::floor(panel.plot.area.width()), std::floor(panel.plot.area.height())}};
  if (request.plot.area.width() < 1 || request.plot.area.height() < 1 || request.same(asked_)) return;
  if (!worker_)
    worker_ = std::make_unique<layout::Latest<Request, layout::Image>>(
        [](const Request& r, const auto&) { return make(r); }, scene.wake);
  asked_ = request;
  worker_->ask(std::move(request));
}

void TransferPlot::show(const PlotPanel& panel) {
  const auto newest = worker_ ? worker_->answer() : nullptr;
  if (newest && newest != image_) {
    image_ = newest;
    texture_.upload(*newest);
  }
  if (texture_.id() != ImTextureID{})
    panel.list->AddImage(texture_.id(), to_imgui(panel.plot.area.low), to_imgui(panel.plot.area.high));
}

void TransferPlot::draw_pointed(const PlotPanel& panel) {
  const TransferLine* nearest = nullptr;
  float reach = 12 * panel.scale;
  for (const Named& named : lines_of(panel.attribution(), *panel.slices)) {
    for (const layout::Polyline& piece : layout::transfer_lines(panel.plot, *named.line, *panel.slices)) {
      const float far = layout::distance_to(piece, panel.mouse());
      if (far >= reach) continue;
      reach = far;
      nearest = named.line;
    }
  }
  if (nearest == nullptr) return;
  const double peak = layout::peak_of(*nearest, *panel.slices);
  draw_polylines(panel, layout::transfer_lines(panel.plot, *nearest, *panel.slices), panel.palette->text,
                 2.2f * panel.scale);
  std::string words = "messages of " + size_text(*nearest) + " between nodes\n";
  const layout::UsableSlice* slice = panel.pointed();
  if (slice != nullptr && slice->index < nearest->normalised.size() && nearest->normalised[slice->index] > 0)
    words += time_text(slice->time) + ": " +
             text::format_times(static_cast<double>(nearest->normalised[slice->index])) +
             " their usual transfer time\n";
  words += "at most " + text::format_times(peak) + (nearest->calm ? ", calm" : "") + "; " +
           text::format_count(nearest->messages) + " messages in all";
  tooltip(words);
}

// Beside the plot: the worst lines by name, then how many are calm.
void TransferPlot::draw_names(const PlotPanel& panel) {
  if (panel.side.width() <= 0) return;
  std::vector<Named> lines = lines_of(panel.attribution(), *panel.slices);
  const auto calm =
      static_cast<std::size_t>(std::count_if(lines.begin(), lines.end(), [](const Named& n) { return n.line->calm; }));
  const float step = ImGui::GetFontSize() * 1.15f, swatch = 10 * panel.scale, gap = 5 * panel.scale;
  const float x = panel.side.low.x + 8 * panel.scale;
  float y = panel.side.low.y;
  const auto row = [&](layout::Rgba colour, const std::string& text) {
    panel.list->AddLine({x, y + step / 2}, {x + swatch, y + step / 2}, to_imgui(colour), 2 * panel.scale);
    draw_text(*panel.list, {x + swatch + gap, y}, panel.palette->faint_text, text,
              panel.side.high.x - x - swatch - gap);
    y += step;
  };
  const float end = panel.side.high.y - (calm > 0 ? step : 0);
  for (auto named = lines.rbegin(); named != lines.rend() && !named->line->calm && y + step <= end + 1; ++named)
    row(colour_of(*named->line, named->peak, *panel.palette),
        text::format_bytes(static_cast<double>(named->line->bytes_low)) + ": " + text::format_times(named->peak));
  if (calm > 0 && y + step <= panel.side.high.y + 1)
    row(panel.palette->calm, std::to_string(calm) + (calm == 1 ? " size calm" : " sizes calm"));
}

void TransferPlot::draw(PlotPanel& panel, const Scene& scene) {
  draw_title(
      panel, "transfer time between nodes, times its usual", {},
      "How long messages between nodes were on their way, one line per size, as a multiple of that size's usual time "
      "(1x). Sizes "
      "that "
      "hardly vary are grey. High while the job itself sends no more than usual: something else uses the network.");
  if (!has_transfers(panel.attribution(), *panel.slices))
    return draw_absence(panel, why_empty(*panel.snapshot, !panel.attribution().transfer_lines.empty()).c_str());
  panel.plot.low = layout::lowest_transfer;
  panel.plot.high = 1.15 * layout::highest_transfer(panel.attribution(), *panel.slices);
  panel.plot.logarithmic = true;
  const int most = std::max(1, static_cast<int>(panel.plot.area.height() / (1.6f * ImGui::GetFontSize())));
  draw_values(panel, layout::doublings(panel.plot.low, panel.plot.high, most), text::format_times);
  ask(panel, scene);
  panel.list->PushClipRect(to_imgui(panel.plot.area.low), to_imgui(panel.plot.area.high), true);
  show(panel);
  if (panel.hovered) draw_pointed(panel);
  panel.list->PopClipRect();
  draw_names(panel);
}

}  // namespace pclscope::gui
