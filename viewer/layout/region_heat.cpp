#include "viewer/layout/region_heat.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "viewer/layout/evolution_circles.hpp"

namespace pclscope::layout {
namespace {

using session::HistoryPoint;
using session::RegionHistory;

constexpr int largest_side = 8192;

// One region in the time of some pixels side by side.
struct Spread {
  double messages = 0, weighted = 0;  // sum of L over the messages
  double begin_s = 0, end_s = 0;
  void add(const HistoryPoint& p, double share) {
    if (messages == 0) begin_s = p.begin_s;
    end_s = p.end_s();
    messages += share * p.messages;
    weighted += share * p.messages * static_cast<double>(p.ratio);
  }
  double ratio() const { return messages > 0 ? weighted / messages : 0; }
};

// The share of a window that lies between two moments.
double share_between(const HistoryPoint& p, double begin_s, double end_s) {
  const double length = static_cast<double>(p.length_s);
  return (std::min(end_s, p.end_s()) - std::max(begin_s, p.begin_s)) / length;
}

// `edges`: ascending moments between pixels, one more than there are pixels.
void spread(const RegionHistory& region, const std::vector<double>& edges, std::vector<Spread>& pixels) {
  pixels.assign(edges.size() - 1, {});
  const auto& points = region.points;
  // The first that ends behind the left edge; windows do not overlap.
  std::size_t i =
      static_cast<std::size_t>(std::partition_point(points.begin(), points.end(),
                                                    [&](const HistoryPoint& p) { return p.end_s() <= edges.front(); }) -
                               points.begin());
  std::size_t x = 0;
  for (; i < points.size() && points[i].begin_s < edges.back(); ++i) {
    const HistoryPoint& p = points[i];
    while (x + 1 < pixels.size() && edges[x + 1] <= p.begin_s) ++x;
    for (std::size_t at = x; at < pixels.size() && edges[at] < p.end_s(); ++at) {
      if (const double share = share_between(p, edges[at], edges[at + 1]); share > 0) pixels[at].add(p, share);
    }
  }
}

const RegionHistory* region_of(const HeatSheet& sheet, std::size_t index) {
  const auto& regions = sheet.history->regions();
  const auto found = regions.find(sheet.order[index]);
  return found == regions.end() ? nullptr : &found->second;
}

// The largest means of the regions of a row.
void row_means(const HeatSheet& sheet, HeatPart part, const std::vector<double>& edges, std::vector<Spread>& one,
               std::vector<double>& largest) {
  largest.assign(edges.size() - 1, 0);
  for (std::size_t index = part.first; index < part.end; ++index) {
    const RegionHistory* region = region_of(sheet, index);
    if (!region) continue;
    spread(*region, edges, one);
    for (std::size_t x = 0; x < one.size(); ++x) largest[x] = std::max(largest[x], one[x].ratio());
  }
}

void set_pixel(Image& image, std::size_t at, Rgba c) {
  const std::uint8_t bytes[] = {c.red, c.green, c.blue, c.alpha};
  std::memcpy(image.rgba.data() + 4 * at, bytes, sizeof(bytes));
}

}  // namespace

bool HeatSheet::sound() const {
  return history && !order.empty() && width > 0 && height > 0 && width <= largest_side && height <= largest_side &&
         low < high;
}

double HeatSheet::second(int x) const { return axis.second(low + (high - low) * x / width); }

HeatPart regions_of_row(const HeatSheet& sheet, int y) {
  const std::size_t n = sheet.order.size(), h = static_cast<std::size_t>(sheet.height),
                    at = static_cast<std::size_t>(y);
  if (n >= h) return {at * n / h, (at + 1) * n / h};
  const std::size_t index = ((at + 1) * n - 1) / h;  // the one whose rows_of_region() hold y
  return {index, index + 1};
}

HeatPart rows_of_region(const HeatSheet& sheet, std::size_t index) {
  const std::size_t n = sheet.order.size(), h = static_cast<std::size_t>(sheet.height);
  if (n < h) return {index * h / n, (index + 1) * h / n};
  const std::size_t y = ((index + 1) * h - 1) / n;
  return {y, y + 1};
}

HeatCell heat_cell(const HeatSheet& sheet, int x, int y) {
  HeatCell cell;
  if (!sheet.sound()) return cell;
  x = std::clamp(x, 0, sheet.width - 1);
  const HeatPart part = regions_of_row(sheet, std::clamp(y, 0, sheet.height - 1));
  const std::vector<double> edges{sheet.second(x), sheet.second(x + 1)};
  cell = {part.first, 0, 0, edges[0], edges[1]};
  std::vector<Spread> one;
  for (std::size_t index = part.first; index < part.end; ++index) {
    const RegionHistory* region = region_of(sheet, index);
    if (!region) continue;
    spread(*region, edges, one);
    if (const Spread& s = one.front(); s.ratio() > cell.ratio)
      cell = {index, s.ratio(), s.messages, s.begin_s, s.end_s};
  }
  return cell;
}

RegionHeat region_heat(HeatSheet of, const Palette& palette) {
  RegionHeat made;
  made.sheet = std::move(of);
  const HeatSheet& sheet = made.sheet;
  if (!sheet.sound()) return made;
  const auto width = static_cast<std::size_t>(sheet.width);
  made.image = {sheet.width, sheet.height,
                std::vector<std::uint8_t>(4 * width * static_cast<std::size_t>(sheet.height))};
  std::vector<double> edges, largest;
  for (int x = 0; x <= sheet.width; ++x) edges.push_back(sheet.second(x));
  std::vector<Spread> one;
  double worst = 0;
  std::size_t in_row = 0;
  HeatPart last;
  for (int y = 0; y < sheet.height; ++y) {
    const HeatPart part = regions_of_row(sheet, y);
    const std::size_t begin = static_cast<std::size_t>(y) * width;
    if (part == last) {  // a region of several pixel rows
      std::memcpy(made.image.rgba.data() + 4 * begin, made.image.rgba.data() + 4 * (begin - width), 4 * width);
      made.coloured += in_row;
      continue;
    }
    last = part;
    in_row = 0;
    row_means(sheet, part, edges, one, largest);
    for (std::size_t x = 0; x < width; ++x) {
      if (!(largest[x] > 0)) continue;
      set_pixel(made.image, begin + x, palette.latency(largest[x]));
      ++in_row;
      if (largest[x] <= worst) continue;
      worst = largest[x];
      made.worst_x = static_cast<int>(x);
      made.worst_y = y;
    }
    made.coloured += in_row;
  }
  return made;
}

}  // namespace pclscope::layout
