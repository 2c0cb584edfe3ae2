#include "viewer/gui/graph_question.hpp"

#include <algorithm>
#include <cmath>

namespace pclscope::gui {
namespace {

constexpr double comfortable_messages = 300;  // in a period that we choose
constexpr std::uint32_t most_messages = 20'000;
constexpr double live_windows = 5;

const Region* find(const Snapshot& snapshot, std::int32_t id) {
  const auto found =
      std::find_if(snapshot.regions.begin(), snapshot.regions.end(), [&](const Region& r) { return r.id == id; });
  return found == snapshot.regions.end() ? nullptr : &*found;
}

// A finding that is felt all over the job shows where it begins.
const Region* region_of(const Snapshot& snapshot, const Finding& finding) {
  if (const Region* named = find(snapshot, finding.region)) return named;
  if (finding.ranks.empty()) return nullptr;
  const auto holds = [&](const Region& r) {
    return std::binary_search(r.ranks.begin(), r.ranks.end(), finding.ranks[0]);
  };
  const auto found = std::find_if(snapshot.regions.begin(), snapshot.regions.end(), holds);
  return found == snapshot.regions.end() ? nullptr : &*found;
}

std::int64_t to_ns(double seconds) {
  return static_cast<std::int64_t>(std::llround(std::clamp(seconds, -4e9, 4e9) * 1e9));
}

// The part of [begin, end) with about so many messages, from its middle on.
SelectedPeriod shortened(double begin, double end, double messages) {
  if (!(messages > comfortable_messages)) return {begin, end};
  const double length = (end - begin) * comfortable_messages / messages, middle = (begin + end) / 2;
  return {middle - length / 2, middle + length / 2};
}

const Period* worst_period(const Region& region) {
  const Period* worst = nullptr;
  for (const Period& period : region.periods) {
    if (!(period.end_s > period.begin_s) || period.messages == 0 || !std::isfinite(period.mean_ratio)) continue;
    if (!worst || period.mean_ratio > worst->mean_ratio) worst = &period;
  }
  return worst;
}

SelectedPeriod chosen_period(const Snapshot& snapshot, const Region* region, bool live, double now_s) {
  const double all = region ? static_cast<double>(region->messages) : static_cast<double>(snapshot.messages.matched);
  if (live) {
    const double begin = now_s - live_windows * std::max(snapshot.live.window_s, 1e-3);
    const double share = snapshot.duration_s > 0 ? (now_s - begin) / snapshot.duration_s : 1;
    return shortened(begin, now_s, all * std::min(1.0, share));
  }
  const Period* worst = region ? worst_period(*region) : nullptr;
  if (worst) return shortened(worst->begin_s, worst->end_s, static_cast<double>(worst->messages));
  return shortened(0, std::max(snapshot.duration_s, 1e-9), all);
}

}  // namespace

std::optional<DagQuestion> graph_question(const Snapshot& snapshot, const Selection& selection, bool live,
                                          double now_s) {
  DagQuestion question;
  const Region* region = nullptr;
  if (selection.ranks.size() > 1)
    question.ranks = selection.ranks;
  else if (selection.region && (region = find(snapshot, *selection.region)) != nullptr)
    question.region = region->id;
  else
    return std::nullopt;
  const SelectedPeriod period = selection.period ? *selection.period : chosen_period(snapshot, region, live, now_s);
  question.from_ns = to_ns(period.begin_s);
  question.to_ns = std::max(to_ns(period.end_s), question.from_ns + 1);
  question.most_messages = most_messages;
  return question;
}

void choose_finding(const Snapshot& snapshot, std::size_t index, Selection& selection) {
  if (index >= snapshot.attribution.findings.size()) return;
  const Finding& finding = snapshot.attribution.findings[index];
  selection.finding = index;
  if (const Region* region = region_of(snapshot, finding)) selection.region = region->id;
  if (finding.end_s > finding.begin_s) selection.period = SelectedPeriod{finding.begin_s, finding.end_s};
  if (!finding.ranks.empty() && finding.ranks[0] >= 0) selection.rank = finding.ranks[0];
}

bool choose_worst(const Snapshot& snapshot, bool live, Selection& selection) {
  const auto& findings = snapshot.attribution.findings;
  for (std::size_t i = 0; i < findings.size(); ++i) {
    if (!(findings[i].confidence >= 0.5) || !region_of(snapshot, findings[i])) continue;
    choose_finding(snapshot, i, selection);
    if (live) selection.period.reset();  // it goes on
    return true;
  }
  const auto worse = [](const Region& a, const Region& b) { return a.mean_latency_ratio < b.mean_latency_ratio; };
  const auto worst = std::max_element(snapshot.regions.begin(), snapshot.regions.end(), worse);
  if (worst == snapshot.regions.end()) return false;
  selection.region = worst->id;
  return true;
}

}  // namespace pclscope::gui
