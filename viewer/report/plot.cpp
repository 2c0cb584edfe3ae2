#include "viewer/report/plot.hpp"

#include <algorithm>
#include <cmath>

#include "viewer/text/quantities.hpp"

namespace pclscope::report {
namespace {

double place(double value, double from, double to, double low, double high) {
  const double share = to > from ? (value - from) / (to - from) : 0;
  return low + (high - low) * std::clamp(std::isfinite(share) ? share : 0.0, 0.0, 1.0);
}

}  // namespace

double Plot::x(double value) const { return place(value, begin, end, left, right); }
double Plot::y(double value) const { return place(value, low, high, bottom, top); }

std::vector<double> round_steps(double low, double high, int wanted) {
  if (!(high > low) || !std::isfinite(high - low) || wanted < 1) return {};
  const double rough = (high - low) / wanted, decade = std::pow(10, std::floor(std::log10(rough)));
  double step = 10 * decade;
  for (const double nice : {5.0, 2.0, 1.0})
    if (nice * decade >= rough) step = nice * decade;
  std::vector<double> steps;
  for (double k = std::ceil(low / step - 1e-9); k * step <= high + 1e-9 * step && steps.size() < 100; ++k)
    steps.push_back(k == 0 ? 0 : k * step);  // no minus before a zero
  return steps;
}

void time_axis(const Plot& plot, Picture& picture) {
  picture.line(plot.left, plot.bottom, plot.right, plot.bottom, "axis");
  for (const double second : round_steps(plot.begin, plot.end, 9)) {
    const double x = plot.x(second);
    picture.line(x, plot.bottom, x, plot.bottom + 4, "axis");
    picture.text(x, plot.bottom + 16, second == 0 ? "0 s" : text::format_moment(second), "small mid");
  }
}

void share_axis(const Plot& plot, Picture& picture) {
  for (const double share : round_steps(plot.low, plot.high, 4)) {
    picture.line(plot.left, plot.y(share), plot.right, plot.y(share), "grid");
    picture.text(plot.left - 6, plot.y(share) + 3.5, text::format_share(share), "small end");
  }
}

void stack(const Plot& plot, const std::vector<Column>& columns, const std::vector<const char*>& classes,
           Picture& picture) {
  for (std::size_t part = 0; part < classes.size(); ++part) {
    std::string d;
    for (const Column& column : columns) {
      double below = 0;
      for (std::size_t i = 0; i < part; ++i) below += column.parts[i];
      const double value = column.parts[part];
      if (!(value > 0) || !std::isfinite(below + value)) continue;
      const double low = plot.y(below), high = plot.y(below + value);
      if (low - high < 0.05) continue;
      // A hair wider, so that no gap shows between neighbours.
      d += "M" + coordinate(plot.x(column.begin)) + " " + coordinate(low) + "V" + coordinate(high) + "H" +
           coordinate(plot.x(column.end) + 0.2) + "V" + coordinate(low) + "z";
    }
    if (!d.empty()) picture.path(d, classes[part]);
  }
}

std::string key(const std::vector<std::pair<std::string, std::string>>& entries) {
  std::string html = "<ul class=\"key\">";
  for (const auto& [classes, words] : entries)
    html += "<li><i class=\"" + classes + "\"></i>" + escaped(words) + "</li>";
  return html + "</ul>\n";
}

std::string figure(const std::string& picture, const std::string& key, std::string_view caption) {
  if (picture.empty()) return {};
  return "<figure>\n" + picture + key + element("figcaption", "", escaped(caption)) + "\n</figure>\n";
}

}  // namespace pclscope::report
