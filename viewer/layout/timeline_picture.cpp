#include "viewer/layout/timeline_picture.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "viewer/layout/function_colours.hpp"

namespace pclscope::layout {
namespace {

using session::TimelineCall;
using session::TimelineRun;

constexpr std::size_t most_message_lines = 3000;
constexpr float least_row_for_lines = 4;   // pixels
constexpr float least_row_for_border = 6;  // pixels
constexpr float least_saturation = 0.08f;  // of a call that takes next to nothing of a pixel
constexpr int hatch = 5;                   // pixels between lines of waits
constexpr std::size_t rows_between_looks = 64;

// A part of a pixel's time.
struct Piece {
  int pixel = 0;
  std::uint16_t function = TimelinePixel::none;  // none: outside MPI
  float time = 0;                                // pixels
};

// [begin, end) ns, pixel by pixel.
template <class Put>
void each_pixel(const TimelineSight& sight, std::int64_t begin_ns, std::int64_t end_ns, Put&& put) {
  const double scale = sight.width / (sight.time1 - sight.time0);
  const double begin = std::max((static_cast<double>(begin_ns) - sight.time0) * scale, 0.0),
               end = std::min((static_cast<double>(end_ns) - sight.time0) * scale, static_cast<double>(sight.width));
  if (!(end > begin)) return;
  int pixel = std::min(static_cast<int>(begin), sight.width - 1);
  for (double from = begin; from < end && pixel < sight.width; ++pixel) {
    const double to = std::min(end, pixel + 1.0);
    put(pixel, static_cast<float>(to - from));
    from = to;
  }
}

class RowMaker {
 public:
  RowMaker(const TimelineRun& run, const TimelineSight& sight) : run_(run), sight_(sight) {}

  void make(std::int32_t rank, std::span<TimelinePixel> to) {
    for (TimelinePixel& pixel : to) pixel = {TimelinePixel::none, 0, 0, 0, 0, rank};
    const auto threads = run_.of(rank);
    if (threads.empty()) return;
    pieces_.clear();
    for (const session::TimelineThread& thread : threads) add(thread);
    // Of one thread they are in order but where rounding takes the moment at a pixel's edge to both its sides.
    const auto before = [](const Piece& a, const Piece& b) { return a.pixel < b.pixel; };
    if (!std::is_sorted(pieces_.begin(), pieces_.end(), before))
      std::stable_sort(pieces_.begin(), pieces_.end(), before);
    const float one = 1 / static_cast<float>(threads.size());
    for (std::size_t i = 0, j = 0; i < pieces_.size(); i = j) {
      for (j = i; j < pieces_.size() && pieces_[j].pixel == pieces_[i].pixel; ++j) {}
      finish(std::span(pieces_).subspan(i, j - i), one, to[static_cast<std::size_t>(pieces_[i].pixel)]);
    }
    add_waits(rank, one, to);
  }

 private:
  void add(const session::TimelineThread& thread) {
    const auto begin = static_cast<std::int64_t>(sight_.time0), end = static_cast<std::int64_t>(sight_.time1) + 1;
    const auto calls = run_.within(thread, begin, end);
    for (const TimelineCall& call : calls) {
      outside(call);
      each_pixel(sight_, call.begin, call.end, [&](int pixel, float time) {
        pieces_.push_back({pixel, call.function, time});
      });
      // What took no time that was recorded is a call all the same.
      if (call.begin == call.end) {
        const double at = std::floor(sight_.x(static_cast<double>(call.begin)));
        if (at >= 0 && at < sight_.width) pieces_.push_back({static_cast<int>(at), call.function, 0});
      }
    }
    // The call behind the sight knows what lies before it.
    const auto next = static_cast<std::size_t>(calls.data() + calls.size() - run_.calls.data());
    if (next < thread.end) outside(run_.calls[next]);
  }
  void outside(const TimelineCall& call) {
    if (call.outside <= 0) return;
    each_pixel(sight_, call.begin - static_cast<std::int64_t>(call.outside), call.begin, [&](int pixel, float time) {
      pieces_.push_back({pixel, TimelinePixel::none, time});
    });
  }

  void finish(std::span<const Piece> pieces, float one, TimelinePixel& pixel) {
    used_.clear();
    float inside = 0, known = 0;
    for (const Piece& piece : pieces) {
      known += piece.time;
      if (piece.function == TimelinePixel::none) continue;
      inside += piece.time;
      const std::size_t f = piece.function % sums_.size();
      if (!seen_[f]) {
        seen_[f] = true;
        used_.push_back(piece.function);
      }
      sums_[f] += piece.time;
    }
    float most = -1;
    for (const std::uint16_t function : used_) {
      const std::size_t f = function % sums_.size();
      if (sums_[f] > most || (sums_[f] == most && function < pixel.function))
        most = sums_[f], pixel.function = function;
      sums_[f] = 0;
      seen_[f] = false;
    }
    pixel.share = std::min(1.f, std::max(0.f, most) * one);
    pixel.inside = std::min(1.f, inside * one);
    pixel.known = std::min(1.f, known * one);
  }

  // Waits of several messages in one call begin together: no moment twice.
  void add_waits(std::int32_t rank, float one, std::span<TimelinePixel> to) {
    const auto waits = run_.waits.of(rank);
    const auto begin = static_cast<std::int64_t>(sight_.time0);
    auto wait = std::partition_point(waits.begin(), waits.end(),
                                     [&](const session::RankWaiting& w) { return w.begin < begin; });
    // One that began before may reach into it; of a thread there is one at a time, with all those that begin with it.
    std::int64_t until = INT64_MIN;
    for (int back = 0; wait != waits.begin() && back < 64; ++back) --wait;
    for (; wait != waits.end() && static_cast<double>(wait->begin) < sight_.time1; ++wait) {
      const std::int64_t from = std::max(wait->begin, until);
      if (wait->end <= from) continue;
      each_pixel(sight_, from, wait->end, [&](int pixel, float time) {
        float& waiting = to[static_cast<std::size_t>(pixel)].waiting;
        waiting = std::min(1.f, waiting + time * one);
      });
      until = wait->end;
    }
  }

  const TimelineRun& run_;
  const TimelineSight& sight_;
  std::vector<Piece> pieces_;
  std::array<float, 1024> sums_{};
  std::array<bool, 1024> seen_{};
  std::vector<std::uint16_t> used_;
};

std::pair<std::int32_t, std::int32_t> ranks_of_row(const TimelineSight& sight, int y, std::int32_t ranks) {
  const double low = std::floor(sight.rank(static_cast<float>(y)) +
                                (sight.rank_height() >= 1 ? 0.5 / sight.rank_height() : 0)),
               high = std::ceil(sight.rank(static_cast<float>(y) + 1) - 1e-6);
  const auto first = static_cast<std::int32_t>(std::clamp(low, 0.0, static_cast<double>(ranks)));
  if (sight.rank_height() >= 1) return {first, std::min(first + 1, ranks)};
  return {first, static_cast<std::int32_t>(std::clamp(high, static_cast<double>(first), static_cast<double>(ranks)))};
}

Rgba pixel_colour(const TimelinePixel& pixel, const Palette& palette, const Rgba& outside) {
  Rgba colour = outside;
  if (pixel.function != TimelinePixel::none) {
    const float share = least_saturation + (1 - least_saturation) * pixel.share;
    colour = mix(outside, function_colour(pixel.function), share);
  }
  const float known = std::max(pixel.known, pixel.function != TimelinePixel::none ? 0.35f : 0.f);
  return known >= 0.999f ? colour : mix(palette.background, colour, known);
}

void put_over(Image& onto, const Image& from) {
  if (from.rgba.size() != onto.rgba.size()) return;
  for (std::size_t i = 0; i + 3 < onto.rgba.size(); i += 4) {
    const int alpha = from.rgba[i + 3];
    if (alpha == 0) continue;
    for (std::size_t k = i; k < i + 3; ++k)
      onto.rgba[k] = static_cast<std::uint8_t>((onto.rgba[k] * (255 - alpha) + from.rgba[k] * alpha + 127) / 255);
  }
}

void add_messages(const TimelineImageRequest& request, TimelineImage& image, std::vector<Stroke>& strokes) {
  const TimelineRun& run = *request.run;
  const TimelineSight& sight = request.sight;
  const auto begin = static_cast<std::int64_t>(sight.time0), end = static_cast<std::int64_t>(sight.time1) + 1;
  auto m = std::partition_point(run.messages.begin(), run.messages.end(), [&](const session::TimelineMessage& message) {
    return message.send_begin < begin - run.longest_message_ns;
  });
  std::vector<const session::TimelineMessage*> wanted;
  std::size_t count = 0;
  for (; m != run.messages.end() && m->send_begin < end; ++m) {
    const auto [low, high] = std::minmax(m->source, m->destination);
    if (high < sight.rank0 || low >= sight.rank1) continue;
    // Those that were under way all the time, on receives that were waited for much later, would hide the rest.
    if (m->send_begin < begin && (m->recv_end < begin || m->recv_end >= end)) continue;
    if (++count <= most_message_lines) wanted.push_back(&*m);
  }
  if (count > most_message_lines || sight.rank_height() < least_row_for_lines) {
    image.lines_left_out = count;
    return;
  }
  image.lines = count;
  const Rgba colour = request.palette->text.with_alpha(count > most_message_lines / 4 ? 0.3f : 0.55f);
  for (const session::TimelineMessage* message : wanted)
    strokes.push_back({{{sight.x(static_cast<double>(message->send_begin)), sight.y(message->source + 0.5)},
                        {sight.x(static_cast<double>(message->recv_end)), sight.y(message->destination + 0.5)}},
                       1,
                       colour,
                       colour});
}

// Where the path is, pixel by pixel: the rank with most of it there, -1 none. So it stays one line however dense.
std::vector<std::int32_t> path_ranks(const std::vector<PathStep>& path, const TimelineSight& sight) {
  std::vector<std::int32_t> ranks(static_cast<std::size_t>(sight.width), -1);
  std::vector<std::pair<std::int32_t, float>> here;  // of a pixel
  int pixel = -1;
  const auto finish = [&] {
    const auto most =
        std::max_element(here.begin(), here.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
    if (most != here.end()) ranks[static_cast<std::size_t>(pixel)] = most->first;
    here.clear();
  };
  auto step =
      std::partition_point(path.begin(), path.end(), [&](const PathStep& s) { return s.end_s * 1e9 < sight.time0; });
  for (; step != path.end() && step->begin_s * 1e9 <= sight.time1; ++step) {
    each_pixel(sight, std::llround(step->begin_s * 1e9), std::llround(step->end_s * 1e9), [&](int at, float time) {
      if (at != pixel) finish();
      pixel = at;
      const auto known = std::find_if(here.begin(), here.end(), [&](const auto& h) { return h.first == step->rank; });
      if (known != here.end()) known->second += time;
      else here.emplace_back(step->rank, time);
    });
  }
  if (pixel >= 0) finish();
  return ranks;
}

// Bold along a rank, thin from one to another.
void add_path(const TimelineImageRequest& request, std::vector<Stroke>& strokes) {
  const TimelineSight& sight = request.sight;
  const std::vector<std::int32_t> ranks = path_ranks(request.run->path, sight);
  const Rgba colour = request.palette->selection, thin = colour.with_alpha(0.45f);
  std::int32_t before = -1;
  for (std::size_t x = 0, end = 0; x < ranks.size(); x = end) {
    for (end = x + 1; end < ranks.size() && ranks[end] == ranks[x]; ++end) {}
    if (ranks[x] < 0) continue;
    const float y = sight.y(ranks[x] + 0.5), from = static_cast<float>(x);
    if (before >= 0) strokes.push_back({{{from, sight.y(before + 0.5)}, {from, y}}, 1, thin, thin});
    strokes.push_back({{{from, y}, {static_cast<float>(end), y}}, 3, colour, colour});
    before = ranks[x];
  }
}

}  // namespace

void timeline_row(const TimelineRun& run, const TimelineSight& sight, std::int32_t rank, std::span<TimelinePixel> to) {
  RowMaker(run, sight).make(rank, to);
}

std::vector<TimelinePixel> timeline_pixels(const TimelineRun& run, const TimelineSight& sight,
                                           const std::function<bool()>& stopping) {
  const auto width = static_cast<std::size_t>(sight.width), height = static_cast<std::size_t>(sight.height);
  std::vector<TimelinePixel> pixels(width * height);
  RowMaker maker(run, sight);
  std::vector<TimelinePixel> group;
  std::vector<float> mean(width);
  std::pair<std::int32_t, std::int32_t> before{-1, -1};
  std::size_t made = 0;
  for (std::size_t y = 0; y < height; ++y) {
    const auto row = std::span(pixels).subspan(y * width, width);
    const auto ranks = ranks_of_row(sight, static_cast<int>(y), run.ranks);
    if (ranks.second <= ranks.first) continue;
    if (ranks == before) {
      std::copy_n(pixels.begin() + static_cast<std::ptrdiff_t>((y - 1) * width), width, row.begin());
      continue;
    }
    before = ranks;
    const auto count = static_cast<std::size_t>(ranks.second - ranks.first);
    if (stopping && made++ % rows_between_looks == 0 && stopping()) return {};
    if (count == 1) {
      maker.make(ranks.first, row);
      continue;
    }
    group.resize(count * width);
    std::fill(mean.begin(), mean.end(), 0.f);
    for (std::size_t i = 0; i < count; ++i) {
      const auto of = std::span(group).subspan(i * width, width);
      maker.make(ranks.first + static_cast<std::int32_t>(i), of);
      for (std::size_t x = 0; x < width; ++x) mean[x] += of[x].inside / static_cast<float>(count);
    }
    for (std::size_t x = 0; x < width; ++x) {
      float most = -1;
      for (std::size_t i = 0; i < count; ++i) {
        const TimelinePixel& pixel = group[i * width + x];
        const float differs = std::fabs(pixel.inside - mean[x]) + (pixel.known > 0 ? 1.f : 0.f);
        if (differs > most + 1e-5f) most = differs, row[x] = pixel;
      }
    }
  }
  return pixels;
}

TimelineImage draw_timeline(const TimelineImageRequest& request, const std::function<bool()>& stopping) {
  TimelineImage result;
  result.of = request;
  const TimelineSight& sight = request.sight;
  if (sight.width < 1 || sight.height < 1 || sight.width > 8192 || sight.height > 8192 ||
      !(sight.time1 > sight.time0) || !(sight.rank1 > sight.rank0))
    return result;
  const std::vector<TimelinePixel> pixels = timeline_pixels(*request.run, sight, stopping);
  if (pixels.empty()) return result;
  const Palette& palette = *request.palette;
  const Rgba outside = outside_colour(palette);
  Image& image = result.image;
  image.width = sight.width;
  image.height = sight.height;
  image.rgba.resize(pixels.size() * 4);
  std::array<double, 1024> coloured{};
  std::array<bool, 1024> in_sight{};  // also what took no time
  const bool borders = sight.rank_height() >= least_row_for_border;
  for (int y = 0; y < sight.height; ++y) {
    const bool border = borders && std::floor(sight.rank(static_cast<float>(y))) !=
                                       std::floor(sight.rank(static_cast<float>(y) + 1) + 1e-6);
    for (int x = 0; x < sight.width; ++x) {
      const std::size_t at =
          static_cast<std::size_t>(y) * static_cast<std::size_t>(sight.width) + static_cast<std::size_t>(x);
      const TimelinePixel& pixel = pixels[at];
      Rgba colour = pixel.rank < 0 ? palette.background : pixel_colour(pixel, palette, outside);
      if (pixel.waiting >= 0.5f && (x + y) % hatch == 0) colour = mix(colour, palette.background, 0.65f);
      if (border) colour = palette.background;
      if (pixel.function != TimelinePixel::none) {
        ++result.coloured;
        coloured[pixel.function % coloured.size()] += static_cast<double>(pixel.share);
        in_sight[pixel.function % in_sight.size()] = true;
      }
      const std::uint8_t bytes[] = {colour.red, colour.green, colour.blue, 255};
      std::copy_n(bytes, 4, image.rgba.begin() + static_cast<std::ptrdiff_t>(at * 4));
    }
  }
  for (std::size_t f = 0; f < coloured.size(); ++f)
    if (in_sight[f]) result.functions.emplace_back(static_cast<std::uint16_t>(f), coloured[f]);
  std::sort(result.functions.begin(), result.functions.end(),
            [](const auto& a, const auto& b) { return a.second > b.second; });
  std::vector<Stroke> strokes;
  if (request.messages) add_messages(request, result, strokes);
  if (request.path) add_path(request, strokes);
  if (!strokes.empty()) put_over(image, draw_strokes(sight.width, sight.height, strokes));
  return result;
}

}  // namespace pclscope::layout
