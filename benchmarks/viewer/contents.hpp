// Whether each view shows what it should, inside its own rectangle: what it says that it draws, and that there are
// pixels. A picture has many colours also when a view is empty.
#pragma once

#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "viewer/layout/line_image.hpp"
#include "viewer/layout/palette.hpp"

namespace pclscope::benchmark {

// Marks that begin so (with a blank at its end: and go on with a number), at least that many of them; `number`: not how
// many, but their numbers' sum is at least that. And the share of the view's pixels that must be drawn: words and lines
// of a view without its picture are less.
struct Content {
  const char* view;  // begin of its title
  const char* mark;
  std::size_t least;
  bool number;
  double share = 0.01;
};
inline constexpr Content contents[] = {{"where:", "region ", 4, false},
                                       {"when:", "row ", 3, false},
                                       {"how:", "node ", 4, false},
                                       {"how:", "links ", 20, true},
                                       {"why:", "finding ", 1, false},
                                       {"who first:", "logical boxes ", 100, true},
                                       {"who first:", "latest event", 1, false},
                                       {"who is alike:", "cluster rows ", 2, true},
                                       {"where in the run:", "overview bars ", 100, true},
                                       {"who can know:", "clock events ", 8, true},
                                       {"what each rank did:", "timeline coloured ", 1000, true},
                                       {"what is everybody doing:", "calls counted ", 1000, true, 0.12},
                                       {"every call:", "calls counted ", 1000, true, 0.03},
                                       {"which links: routes", "routes links ", 1000, true},
                                       {"what is usual:", "criteria points ", 10, true},
                                       {"what is worst:", "ranking bars ", 1000, true},
                                       {"which links: the matrix", "matrix loaded ", 250, true},
                                       {"what would another placement do:", "placement links before ", 1000, true}};

inline std::size_t count(const nlohmann::json& marks, const Content& what) {
  std::size_t found = 0;
  for (const auto& [name, at] : marks.items()) {
    const std::string_view mark = what.mark;
    if (!name.starts_with(mark)) continue;
    const std::string rest = name.substr(mark.size());
    if (mark.ends_with(' ') && (rest.empty() || rest[0] < '0' || rest[0] > '9')) continue;  // "region mode" is a button
    found += what.number ? std::stoul(rest) : 1;
  }
  return found;
}

// Share of a rectangle's pixels that are not background.
inline double painted(const layout::Image& picture, const nlohmann::json& at) {
  const layout::Palette& p = layout::palette(layout::Theme::dark);
  const int left = at[0], top = at[1], right = std::min(left + at[2].get<int>(), picture.width),
            bottom = std::min(top + at[3].get<int>(), picture.height);
  std::size_t other = 0, all = 0;
  for (int y = top + 24; y < bottom; ++y)  // below the title
    for (int x = left; x < right; ++x, ++all) {
      const std::uint8_t* c = &picture.rgba[4 * (static_cast<std::size_t>(y) * static_cast<std::size_t>(picture.width) +
                                                 static_cast<std::size_t>(x))];
      const layout::Rgba colour{c[0], c[1], c[2], 255};
      other += colour != p.background && colour != p.panel;
    }
  return all == 0 ? 0 : static_cast<double>(other) / static_cast<double>(all);
}

struct Shown {
  std::string marks;    // "132 node, 482 links"
  double share = 0;     // of its pixels
  std::string problem;  // what is missing; empty: nothing
};

// What a view of a description shows. Without a picture: by its marks. `any`: of a run that is not known, one mark and
// a thousandth of the pixels are enough.
inline Shown shown(const std::string& title, const nlohmann::json& view, const layout::Image* picture,
                   bool any = false) {
  Shown all;
  double least_share = 1;
  for (const Content& what : contents) {
    if (!title.starts_with(what.view)) continue;
    least_share = std::min(least_share, any ? 0.001 : what.share);
    const std::size_t least = any ? 1 : what.least;
    const std::size_t there = count(view["marks"], what);
    std::string mark = what.mark;
    if (mark.ends_with(' ')) mark.pop_back();
    all.marks += (all.marks.empty() ? "" : ", ") + std::to_string(there) + " " + mark;
    if (there < least)
      all.problem =
          "shows " + std::to_string(there) + " of \"" + mark + "\", at least " + std::to_string(least) + " expected";
  }
  if (all.marks.empty()) all.problem = "nobody has said what it shows";
  if (picture == nullptr) return all;
  all.share = painted(*picture, view["at"]);
  if (all.problem.empty() && all.share < least_share)
    all.problem = "empty: " + std::to_string(100 * all.share) + " % of its pixels are drawn";
  return all;
}

// Says what is missing.
inline bool all_views_show_something(const std::string& description, const layout::Image& picture, std::size_t views) {
  const nlohmann::json told = nlohmann::json::parse(description);
  bool good = told["views"].size() == views;
  if (!good) std::fprintf(stderr, "%zu views instead of %zu\n", told["views"].size(), views);
  for (const auto& [title, view] : told["views"].items()) {
    const Shown all = shown(title, view, &picture);
    if (all.problem.empty()) continue;
    std::fprintf(stderr, "\"%s\": %s\n", title.c_str(), all.problem.c_str());
    good = false;
  }
  return good;
}

}  // namespace pclscope::benchmark
