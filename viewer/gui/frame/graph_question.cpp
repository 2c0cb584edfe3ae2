#include "viewer/gui/frame/graph_question.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>

namespace pclscope::gui {
namespace {

constexpr double comfortable_messages = 300;   // in a period that we choose
constexpr double bearable_messages = 3000;     // in a single window
constexpr std::uint32_t enough_messages = 10;  // for a window to be the worst
constexpr std::uint32_t most_messages = 20'000;
constexpr double live_windows = 5;

const Region* find(const Snapshot& snapshot, std::int32_t id) {
  const auto found =
      std::find_if(snapshot.regions.begin(), snapshot.regions.end(), [&](const Region& r) { return r.id == id; });
  if (found != snapshot.regions.end()) return &*found;
  const auto& ended = snapshot.ended_regions;
  const auto before = std::find_if(ended.begin(), ended.end(), [&](const Region& r) { return r.id == id; });
  return before == ended.end() ? nullptr : &*before;
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
    if (!(period.end_s > period.begin_s) || period.messages == 0 || !std::isfinite(period.level())) continue;
    if (!worst || period.level() > worst->level()) worst = &period;
  }
  return worst;
}

using Points = decltype(session::RegionHistory::points);

// A window with too many messages: its first part.
SelectedPeriod whole_or_part(double begin, double end, double messages) {
  return {begin, begin + (end - begin) * std::min(1.0, bearable_messages / std::max(messages, 1.0))};
}

// The newest windows with messages, up to five.
std::optional<SelectedPeriod> newest_windows(const Points& points) {
  std::size_t first = points.size();
  double messages = 0;
  while (first > 0 && points.size() - first < live_windows && messages < comfortable_messages)
    messages += points[--first].messages;
  if (first == points.size()) return std::nullopt;
  return whole_or_part(points[first].begin_s, points.back().end_s(), messages);
}

// The worst window that begins in [begin, end), and as many around it as it takes: a job's messages come in bursts, and
// a piece of time that is cut anywhere may have none.
std::optional<SelectedPeriod> worst_windows(const Points& points, double begin, double end) {
  const auto at = [&](double second) {
    return static_cast<std::size_t>(
        std::lower_bound(points.begin(), points.end(), second,
                         [](const session::HistoryPoint& p, double s) { return p.begin_s < s; }) -
        points.begin());
  };
  const std::size_t low = at(begin), high = at(end);
  std::size_t worst = high;
  const auto better = [&](const session::HistoryPoint& p) {
    const session::HistoryPoint& w = points[worst];
    const bool enough = p.messages >= enough_messages, was = w.messages >= enough_messages;
    return enough != was ? enough : p.ratio > w.ratio;
  };
  for (std::size_t i = low; i < high; ++i) {
    if (worst == high || better(points[i])) worst = i;
  }
  if (worst >= high) return std::nullopt;
  std::size_t first = worst, last = worst;
  double messages = points[worst].messages;
  while (messages < comfortable_messages && (first > low || last + 1 < high)) {
    const bool left = first > low && (last + 1 >= high || worst - first <= last - worst);
    messages += points[left ? --first : ++last].messages;
  }
  return whole_or_part(points[first].begin_s, points[last].end_s(), messages);
}

// Of a period with more messages than a graph takes its worst windows; else nothing.
std::optional<SelectedPeriod> worst_part(const SelectedPeriod& period, const Region* region,
                                         const session::History* history) {
  if (region == nullptr || history == nullptr) return std::nullopt;
  const auto found = history->regions().find(region->id);
  if (found == history->regions().end()) return std::nullopt;
  double messages = 0;
  for (const session::HistoryPoint& p : found->second.points)
    if (p.begin_s >= period.begin_s && p.begin_s < period.end_s) messages += p.messages;
  if (messages <= most_messages) return std::nullopt;
  return worst_windows(found->second.points, period.begin_s, period.end_s);
}

std::optional<SelectedPeriod> busy_period(const Region* region, const session::History* history, bool live) {
  if (region == nullptr || history == nullptr) return std::nullopt;
  const auto found = history->regions().find(region->id);
  if (found == history->regions().end()) return std::nullopt;
  const Points& points = found->second.points;
  if (live) return newest_windows(points);
  const Period* worst = worst_period(*region);
  const auto inside = worst ? worst_windows(points, worst->begin_s, worst->end_s) : std::nullopt;
  return inside ? inside : worst_windows(points, -1e9, 1e9);
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

std::optional<DagQuestion> graph_question(const Snapshot& snapshot, const Selection& selection, bool live, double now_s,
                                          const session::History* history) {
  DagQuestion question;
  const Region* region = nullptr;
  if (selection.ranks.size() > 1) question.ranks = selection.ranks;
  else if (selection.region && (region = find(snapshot, *selection.region)) != nullptr) question.region = region->id;
  else return std::nullopt;
  std::optional<SelectedPeriod> period = selection.period;
  if (period)
    if (const auto part = worst_part(*period, region, history)) period = part;
  if (!period) period = busy_period(region, history, live);
  if (!period) period = chosen_period(snapshot, region, live, now_s);
  question.from_ns = to_ns(period->begin_s);
  question.to_ns = std::max(to_ns(period->end_s), question.from_ns + 1);
  question.most_messages = most_messages;
  return question;
}

std::string missing_from(const Snapshot& snapshot, const Selection& selection) {
  const auto none = [](const char* what, std::int64_t wanted, std::size_t count) {
    return std::string("no ")
        .append(what)
        .append(" ")
        .append(std::to_string(wanted))
        .append(" here: there are ")
        .append(std::to_string(count))
        .append(" ")
        .append(what)
        .append(count == 1 ? "" : "s");
  };
  if (selection.region && find(snapshot, *selection.region) == nullptr)
    return none("region", *selection.region, snapshot.regions.size());
  const std::int32_t ranks = std::max(snapshot.application.ranks, 0);
  const std::int32_t highest =
      std::max(selection.rank.value_or(-1), selection.ranks.empty() ? -1 : selection.ranks.back());
  if (highest >= ranks) return none("rank", highest, static_cast<std::size_t>(ranks));
  const std::size_t findings = snapshot.attribution.findings.size();
  if (selection.finding && *selection.finding >= findings)
    return none("finding", static_cast<std::int64_t>(*selection.finding), findings);
  return {};
}

void choose_finding(const Snapshot& snapshot, std::size_t index, Selection& selection) {
  if (index >= snapshot.attribution.findings.size()) return;
  const Finding& finding = snapshot.attribution.findings[index];
  selection.finding = index;
  if (const Region* region = region_of(snapshot, finding)) selection.region = region->id;
  if (finding.end_s > finding.begin_s) selection.period = SelectedPeriod{finding.begin_s, finding.end_s};
  if (!finding.ranks.empty() && finding.ranks[0] >= 0) selection.rank = finding.ranks[0];
  if (finding.site != 0 && selection.rank) selection.site = SelectedSite{*selection.rank, finding.site};
}

bool choose_worst(const Snapshot& snapshot, bool live, Selection& selection) {
  const auto& findings = snapshot.attribution.findings;
  for (std::size_t i = 0; i < findings.size(); ++i) {
    if (!(findings[i].confidence >= 0.5) || !region_of(snapshot, findings[i])) continue;
    choose_finding(snapshot, i, selection);
    if (live) selection.period.reset();  // it goes on
    return true;
  }
  const auto worse = [](const Region& a, const Region& b) { return a.level() < b.level(); };
  const auto worst = std::max_element(snapshot.regions.begin(), snapshot.regions.end(), worse);
  if (worst == snapshot.regions.end()) return false;
  selection.region = worst->id;
  return true;
}

void follow_region(const Snapshot& snapshot, FollowedRegion& followed, Selection& selection) {
  if (!selection.region) return;
  if (const Region* here = find(snapshot, *selection.region)) {
    if (followed.id != here->id) followed = {here->id, here->ranks};
    return;
  }
  if (followed.id != *selection.region) return;
  const Region* next = nullptr;
  std::size_t most = 0;
  for (const Region& region : snapshot.regions) {
    std::vector<std::int32_t> shared;
    std::set_intersection(region.ranks.begin(), region.ranks.end(), followed.ranks.begin(), followed.ranks.end(),
                          std::back_inserter(shared));
    if (shared.size() > most) most = shared.size(), next = &region;
  }
  if (next == nullptr) return;
  selection.region = next->id;
  followed = {next->id, next->ranks};
}

}  // namespace pclscope::gui
