// Whether each view shows what it should, inside its own rectangle: what it says that it draws, and that there are
// pixels. A picture has many colours also when a view is empty.
#pragma once

#include <cstdio>
#include <nlohmann/json.hpp>
#include <string>

#include "viewer/layout/line_image.hpp"
#include "viewer/layout/palette.hpp"

namespace pclscope::benchmark {

// Marks that begin so, at least that many of them; one whose name ends in a number: that number at least.
struct Content {
  const char* view;  // begin of its title
  const char* mark;
  std::size_t least;
  bool number;
};
inline constexpr Content contents[] = {{"where:", "region ", 4, false},
                                       {"when:", "row ", 3, false},
                                       {"how:", "node ", 20, false},
                                       {"how:", "links ", 20, true},
                                       {"why:", "finding ", 1, false},
                                       {"who first:", "logical boxes ", 100, true},
                                       {"who first:", "latest event", 1, false},
                                       {"who is alike:", "cluster rows ", 2, true},
                                       {"where in the run:", "overview bars ", 100, true}};

inline std::size_t count(const nlohmann::json& marks, const Content& what) {
  std::size_t found = 0;
  for (const auto& [name, at] : marks.items()) {
    if (!name.starts_with(what.mark)) continue;
    found += what.number ? std::stoul(name.substr(std::string_view(what.mark).size())) : 1;
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

// Says what is missing.
inline bool all_views_show_something(const std::string& description, const layout::Image& picture, std::size_t views) {
  const nlohmann::json told = nlohmann::json::parse(description);
  bool good = told["views"].size() == views;
  if (!good) std::fprintf(stderr, "viewer_benchmark: %zu views instead of %zu\n", told["views"].size(), views);
  for (const auto& [title, view] : told["views"].items()) {
    bool known = false;
    for (const Content& what : contents) {
      if (!title.starts_with(what.view)) continue;
      known = true;
      const std::size_t there = count(view["marks"], what);
      if (there >= what.least) continue;
      std::fprintf(stderr, "viewer_benchmark: \"%s\" shows %zu of \"%s\", at least %zu expected\n", title.c_str(),
                   there, what.mark, what.least);
      good = false;
    }
    const double share = painted(picture, view["at"]);
    if (known && share >= 0.01) continue;
    std::fprintf(stderr, "viewer_benchmark: \"%s\": %s, %.2f%% of its pixels are drawn\n", title.c_str(),
                 known ? "empty" : "nobody has said what it shows", 100 * share);
    good = false;
  }
  return good;
}

}  // namespace pclscope::benchmark
