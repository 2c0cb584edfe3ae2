#include "viewer/layout/call_painter.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include "analysis/density/packing.hpp"
#include "viewer/layout/call_part.hpp"
#include "viewer/layout/call_strokes.hpp"

namespace pclscope::layout {
namespace {

double ranks_of(const Snapshot& snapshot, const std::optional<std::int32_t>& region) {
  if (region)
    for (const Region& r : snapshot.regions)
      if (r.id == *region) return static_cast<double>(r.ranks.size());
  return snapshot.application.ranks;
}

// Older dumps have no density, but the newest windows of each function.
density::Stack stack_of_history(const Snapshot& snapshot, std::span<const std::uint16_t> functions,
                                const CallRequest& request) {
  density::Stack stack;
  stack.functions.assign(functions.begin(), functions.end());
  stack.begin_s = request.range.begin_s;
  stack.end_s = request.range.end_s;
  stack.shares.assign(functions.size() + 1, std::vector<float>(static_cast<std::size_t>(request.width), 0));
  const double window_s = snapshot.live.window_s, column_s = (stack.end_s - stack.begin_s) / request.width;
  if (!(window_s > 0) || !(column_s > 0)) return stack;
  for (const FunctionActivity& f : snapshot.functions) {
    const auto at = std::find(functions.begin(), functions.end(), f.function);
    std::vector<float>& layer = stack.shares[static_cast<std::size_t>(at - functions.begin())];
    const double first_s =
        std::floor(snapshot.duration_s / window_s - static_cast<double>(f.history_share.size())) * window_s;
    for (std::size_t column = 0; column < layer.size(); ++column) {
      const double window =
          std::floor((stack.begin_s + (static_cast<double>(column) + 0.5) * column_s - first_s) / window_s);
      if (window >= 0 && window < static_cast<double>(f.history_share.size()))
        layer[column] += f.history_share[static_cast<std::size_t>(window)];
    }
  }
  return stack;
}

std::vector<std::uint16_t> functions_of(const Snapshot& snapshot) {
  std::vector<std::uint16_t> functions;
  for (const FunctionActivity& f : snapshot.functions) functions.push_back(f.function);
  return functions;
}

}  // namespace

bool CallRequest::operator==(const CallRequest& other) const {
  const auto same = [](double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); };
  return snapshot == other.snapshot && density == other.density && stack == other.stack && region == other.region &&
         function == other.function && same(range.begin_s, other.range.begin_s) &&
         same(range.end_s, other.range.end_s) && width == other.width && height == other.height &&
         fitted == other.fitted && shape == other.shape && run == other.run && edge == other.edge &&
         opacity == other.opacity && least == other.least;
}

void CallPainter::read(const CallRequest& request) {
  const Snapshot& snapshot = *request.snapshot;
  if (request.density) {
    density_ = request.density;
    packed_.reset();
  } else if (!density_ || packed_ != snapshot.call_density) {
    packed_ = snapshot.call_density;
    auto read = density::unpack(*packed_);
    density_ = std::make_shared<const CallDensity>(read ? std::move(*read) : CallDensity());
  }
  functions_ = density_->empty() ? functions_of(snapshot) : density::functions_by_time(*density_);
  colours_ = FunctionColours(functions_);
}

std::optional<std::int32_t> CallPainter::told_region(const std::optional<std::int32_t>& region) const {
  const bool told = region && std::any_of(density_->inside.begin(), density_->inside.end(),
                                          [&](const CallDensity::Inside& i) { return i.region == *region; });
  return told ? region : std::nullopt;
}

void CallPainter::paint_stack(CallPicture& picture) const {
  const Snapshot& snapshot = *picture.of.snapshot;
  const auto columns = static_cast<std::size_t>(picture.of.width);
  density::Stack stack;
  if (density_->empty()) {
    stack = stack_of_history(snapshot, colours_.functions(), picture.of);
    picture.slice_s = snapshot.live.window_s;
    picture.problem = snapshot.functions.empty()
                          ? "no MPI calls were recorded"
                          : "no density of calls (an older dump, or no room for it): newest windows only";
  } else {
    density::StackQuestion question;
    question.functions = colours_.functions();
    question.region = picture.of.region;
    if (question.region && std::none_of(density_->inside.begin(), density_->inside.end(),
                                        [&](const CallDensity::Inside& i) { return i.region == *question.region; })) {
      question.region.reset();
      picture.problem = "region " + std::to_string(*picture.of.region) + " is not told apart: all ranks";
    }
    question.ranks = ranks_of(snapshot, question.region);
    question.duration_s = snapshot.duration_s;
    question.begin_s = picture.of.range.begin_s;
    question.end_s = picture.of.range.end_s;
    question.columns = columns;
    stack = density::stack_of(*density_, question);
    picture.slice_s = std::ldexp(1e-9, density_->inside_shift);
  }
  float highest = 0;
  for (std::size_t column = 0; column < stack.columns(); ++column) highest = std::max(highest, stack.height(column));
  picture.most = picture.of.fitted && highest > 0 ? highest * 1.05f : std::max(1.f, highest);
  std::optional<std::size_t> only;
  if (picture.of.function) only = colours_.index(*picture.of.function);
  picture.image = stack_image(stack, colours_, picture.of.height, picture.most, only);
  picture.stack = std::make_shared<const density::Stack>(std::move(stack));
}

void CallPainter::paint_calls(CallPicture& picture, const std::function<bool()>& stopping) const {
  if (density_->calls.empty()) {
    picture.problem = picture.of.snapshot->functions.empty()
                          ? "no MPI calls were recorded"
                          : "no density of calls: an older dump, or one that had no room for it";
    return;
  }
  picture.durations = durations_of(*density_);
  picture.slice_s = std::ldexp(1e-9, density_->calls_shift);
  CallQuestion question;
  question.edge = picture.of.edge;
  question.range = picture.of.range;
  question.durations = picture.durations;
  question.width = picture.of.width;
  question.height = picture.of.height;
  question.function = picture.of.function;
  const auto calls = [&] {
    return counted_in(*density_, part_of(*density_, question.edge, {question.range, all_durations}, question.function));
  };
  question.shape = picture.shape = picture.of.shape ? *picture.of.shape : shape_of(calls());
  if (question.shape == session::CallShape::points) {
    picture.image = call_image(call_buffers(*density_, colours_, question), picture.of.opacity, picture.of.least);
    return;
  }
  picture.singly = picture.of.run && knows_all(*picture.of.run, *density_, question);
  const CallBuffers buffers =
      stroke_buffers(*density_, picture.singly ? picture.of.run.get() : nullptr, colours_, question, stopping);
  picture.image = call_image(buffers, picture.of.opacity, picture.of.least);
}

// Shares and calls in the range: of slices that it cuts, their part.
void CallPainter::fill_legend(CallPicture& picture, const std::optional<std::int32_t>& region) const {
  const auto coloured = colours_.functions();
  for (const std::uint16_t function : coloured) picture.legend.push_back({function, 0, 0});
  picture.legend.push_back({});
  picture.others = functions_.size() - coloured.size();
  const auto part_of = [&](std::uint32_t slice, unsigned shift) {
    const double length = std::ldexp(1e-9, static_cast<int>(shift)), begin = slice * length;
    const double overlap = std::min(begin + length, picture.of.range.end_s) - std::max(begin, picture.of.range.begin_s);
    return std::clamp(overlap / length, 0.0, 1.0);
  };
  const double time_s = (picture.of.range.end_s - picture.of.range.begin_s) * ranks_of(*picture.of.snapshot, region);
  std::vector<double> calls(picture.legend.size(), 0);
  for (const CallDensity::Inside& i : density_->inside)
    if (!region || i.region == *region)
      picture.legend[colours_.index(i.function)].share +=
          static_cast<double>(i.ns) * 1e-9 * part_of(i.slice, density_->inside_shift) / std::max(time_s, 1e-12);
  for (const CallDensity::Calls& c : density_->calls)
    calls[colours_.index(c.function)] += static_cast<double>(picture.of.edge == CallEdge::start ? c.starts : c.ends) *
                                         part_of(c.slice, density_->calls_shift);
  for (std::size_t i = 0; i < calls.size(); ++i)
    picture.legend[i].calls = static_cast<std::uint64_t>(std::llround(calls[i]));
  if (picture.others == 0) picture.legend.pop_back();
}

CallPicture CallPainter::operator()(const CallRequest& request, const std::function<bool()>& stopping) {
  CallPicture picture;
  picture.of = request;
  read(request);
  picture.colours = colours_;
  picture.density = density_;
  fill_legend(picture, request.stack ? told_region(request.region) : std::nullopt);
  if (request.stack) paint_stack(picture);
  else paint_calls(picture, stopping);
  return picture;
}

std::vector<CallPicture::Entry> calls_at(const CallPicture& picture, double second, double log2_ns) {
  std::vector<CallPicture::Entry> found;
  if (!picture.density || !(second >= 0) || !(log2_ns >= 0)) return found;
  const CallDensity& d = *picture.density;
  const auto slice_at = [&](double s) {
    return static_cast<std::uint32_t>(std::clamp(std::ldexp(s * 1e9, -static_cast<int>(d.calls_shift)), 0.0, 4e9));
  };
  const auto bin = static_cast<std::uint16_t>(std::min(log2_ns * d.bins_per_octave, 511.0));
  // Where calls of which this is a part began.
  const double length_s = std::exp2((bin + 0.5) / std::max<unsigned>(d.bins_per_octave, 1)) * 1e-9;
  const bool arches = picture.shape == session::CallShape::arches, lines = picture.shape == session::CallShape::lines;
  const std::uint32_t first = slice_at(lines    ? second - length_s
                                       : arches ? second - length_s / 2
                                                : second),
                      last = slice_at(arches ? second - length_s / 2 : second);
  std::map<std::uint16_t, std::uint64_t> counted;
  for (const CallDensity::Calls& c : d.calls)
    if (c.slice >= first && c.slice <= last && c.bin == bin &&
        (!picture.of.function || c.function == *picture.of.function))
      counted[c.function] += picture.of.edge == CallEdge::end ? c.ends : c.starts;
  for (const auto& [function, calls] : counted)
    if (calls > 0) found.push_back({function, 0, calls});
  std::stable_sort(found.begin(), found.end(), [](const auto& a, const auto& b) { return a.calls > b.calls; });
  return found;
}

}  // namespace pclscope::layout
