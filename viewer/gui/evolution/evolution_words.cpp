// What the evolution view says.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>

#include "viewer/gui/evolution/evolution_frame.hpp"
#include "viewer/text/quantities.hpp"
#include "viewer/views/period_text.hpp"

namespace pclscope::gui {
namespace {

std::string share_words(std::uint64_t part, std::uint64_t whole) {
  if (whole == 0) return "";
  return std::string(" (")
      .append(text::format_share(static_cast<double>(part) / static_cast<double>(whole)))
      .append(")");
}

}  // namespace

std::string moment_words(const Scene& scene, double second) {
  std::string words = text::format_moment(second);
  const double ns = second * 1e9;
  if (!scene.snapshot || scene.snapshot->time_origin_realtime_ns <= 0 || !(std::fabs(ns) < 1e18)) return words;
  std::int64_t moment = 0;
  if (__builtin_add_overflow(scene.snapshot->time_origin_realtime_ns, static_cast<std::int64_t>(ns), &moment))
    return words;
  return words.append(" (").append(text::format_time_of_day(moment)).append(")");
}

std::string period_words(const Scene& scene, double begin_s, double end_s) {
  return moment_words(scene, begin_s)
      .append(" to ")
      .append(moment_words(scene, end_s))
      .append(", ")
      .append(text::format_seconds(end_s - begin_s));
}

std::string period_words(const Scene& scene, const Period& p) {
  std::string words = views::period_name(p.kind)
                          .append(p.open ? " period, goes on" : " period")
                          .append(": typical ratio ")
                          .append(text::format_ratio(p.level()));
  if (p.kind == PeriodKind::growth)
    words.append(", from ")
        .append(text::format_times(p.begin_ratio))
        .append(" to ")
        .append(text::format_times(p.end_ratio));
  words.append("\n").append(period_words(scene, p.begin_s, p.end_s));
  words.append("\n")
      .append(text::format_count(p.messages))
      .append(" messages, ")
      .append(text::format_count(p.delayed))
      .append(" delayed");
  return words.append(share_words(p.delayed, p.messages));
}

std::string circle_words(const EvolutionFrame& frame, const layout::EvolutionRow& row,
                         const layout::EvolutionCircle& c) {
  std::string words = std::string("region ")
                          .append(std::to_string(row.region))
                          .append(", typical ratio ")
                          .append(text::format_ratio(static_cast<double>(c.ratio)));
  words.append(" (average of the region ").append(text::format_ratio(row.average)).append(")\n");
  words.append(period_words(frame.scene, c.begin_s, c.end_s));
  words.append("\n")
      .append(text::format_count(c.messages))
      .append(" messages, ")
      .append(text::format_count(c.delayed))
      .append(" delayed");
  words.append(share_words(c.delayed, c.messages))
      .append(", ")
      .append(text::format_ratio(static_cast<double>(c.rate)))
      .append(" per second");
  for (const Period& p : row.periods) {
    const double middle = (c.begin_s + c.end_s) / 2;
    if (p.begin_s <= middle && middle < p.end_s)
      words.append("\n\nin a ").append(period_words(frame.scene, p)).append("\nclick: select this period");
  }
  return words;
}

std::string row_words(const EvolutionFrame& frame, const layout::EvolutionRow& row) {
  std::string words = std::string("region ")
                          .append(std::to_string(row.region))
                          .append(", average ratio ")
                          .append(text::format_ratio(row.average));
  if (frame.scene.snapshot) {
    const auto& regions = frame.scene.snapshot->regions;
    const auto region =
        std::find_if(regions.begin(), regions.end(), [&](const Region& r) { return r.id == row.region; });
    if (region == regions.end()) return words.append("\nno longer there: its ranks are in other regions now");
    words.append("\n")
        .append(text::format_count(region->ranks.size()))
        .append(" ranks, ")
        .append(text::format_count(region->messages))
        .append(" messages");
  }
  return words.append("\nclick: select the region; wheel over the names: scroll");
}

const char* legend_words(int part) {
  static constexpr std::array<const char*, 5> parts{
      "colour of a circle: typical ratio L (geometric mean) of its messages, their time divided by what is usual for "
      "their size and "
      "distance; "
      "blue 1/4 and less, grey as usual, red 8 times and more",
      "area of a circle: delayed messages (L above 1) per second; a circle stands for an interval, all of equal "
      "length where the "
      "axis is not compressed",
      "wedge: growth, the ratio rises and goes on rising\nband: steady, it stays above the region's average with "
      "little variation",
      "compressed: only growth and steady periods have their full length; what lies between (//) shrinks to its start, "
      "its middle and "
      "its end. "
      "Of the selected region, without one of all regions",
      "every region, from the top in the order of the rows; colour: typical ratio L of its messages at that time. "
      "Where a "
      "line of pixels stands for several regions: the largest. Clear: no messages"};
  return parts[static_cast<std::size_t>(std::clamp(part, 0, 4))];
}

}  // namespace pclscope::gui
