#include "analysis/attribute/gain.hpp"

#include <algorithm>
#include <cmath>

#include "analysis/attribute/words.hpp"

namespace pclscope::attribute {
namespace {

constexpr const char* gains = "; gains ";
constexpr double nothing = 0.005;  // of the period
constexpr double same_gain = 0.02;

}  // namespace

std::string gain_by_sums(const Finding& f) {
  return gains + ("up to " + words::percent(f.score)) + " of all ranks' time in that period.";
}

void tell_gain(Finding& f, const WhatIf& w) {
  const double length = f.end_s - f.begin_s;
  f.gain_s = std::clamp(w.gain_s(), 0.0, std::max(length, 0.0));
  const bool placed = f.cause == Cause::mapping;
  f.evidence.push_back(
      (placed ? "replayed with that placement the period takes " : "replayed without it the period takes ") +
      words::number(length - f.gain_s) + " s in place of " + words::number(length) + " s (" + std::to_string(w.calls) +
      " calls of " + words::percent(w.covered) + " of it)");
  const std::size_t at = f.advice.rfind(gains);
  std::string what = f.advice.substr(0, at);
  if (at == std::string::npos && what.ends_with('.')) what.pop_back();
  const double share = length > 0 ? f.gain_s / length : 0;
  if (share >= nothing) f.advice = what + gains + words::percent(share) + " of that period (replayed).";
  else if (w.ahead_s < nothing * length)
    f.advice = what + "; by itself that gains nothing: other ranks come as late (replayed).";
  else
    f.advice = what + "; the period would end as late all the same (replayed): others come as late, and " +
               std::to_string(w.ahead_ranks) + (w.ahead_ranks == 1 ? " rank" : " ranks") +
               " would wait for them up to " + words::number(w.ahead_s) + " s longer.";
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
