#include "viewer/layout/network_forces.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "viewer/layout/force_layout_tree.hpp"
#include "viewer/layout/sfdp.hpp"

namespace pclscope::layout {
namespace {

namespace fs = std::filesystem;
using mapping::LinkGraph;
using mapping::LinkLoads;

constexpr int levels = 15;              // of weights: the heaviest link pulls 1 + this times as much as an idle one
constexpr double most_moves = 200'000;  // of vertices in the weighted steps: a second or so, more for the largest
constexpr int most_steps = 100, least_steps = 10;
constexpr float pushing = 0.3f, longest_move = 0.3f;  // of a median link
constexpr std::size_t most_kept = 64;                 // files
constexpr char format[8] = {'p', 'c', 'l', 'p', 'l', 'a', 'c', '1'};

// What the places depend on.
struct Question {
  std::vector<std::int32_t> vertices;  // that have links, ascending
  GraphEdges edges;                    // of their indices
  std::vector<int> weights;            // of each edge, 1 .. 1 + levels
};

Question question_of(const LinkGraph& graph, const LinkLoads& loads) {
  Question question;
  std::vector<std::int32_t> number(static_cast<std::size_t>(graph.vertices()), -1);
  for (std::int32_t v = 0; v < graph.vertices(); ++v) {
    if (graph.first(v) == graph.last(v)) continue;
    number[static_cast<std::size_t>(v)] = static_cast<std::int32_t>(question.vertices.size());
    question.vertices.push_back(v);
  }
  const auto both = [&](std::int32_t link) {
    return loads[static_cast<std::size_t>(link)] + loads[static_cast<std::size_t>(graph.reverse(link))];
  };
  double most = 0;
  for (std::int32_t link = 0; link < graph.links(); ++link) most = std::max(most, both(link));
  for (std::int32_t link = 0; link < graph.links(); ++link) {
    if (graph.from(link) >= graph.to(link)) continue;
    question.edges.emplace_back(number[static_cast<std::size_t>(graph.from(link))],
                                number[static_cast<std::size_t>(graph.to(link))]);
    question.weights.push_back(1 + static_cast<int>(std::lround(most > 0 ? levels * both(link) / most : 0)));
  }
  return question;
}

// Of all that the answer depends on, 128 bits (FNV-1a with two beginnings).
std::string key_of(const Question& question, std::int32_t vertices, bool sfdp) {
  std::array<std::uint64_t, 2> hash{14695981039346656037ull, 1099511628211ull * 7919};
  const auto add = [&](std::int64_t value) {
    for (int byte = 0; byte < 8; ++byte)
      for (std::uint64_t& h : hash)
        h = (h ^ (static_cast<std::uint64_t>(value) >> (8 * byte) & 255)) * 1099511628211ull;
  };
  add(vertices);
  add(sfdp);
  add(levels);
  for (std::size_t i = 0; i < question.edges.size(); ++i) {
    add(question.vertices[static_cast<std::size_t>(question.edges[i].first)]);
    add(question.vertices[static_cast<std::size_t>(question.edges[i].second)]);
    add(question.weights[i]);
  }
  char text[40];
  std::snprintf(text, sizeof text, "%016llx%016llx", static_cast<unsigned long long>(hash[0]),
                static_cast<unsigned long long>(hash[1]));
  return text;
}

bool read_places(const fs::path& file, std::size_t vertices, std::vector<Point>& places) {
  std::ifstream in(file, std::ios::binary);
  char magic[sizeof format] = {};
  places.resize(vertices);
  if (!in.read(magic, sizeof magic) || !std::equal(magic, magic + sizeof magic, format)) return false;
  if (!in.read(reinterpret_cast<char*>(places.data()), static_cast<std::streamsize>(vertices * sizeof(Point))))
    return false;
  return in.peek() == std::ifstream::traits_type::eof() &&
         std::ranges::all_of(places, [](Point p) { return std::isfinite(p.x) && std::isfinite(p.y); });
}

// The oldest go when there are too many.
void make_room(const fs::path& folder) {
  std::vector<std::pair<fs::file_time_type, fs::path>> files;
  std::error_code failed;
  for (const auto& entry : fs::directory_iterator(folder, failed)) {
    const auto written = entry.last_write_time(failed);
    if (!failed) files.emplace_back(written, entry.path());
  }
  if (files.size() < most_kept) return;
  std::sort(files.begin(), files.end());
  for (std::size_t i = 0; i + most_kept <= files.size(); ++i) fs::remove(files[i].second, failed);
}

// Whoever reads at the same time sees the old file, or the whole new one. What fails is not kept.
void write_places(const fs::path& folder, const std::string& key, const std::vector<Point>& places) {
  std::error_code failed;
  fs::create_directories(folder, failed);
  if (failed) return;
  make_room(folder);
  const fs::path other = folder / (key + "." + std::to_string(::getpid()));
  {
    std::ofstream out(other, std::ios::binary);
    out.write(format, sizeof format);
    out.write(reinterpret_cast<const char*>(places.data()),
              static_cast<std::streamsize>(places.size() * sizeof(Point)));
    if (!out.flush()) failed = std::make_error_code(std::errc::io_error);
  }
  if (!failed) fs::rename(other, folder / key, failed);
  if (failed) fs::remove(other, failed);
}

// As large as place_by_distances() makes it, in the same place.
void fit_into(std::vector<Point>& places, const std::vector<Point>& frame) {
  const auto extent = [](const std::vector<Point>& all) {
    Rect box{{1e30f, 1e30f}, {-1e30f, -1e30f}};
    for (const Point p : all) {
      box.low = {std::min(box.low.x, p.x), std::min(box.low.y, p.y)};
      box.high = {std::max(box.high.x, p.x), std::max(box.high.y, p.y)};
    }
    return box;
  };
  const Rect now = extent(places), wanted = extent(frame);
  const float own = std::max({now.width(), now.height(), 1e-6f}), side = std::max(wanted.width(), wanted.height());
  for (Point& p : places) p = wanted.middle() + (p - now.middle()) * (side / own);
}

float median_length(const std::vector<Point>& places, const Question& question) {
  std::vector<float> lengths;
  for (const auto& [a, b] : question.edges)
    lengths.push_back(distance(places[static_cast<std::size_t>(a)], places[static_cast<std::size_t>(b)]));
  const auto middle = lengths.begin() + static_cast<std::ptrdiff_t>(lengths.size() / 2);
  std::nth_element(lengths.begin(), middle, lengths.end());
  return std::max(*middle, 1e-6f);
}

// Springs that pull with weight * distance^2, and all vertices push each other away with 1 / distance (Hu, Efficient
// and high quality force-directed graph drawing, 2005), from the places that are there, with ever shorter moves.
void pull_by_loads(std::vector<Point>& places, const Question& question, const ForceProgress& progress,
                   const Stopping& stopping) {
  const std::size_t count = places.size();
  const float unit = 1 / median_length(places, question);
  std::vector<Body> bodies;
  for (const Point at : places) bodies.push_back({at * unit, 0.25f, false});
  const std::vector<float> masses(count, 1);
  double sum = 0;
  for (const int weight : question.weights) sum += weight;
  const auto mean = static_cast<float>(sum / static_cast<double>(question.weights.size()));
  const int steps = std::clamp(static_cast<int>(most_moves / static_cast<double>(count)), least_steps, most_steps);
  std::vector<Point> force(count);
  for (int step = 0; step < steps; ++step) {
    if (stopping && stopping()) return;
    if (progress) progress("links pull by what they carry", double(step) / steps);
    const ForceTree tree(bodies, masses);
    for (std::uint32_t i = 0; i < count; ++i) force[i] = tree.push(i, 1.f) * pushing;
    for (std::size_t i = 0; i < question.edges.size(); ++i) {
      const auto a = static_cast<std::size_t>(question.edges[i].first),
                 b = static_cast<std::size_t>(question.edges[i].second);
      const Point between = bodies[b].at - bodies[a].at;
      const Point by = between * (length(between) * static_cast<float>(question.weights[i]) / mean);
      force[a] = force[a] + by;
      force[b] = force[b] - by;
    }
    const float longest = longest_move * (1 - static_cast<float>(step) / static_cast<float>(steps));
    for (std::size_t i = 0; i < count; ++i) {
      const float strength = length(force[i]);
      if (!(strength > 0) || !std::isfinite(strength)) continue;
      bodies[i].at = bodies[i].at + force[i] * (std::min(0.2f * strength, longest) / strength);
    }
  }
  for (std::size_t i = 0; i < count; ++i) places[i] = bodies[i].at;
}

}  // namespace

ForceSettings usual_force_settings() {
  ForceSettings settings;
  const char* cache = std::getenv("XDG_CACHE_HOME");
  const char* home = std::getenv("HOME");
  if (cache != nullptr && *cache == '/') settings.cache = std::string(cache) + "/pclscope/layouts";
  else if (home != nullptr && *home == '/') settings.cache = std::string(home) + "/.cache/pclscope/layouts";
  return settings;
}

ForcePlaces place_by_forces(const LinkGraph& graph, const LinkLoads& loads, const ForceSettings& settings,
                            const ForceProgress& progress, const Stopping& stopping) {
  ForcePlaces made;
  made.places = place_by_distances(graph);
  const Question question = question_of(graph, loads);
  if (question.vertices.size() < 3) {
    made.how = "by forces";
    made.whole = true;
    return made;
  }
  std::vector<Point> frame, places;
  for (const std::int32_t v : question.vertices) frame.push_back(made.places.at[static_cast<std::size_t>(v)]);
  const std::string key = key_of(question, graph.vertices(), !settings.sfdp.empty());
  const fs::path folder = settings.cache;
  const auto finish = [&](const char* how) {
    for (std::size_t i = 0; i < places.size(); ++i)
      made.places.at[static_cast<std::size_t>(question.vertices[i])] = places[i];
    made.how = how;
    made.whole = true;
    return made;
  };
  if (!settings.cache.empty() && read_places(folder / key, question.vertices.size(), places))
    return finish("by forces, as kept on disk");
  std::optional<std::vector<Point>> by_sfdp;
  if (!settings.sfdp.empty())
    by_sfdp = run_sfdp(
        static_cast<std::int32_t>(question.vertices.size()), question.edges,
        [&] {  // asked every few milliseconds
          if (progress) progress("sfdp places vertices", -1);
          return stopping && stopping();
        },
        settings.sfdp);
  places = by_sfdp ? *by_sfdp : frame;
  fit_into(places, frame);
  if (!(stopping && stopping())) pull_by_loads(places, question, progress, stopping);
  if (stopping && stopping()) return made;
  fit_into(places, frame);
  // Without sfdp the answer is another one: it is not kept under the name of the better.
  if (!settings.cache.empty() && by_sfdp.has_value() == !settings.sfdp.empty()) write_places(folder, key, places);
  return finish(by_sfdp ? "by forces (sfdp)" : "by forces (without sfdp: it is not installed)");
}

}  // namespace pclscope::layout
