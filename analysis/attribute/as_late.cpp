#include "analysis/attribute/as_late.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include "analysis/attribute/words.hpp"

namespace pclscope::attribute {
namespace {

constexpr double on_path = 0.25;  // computation of a rank that may be as late
constexpr double more_gained = 1.5;
constexpr double worth_a_name = 0.02;  // of the period

bool may_have_others(const Finding& f) {
  const bool of_ranks =
      f.cause == Cause::late_sender || f.cause == Cause::late_receiver || f.cause == Cause::collective_wait;
  return of_ranks && !f.ranks.empty() && f.detail != "off the core";
}

void replace_all(std::string& text, const std::string& from, const std::string& to) {
  for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
}

void rename(Finding& f, const std::vector<std::int32_t>& ranks, const std::string& alone, const std::string& together) {
  const std::string before = words::ranks(f.ranks), now = words::ranks(ranks);
  const std::vector<std::int32_t> added(ranks.begin() + static_cast<std::ptrdiff_t>(f.ranks.size()), ranks.end());
  replace_all(f.advice, before + " computes", before + " compute");
  replace_all(f.advice, before + " ", now + " ");
  f.evidence.push_back(words::ranks(added) + (added.size() == 1 ? " comes" : " come") + " as late as " + before +
                       ": without " + (f.ranks.size() == 1 ? "that one" : "those") + " alone the period is " + alone +
                       " shorter, without all of them " + together);
  f.ranks = ranks;
}

}  // namespace

void name_as_late(Finding& f, WhatIf& replayed, std::int32_t ranks, const Without& without, std::size_t& replays) {
  if (!may_have_others(f) || ranks < 1) return;
  const double alone_s = replayed.gain_s();
  double gained_s = alone_s;
  Finding more = f;
  std::vector<std::int32_t> best;
  for (WhatIf now = replayed; replays > 0;) {
    const double path_s = now.named_s + now.others_s + now.inside_s + now.untold_s;
    const bool is_half = 2 * (more.ranks.size() + 1) <= static_cast<std::size_t>(ranks);
    if (!is_half || now.other < 0 || now.other_site != f.site || now.other_s < on_path * path_s) break;
    more.ranks.push_back(now.other);
    --replays;
    const auto next = without(more);
    if (!next) break;
    now = *next;
    if (now.gain_s() < more_gained * gained_s + worth_a_name * now.length_s()) continue;
    best = more.ranks;
    replayed = now;
    gained_s = now.gain_s();
  }
  if (best.empty()) return;
  const double length_s = replayed.length_s();
  rename(f, best, words::percent(length_s > 0 ? std::max(alone_s, 0.0) / length_s : 0),
         words::percent(length_s > 0 ? gained_s / length_s : 0));
}

}  // namespace pclscope::attribute
