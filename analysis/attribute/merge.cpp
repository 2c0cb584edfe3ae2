#include "analysis/attribute/merge.hpp"

#include <algorithm>

#include "analysis/attribute/words.hpp"

namespace pclscope::attribute {
namespace {

constexpr std::size_t most_named = 4;  // periods in a sentence

bool same(const Finding& a, const Finding& b) {
  if (a.cause != b.cause || a.detail != b.detail || a.site != b.site || a.nodes != b.nodes) return false;
  std::vector<std::int32_t> mine = a.ranks, theirs = b.ranks;  // worst first, which may differ
  std::sort(mine.begin(), mine.end());
  std::sort(theirs.begin(), theirs.end());
  return mine == theirs;
}

FindingPeriod period_of(const Finding& f) { return {f.begin_s, f.end_s, f.lost_s}; }

std::string sentence(const Finding& f, const Finding& costliest) {
  std::string text = "it acted in " + std::to_string(f.periods.size()) + " periods (";
  const std::size_t named = std::min(f.periods.size(), most_named);
  for (std::size_t i = 0; i < named; ++i)
    text +=
        (i == 0 ? "" : ", ") + words::number(f.periods[i].begin_s) + " to " + words::number(f.periods[i].end_s) + " s";
  if (named < f.periods.size()) text += ", and " + std::to_string(f.periods.size() - named) + " more";
  return text + "), " + words::number(f.lost_s) + " rank-seconds together; the following is of " +
         words::number(costliest.begin_s) + " to " + words::number(costliest.end_s) + " s, which cost most";
}

Finding one_of(const std::vector<const Finding*>& several, double threads) {
  const Finding& costliest = **std::max_element(
      several.begin(), several.end(), [](const Finding* a, const Finding* b) { return a->lost_s < b->lost_s; });
  Finding all = costliest;
  double length_s = 0;
  all.lost_s = 0;
  for (const Finding* f : several) {
    all.periods.push_back(period_of(*f));
    all.begin_s = std::min(all.begin_s, f->begin_s);
    all.end_s = std::max(all.end_s, f->end_s);
    all.lost_s += f->lost_s;
    all.open |= f->open;
    all.confidence = std::max(all.confidence, f->confidence);
    if (f->region != all.region) all.region = -1;
    length_s += f->end_s - f->begin_s;
  }
  std::sort(all.periods.begin(), all.periods.end(),
            [](const FindingPeriod& a, const FindingPeriod& b) { return a.begin_s < b.begin_s; });
  all.score = length_s > 0 && threads > 0 ? all.lost_s / (length_s * threads) : 0;
  all.evidence.insert(all.evidence.begin(), sentence(all, costliest));
  return all;
}

}  // namespace

std::vector<Finding> merged(std::vector<Finding> findings, double threads) {
  std::vector<Finding> list;
  std::vector<char> taken(findings.size());
  for (std::size_t i = 0; i < findings.size(); ++i) {
    if (taken[i]) continue;
    std::vector<const Finding*> several{&findings[i]};
    for (std::size_t j = i + 1; j < findings.size(); ++j) {
      if (taken[j] || !same(findings[i], findings[j])) continue;
      taken[j] = true;
      several.push_back(&findings[j]);
    }
    list.push_back(several.size() == 1 ? std::move(findings[i]) : one_of(several, threads));
  }
  return list;
}

}  // namespace pclscope::attribute
