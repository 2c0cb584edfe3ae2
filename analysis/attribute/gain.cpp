#include "analysis/attribute/gain.hpp"

#include <algorithm>
#include <cmath>

#include "analysis/attribute/words.hpp"

namespace pclscope::attribute {
namespace {

constexpr const char* gains = "; gains ";
constexpr double nothing = 0.005;  // of the period
constexpr double same_gain = 0.02;
constexpr double much_untold = 0.25;  // of the path

struct Nothing {
  bool is_told = true;
  std::string words;
};

// Why a period ends as late although what was named is taken away: what most of its path is now.
Nothing why_nothing(const Finding& f, const WhatIf& w) {
  const double path_s = w.named_s + w.others_s + w.inside_s + w.untold_s;
  const double most_s = std::max({w.named_s, w.others_s, w.inside_s});
  if (path_s > 0 && w.untold_s >= much_untold * path_s)
    return {false, "; what that gains cannot be told: without it " + words::percent(w.untold_s / path_s) +
                       " of the period would pass in calls of which it is not known for whom they wait."};
  if (path_s > 0 && w.named_s == most_s)
    return {false, "; what that gains cannot be told: most of the period would pass in what " + words::ranks(f.ranks) +
                       (f.ranks.size() == 1 ? " computes" : " compute") + ", with which nothing can be compared."};
  if (path_s > 0 && w.inside_s == most_s)
    return {true, "; by itself that gains nothing: messages and MPI's own work take as long (replayed)."};
  if (f.cause == Cause::mapping)
    return {true, "; by itself that gains nothing: what ranks compute takes as long (replayed)."};
  if (w.ahead_s / 2 > w.gain_s() && w.ahead_s >= w.gain_s() + nothing * (f.end_s - f.begin_s))
    return {true, "; the period would end as late all the same (replayed): others come as late, and " +
                      std::to_string(w.ahead_ranks) + (w.ahead_ranks == 1 ? " rank" : " ranks") +
                      " would wait for them up to " + words::number(w.ahead_s) + " s longer."};
  return {true, "; by itself that gains nothing: other ranks come as late (replayed)."};
}

}  // namespace

std::string gain_by_sums(const Finding& f) {
  return gains + ("up to " + words::percent(f.score)) + " of all ranks' time in that period.";
}

void tell_gain(Finding& f, const WhatIf& w) {
  const double length = f.end_s - f.begin_s;
  const double gain_s = std::clamp(w.gain_s(), 0.0, std::max(length, 0.0));
  const std::size_t at = f.advice.rfind(gains);
  std::string what = f.advice.substr(0, at);
  if (at == std::string::npos && what.ends_with('.')) what.pop_back();
  const double share = length > 0 ? gain_s / length : 0;
  if (share >= nothing) {
    f.advice = what + gains + words::percent(share) + " of that period (replayed).";
  } else {
    const Nothing why = why_nothing(f, w);
    f.advice = what + why.words;
    if (!why.is_told) return;
  }
  f.gain_s = gain_s;
  const bool placed = f.cause == Cause::mapping;
  f.evidence.push_back(
      (placed ? "replayed with that placement the period takes " : "replayed without it the period takes ") +
      words::number(length - f.gain_s) + " s in place of " + words::number(length) + " s (" + std::to_string(w.calls) +
      " calls of " + words::percent(w.covered) + " of it" +
      (w.as.empty() ? "" : (f.cause == Cause::background || placed ? "; transfers " : "; computation ") + w.as) + ")");
}

void order_by_gain(std::vector<Finding>& findings, std::int32_t ranks) {
  const auto end =
      std::find_if_not(findings.begin(), findings.end(), [](const Finding& f) { return f.confidence > 0.5; });
  double from_s = 0, to_s = 0;
  for (auto f = findings.begin(); f != end; ++f) {
    from_s = f == findings.begin() ? f->begin_s : std::min(from_s, f->begin_s);
    to_s = std::max(to_s, f->end_s);
  }
  const double step = same_gain * (to_s - from_s);
  if (!(step > 0)) return;
  const auto steps = [&](const Finding& f) {
    const double gain = f.gain_s >= 0 ? f.gain_s : f.lost_s / std::max(ranks, 1);
    return std::floor(gain / step);
  };
  std::stable_sort(findings.begin(), end, [&](const Finding& a, const Finding& b) { return steps(a) > steps(b); });
}

}  // namespace pclscope::attribute
