// Messages inside and between nodes with their pie, and load balance (PCLVis, Figure 10a and b). Declared in
// attribution_panel.hpp.
#include <array>
#include <cmath>
#include <cstdio>

#include "viewer/gui/causes/attribution_panel.hpp"
#include "viewer/layout/pie.hpp"
#include "viewer/text/quantities.hpp"

namespace pclscope::gui {
namespace {

using layout::Between;
using layout::Point;
using layout::Rect;

struct Messages {
  double intra = 0, inter = 0;
  double inter_share() const { return intra + inter > 0 ? inter / (intra + inter) : 0; }
};

// Of slices that overlap `time` by more than half of their length; of all without.
Messages messages_in(const PlotPanel& panel, const std::optional<SelectedPeriod>& time) {
  Messages sum;
  for (const layout::UsableSlice& s : *panel.slices) {
    const double middle = 0.5 * (s.time.begin_s + s.time.end_s);
    if (time && (middle < time->begin_s || middle >= time->end_s)) continue;
    sum.intra += static_cast<double>(panel.attribution().slices[s.index].intra_messages);
    sum.inter += static_cast<double>(panel.attribution().slices[s.index].inter_messages);
  }
  return sum;
}

std::string count_text(double count) {
  return count < 1e15 ? text::format_count(static_cast<std::uint64_t>(count)) : text::format_ratio(count);
}

std::string rate_text(double rate) { return text::format_short_count(static_cast<std::uint64_t>(rate)); }

void fill_piece(ImDrawList& list, const std::vector<Point>& piece, layout::Rgba colour) {
  std::vector<ImVec2> points;
  for (const Point p : piece) points.push_back(to_imgui(p));
  list.AddConvexPolyFilled(points.data(), static_cast<int>(points.size()), to_imgui(colour));
}

void draw_pie(const PlotPanel& panel, const Messages& all, Point middle, float radius) {
  const std::array<double, 2> values{all.inter, all.intra};
  const std::array<layout::Rgba, 2> colours{panel.palette->predecessor, panel.palette->successor};
  const auto sectors = layout::pie_sectors(values);
  // Neighbouring pieces must not show seams: smooth edges only around the whole.
  const ImDrawListFlags flags = panel.list->Flags;
  panel.list->Flags &= ~ImDrawListFlags_AntiAliasedFill;
  for (std::size_t i = 0; i < sectors.size(); ++i) {
    for (const auto& piece : layout::pie_pieces(sectors[i], middle, radius)) fill_piece(*panel.list, piece, colours[i]);
  }
  panel.list->Flags = flags;
  panel.list->AddCircle(to_imgui(middle), radius, to_imgui(panel.palette->background), 0, 2 * panel.scale);
  const int pointed = ImGui::IsWindowHovered() ? layout::sector_at(sectors, middle, radius, panel.mouse()) : -1;
  if (pointed < 0) return;
  const double value = values[static_cast<std::size_t>(pointed)];
  tooltip(std::string(pointed == 0 ? "between nodes: " : "within nodes: ") + count_text(value) + " messages, " +
          text::format_share(sectors[static_cast<std::size_t>(pointed)].share) + " of the whole run");
}

void draw_mapping_side(const PlotPanel& panel) {
  const Messages all = messages_in(panel, std::nullopt);
  if (panel.side.width() <= 0 || all.intra + all.inter <= 0) return;
  const float line = ImGui::GetFontSize() * 1.1f;
  std::vector<std::string> words{text::format_share(all.inter_share()) + " between nodes"};
  if (panel.period) {
    const Messages some = messages_in(panel, panel.period);
    if (some.intra + some.inter > 0) words.push_back(text::format_share(some.inter_share()) + " in the period");
  }
  const float words_height = line * static_cast<float>(words.size());
  const float radius =
      std::min(panel.side.width() - 8 * panel.scale, panel.side.height() - words_height - 6 * panel.scale) / 2;
  const float least = 9 * panel.scale;
  if (radius >= least)
    draw_pie(panel, all, {panel.side.middle().x, panel.side.low.y + radius + 2 * panel.scale}, radius);
  float y = radius >= least ? panel.side.high.y - words_height : panel.side.low.y;
  for (const std::string& text : words) {
    const float width = std::min(text_size(text).x, panel.side.width());
    draw_text(*panel.list, {panel.side.middle().x - width / 2, y}, panel.palette->faint_text, text, panel.side.width());
    y += line;
  }
}

void explain_mapping(const PlotPanel& panel) {
  const layout::UsableSlice* slice = panel.hovered ? panel.pointed() : nullptr;
  if (slice == nullptr) return;
  const AttributionSlice& s = panel.attribution().slices[slice->index];
  const auto row = [&](const char* where, std::uint64_t count, Between between) {
    return std::string(where) + text::format_count(count) + " messages, " +
           rate_text(layout::message_rate(s, between)) + " per second\n";
  };
  const Messages sum{static_cast<double>(s.intra_messages), static_cast<double>(s.inter_messages)};
  tooltip(time_text(slice->time) + "\n" + row("within nodes: ", s.intra_messages, Between::ranks_of_a_node) +
          row("between nodes: ", s.inter_messages, Between::nodes) + text::format_share(sum.inter_share()) +
          " of them between nodes");
}

// Levels of a bar in the colours of their height: 0 yellow, 1 and above red.
void fill_bar(const PlotPanel& panel, const layout::BalanceBar& bar) {
  constexpr std::array<double, 5> levels{0, 1 / 3., 2 / 3., 1, HUGE_VAL};
  for (std::size_t i = 0; i + 1 < levels.size() && levels[i] < bar.value; ++i) {
    const double top = std::min(bar.value, levels[i + 1]);
    const ImU32 low = to_imgui(panel.palette->share(levels[i])), high = to_imgui(panel.palette->share(top));
    panel.list->AddRectFilledMultiColor({bar.area.low.x, panel.plot.y(top)},
                                        {std::max(bar.area.high.x, bar.area.low.x + 1), panel.plot.y(levels[i])}, high,
                                        high, low, low);
  }
}

void draw_balance_side(const PlotPanel& panel) {
  const float line = ImGui::GetFontSize();
  if (panel.side.width() <= 0 || panel.side.height() < 2.2f * line) return;
  const Rect bar{{panel.side.low.x + 10 * panel.scale, panel.side.low.y + line / 2},
                 {panel.side.low.x + 22 * panel.scale, panel.side.high.y - line / 2}};
  for (int third = 0; third < 3; ++third) {
    const float low = bar.high.y - bar.height() * static_cast<float>(third) / 3,
                high = bar.high.y - bar.height() * static_cast<float>(third + 1) / 3;
    const ImU32 below = to_imgui(panel.palette->share(third / 3.)),
                above = to_imgui(panel.palette->share((third + 1) / 3.));
    panel.list->AddRectFilledMultiColor({bar.low.x, high}, {bar.high.x, low}, above, above, below, below);
  }
  const float x = bar.high.x + 6 * panel.scale, width = panel.side.high.x - x;
  draw_text(*panel.list, {x, bar.low.y - line / 2}, panel.palette->faint_text, "1: unequal", width);
  draw_text(*panel.list, {x, bar.high.y - line / 2}, panel.palette->faint_text, "0: all equal", width);
}

std::string percent(double share) {
  char text[32];
  std::snprintf(text, sizeof text, "%.0f %%", 100 * std::min(share, 1e6));
  return text;
}

void explain_balance(const PlotPanel& panel) {
  const layout::UsableSlice* slice = panel.hovered ? panel.pointed() : nullptr;
  if (slice == nullptr) return;
  const AttributionSlice& s = panel.attribution().slices[slice->index];
  std::string words = time_text(slice->time) + "\nimbalance " + text::format_ratio(s.load_balance);
  if (std::isfinite(s.load_balance))
    words += ": ranks' message counts are " + percent(s.load_balance) + " off their mean, on average";
  words += "\nall ranks waited " + text::format_seconds(s.wait_s) + " for late senders, " +
           text::format_seconds(s.blocked_s) + " for late receivers, " + text::format_seconds(s.collective_s) +
           " in collectives";
  tooltip(words);
}

}  // namespace

void draw_mapping_plot(PlotPanel& panel) {
  draw_title(panel, "messages per second",
             {{panel.palette->successor, "within nodes"}, {panel.palette->predecessor, "between nodes"}},
             "Messages per second over time, between ranks of one node (blue) and between nodes (red). The pie is "
             "the whole run: much "
             "red means that ranks that talk much sit on different nodes.\nDrag to select a period, double-click to "
             "let it go; the wheel "
             "zooms, Home shows all.");
  const Messages all = messages_in(panel, std::nullopt);
  if (all.intra + all.inter <= 0) return draw_absence(panel, "no messages between ranks");
  panel.plot.high = 1.08 * layout::highest_rate(panel.attribution(), *panel.slices);
  draw_values(panel, ticks(0, panel.plot.high, most_values(panel)), rate_text);
  const auto draw = [&](Between between, layout::Rgba colour) {
    panel.list->PushClipRect(to_imgui(panel.plot.area.low), to_imgui(panel.plot.area.high), true);
    draw_polylines(panel, layout::rate_lines(panel.plot, panel.attribution(), *panel.slices, between), colour,
                   1.6f * panel.scale);
    panel.list->PopClipRect();
  };
  draw(Between::ranks_of_a_node, panel.palette->successor);
  draw(Between::nodes, panel.palette->predecessor);
  draw_mapping_side(panel);
  explain_mapping(panel);
}

void draw_balance_plot(PlotPanel& panel) {
  draw_title(panel, "imbalance of ranks' messages", {},
             "Load balance: how far ranks' message counts are from their mean on average, as a share of it (AD / "
             "mc_avg). 0 (yellow): "
             "all ranks send and receive as many. 1 (red): a few ranks do most. High or swinging: a poor "
             "communication pattern.");
  const Messages all = messages_in(panel, std::nullopt);
  if (all.intra + all.inter <= 0) return draw_absence(panel, "no messages between ranks");
  panel.plot.high = 1.05 * layout::highest_balance(panel.attribution(), *panel.slices);
  draw_values(panel, ticks(0, panel.plot.high, most_values(panel)), text::format_ratio);
  panel.list->PushClipRect(to_imgui(panel.plot.area.low), to_imgui(panel.plot.area.high), true);
  for (const layout::BalanceBar& bar : layout::balance_bars(panel.plot, panel.attribution(), *panel.slices))
    fill_bar(panel, bar);
  panel.list->PopClipRect();
  draw_balance_side(panel);
  explain_balance(panel);
}

}  // namespace pclscope::gui
