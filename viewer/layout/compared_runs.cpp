#include "viewer/layout/compared_runs.hpp"

#include <algorithm>
#include <cmath>

namespace pclscope::layout {
namespace {

using session::LogicalBox;
using session::LogicalPhase;
using session::LogicalRun;

PeriodNs time_of(const LogicalPhase& phase) {
  PeriodNs time{INT64_MAX, INT64_MIN};
  for (const LogicalBox& box : phase.boxes) {
    time.from = std::min(time.from, phase.begin_ns(box));
    time.to = std::max(time.to, phase.end_ns(box));
  }
  return time;
}

// Phases of the period.
ComparedSide side_of(const std::shared_ptr<const LogicalRun>& run, const std::optional<PeriodNs>& period) {
  ComparedSide side;
  side.of = run;
  std::vector<PeriodNs> times;
  for (const auto& phase : run->phases) times.push_back(time_of(*phase));
  const auto take = [&](auto in) {
    for (std::uint32_t p = 0; p < times.size(); ++p) {
      if (run->phases[p]->boxes.empty() || (period && !in(times[p]))) continue;
      side.numbers.push_back(p);
      side.times.push_back(times[p]);
    }
  };
  take([&](const PeriodNs& t) { return t.from >= period->from && t.from < period->to; });
  if (side.numbers.empty()) take([&](const PeriodNs& t) { return t.from < period->to && t.to >= period->from; });
  side.begin_ns = side.times.empty() ? 0 : INT64_MAX;
  for (const PeriodNs& t : side.times) side.begin_ns = std::min(side.begin_ns, t.from);
  return side;
}

const LogicalPhase& phase_of(const ComparedSide& side, std::size_t i) { return *side.of->phases[side.numbers[i]]; }

bool same_ranks(const LogicalPhase& a, const LogicalPhase& b) {
  return std::equal(a.parts.begin(), a.parts.end(), b.parts.begin(), b.parts.end(),
                    [](const logical::Part& x, const logical::Part& y) { return x.rank == y.rank; });
}

bool alike(const ComparedSide& a, const ComparedSide& b) {
  if (a.numbers.size() != b.numbers.size()) return false;
  for (std::size_t i = 0; i < a.numbers.size(); ++i)
    if (!same_ranks(phase_of(a, i), phase_of(b, i))) return false;
  return true;
}

std::shared_ptr<const LogicalPhase> moved(const std::shared_ptr<const LogicalPhase>& phase, std::uint32_t to) {
  if (phase->first_step == to) return phase;  // shared: a large run needs no copy
  auto made = std::make_shared<LogicalPhase>(*phase);
  for (LogicalBox& box : made->boxes) box.step = box.step - phase->first_step + to;
  made->first_step = to;
  return made;
}

// Of each phase the step that it begins with; those of a rank stay one behind the other on both sides.
std::vector<std::uint32_t> common_steps(const ComparedSide& a, const ComparedSide& b) {
  std::vector<std::uint32_t> next(static_cast<std::size_t>(std::max(a.of->ranks, b.of->ranks))), first;
  for (std::size_t i = 0; i < a.numbers.size(); ++i) {
    std::uint32_t begin = 0;
    const LogicalPhase& phase = phase_of(a, i);
    for (const logical::Part& part : phase.parts) begin = std::max(begin, next[static_cast<std::size_t>(part.rank)]);
    const std::uint32_t end = begin + std::max(phase.steps, phase_of(b, i).steps);
    for (const logical::Part& part : phase.parts) next[static_cast<std::size_t>(part.rank)] = end;
    first.push_back(begin);
  }
  return first;
}

std::vector<std::uint32_t> own_steps(const ComparedSide& side) {
  std::uint32_t least = UINT32_MAX;
  for (std::size_t i = 0; i < side.numbers.size(); ++i) least = std::min(least, phase_of(side, i).first_step);
  std::vector<std::uint32_t> first;
  for (std::size_t i = 0; i < side.numbers.size(); ++i) first.push_back(phase_of(side, i).first_step - least);
  return first;
}

void place(const std::vector<std::uint32_t>& first, const std::function<bool()>& stopping, ComparedSide& side) {
  auto run = std::make_shared<LogicalRun>();
  run->ranks = side.of->ranks;
  run->whole = side.of->whole;
  run->progress = side.of->progress;
  for (std::size_t i = 0; i < side.numbers.size() && !(stopping && stopping()); ++i) {
    run->phases.push_back(moved(side.of->phases[side.numbers[i]], first[i]));
    const LogicalPhase& phase = *run->phases.back();
    run->steps = std::max(run->steps, phase.first_step + phase.steps);
    run->events += phase.boxes.size();
    if (side.over_ns.size() < run->steps) side.over_ns.resize(run->steps, -1);
    for (const LogicalBox& box : phase.boxes)
      side.over_ns[box.step] = std::max(side.over_ns[box.step], phase.end_ns(box) - side.begin_ns);
  }
  side.run = std::move(run);
}

}  // namespace

ComparedRuns compare_runs(const ComparedRequest& request, const std::function<bool()>& stopping) {
  ComparedRuns made;
  made.of = request;
  if (!request.first || !request.second) return made;
  made.first = side_of(request.first, request.first_period);
  made.second = side_of(request.second, request.second_period);
  made.by_phase = alike(made.first, made.second);
  if (made.by_phase) {
    const std::vector<std::uint32_t> first = common_steps(made.first, made.second);
    place(first, stopping, made.first);
    place(first, stopping, made.second);
  } else {
    place(own_steps(made.first), stopping, made.first);
    place(own_steps(made.second), stopping, made.second);
  }
  made.steps = std::max(made.first.run->steps, made.second.run->steps);
  return made;
}

std::optional<double> behind_s(const ComparedRuns& runs, std::uint32_t step) {
  const auto over = [&](const ComparedSide& side) { return step < side.over_ns.size() ? side.over_ns[step] : -1; };
  const std::int64_t first = over(runs.first), second = over(runs.second);
  if (first < 0 || second < 0) return std::nullopt;
  return static_cast<double>(second - first) * 1e-9;
}

ComparedTimes compared_times(const ComparedRuns& runs, double first_step, double end_step) {
  ComparedTimes times;
  const auto in = [&](const LogicalPhase& phase) {
    return phase.first_step<end_step&& static_cast<double>(phase.first_step) + phase.steps> first_step;
  };
  const auto whole = [&](const ComparedSide& side) -> std::optional<double> {
    PeriodNs all{INT64_MAX, INT64_MIN};
    for (std::size_t i = 0; side.run && i < side.run->phases.size(); ++i) {
      if (!in(*side.run->phases[i])) continue;
      all.from = std::min(all.from, side.times[i].from);
      all.to = std::max(all.to, side.times[i].to);
    }
    if (all.to < all.from) return std::nullopt;
    return static_cast<double>(all.to - all.from) * 1e-9;
  };
  times.first_s = whole(runs.first);
  times.second_s = whole(runs.second);
  if (!runs.by_phase) return times;
  for (std::uint32_t i = 0; i < runs.first.run->phases.size() && i < runs.second.run->phases.size(); ++i) {
    if (!in(*runs.first.run->phases[i]) && !in(*runs.second.run->phases[i])) continue;
    const PeriodNs &a = runs.first.times[i], &b = runs.second.times[i];
    const double by = static_cast<double>((b.to - b.from) - (a.to - a.from)) * 1e-9;
    if (times.phase && std::abs(by) <= std::abs(times.phase_by_s)) continue;
    times.phase = i;
    times.phase_by_s = by;
  }
  return times;
}

}  // namespace pclscope::layout
