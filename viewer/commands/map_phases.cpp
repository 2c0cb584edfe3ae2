#include "viewer/commands/map_phases.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>

#include "viewer/text/quantities.hpp"
#include "viewer/text/table.hpp"

namespace pclscope::commands {
namespace {

using mapping::MappingCost;
using mapping::MappingProblem;
using mapping::Objective;
using session::finite;
using session::Json;

constexpr double much_less = 0.1;  // of the objective, by which an own placement is worth telling
constexpr double little = 0.01;    // of what the run has of it: phases with less want nothing

std::vector<double> changes_of(const Snapshot& run) {
  std::vector<double> times;
  for (const Region& r : run.ended_regions)
    if (r.until_s > 0 && r.until_s < run.duration_s) times.push_back(r.until_s);
  std::sort(times.begin(), times.end());
  times.erase(std::unique(times.begin(), times.end()), times.end());
  return times;
}

// Each phase's messages by pair; those that were sent before a change belong to what was before.
Result<std::vector<mapping::Traffic>> traffic_of(session::Session& session, const std::vector<double>& changes,
                                                 std::int32_t ranks) {
  struct Sum {
    std::uint64_t messages = 0;
    double bytes = 0;
  };
  std::vector<std::map<std::pair<std::int32_t, std::int32_t>, Sum>> pairs(changes.size() + 1);
  const Status read = session.messages({}, [&](std::span<const Message> batch) {
    for (const Message& m : batch) {
      if (m.source < 0 || m.destination < 0 || m.source >= ranks || m.destination >= ranks) continue;
      const auto after = std::upper_bound(changes.begin(), changes.end(), static_cast<double>(m.send_begin) * 1e-9);
      Sum& sum = pairs[static_cast<std::size_t>(after - changes.begin())][{m.source, m.destination}];
      ++sum.messages;
      sum.bytes += static_cast<double>(m.bytes);
    }
    return true;
  });
  if (!read) return read.error();
  std::vector<mapping::Traffic> phases;
  for (const auto& phase : pairs) {
    phases.push_back({ranks, {}});
    for (const auto& [pair, sum] : phase)
      phases.back().flows.push_back({pair.first, pair.second, sum.messages, sum.bytes});
  }
  return phases;
}

std::optional<WhatIf> told(const session::PlacementGain& gain) {
  if (!gain.why_not.empty()) return std::nullopt;
  return gain.what_if;
}

std::string value_text(double value, Objective objective) {
  if (objective == Objective::time) return text::format_seconds(value);
  if (objective == Objective::inter_messages) return text::format_count(static_cast<std::uint64_t>(value));
  return text::format_bytes(value);
}

std::string gain_text(const std::optional<WhatIf>& w) {
  if (!w) return "-";
  char text[32];
  std::snprintf(text, sizeof text, "%+.1f %%", -100 * w->gain());
  return text == std::string("-0.0 %") ? text + 1 : text;
}

}  // namespace

Result<MapPhases> map_phases(const std::string& path, const MappingProblem& problem,
                             const std::vector<std::int32_t>& current, const std::vector<std::int32_t>& common,
                             const session::RecordedCalls* calls, const std::optional<LinkTimes>& given) {
  const auto session = session::open_stored(path);
  if (!session) return session.error();
  const auto news = (*session)->newer(std::chrono::milliseconds{0});
  if (!news) return news.error();
  if (!*news) return Error{ErrorCode::not_found, "the dump has no summary"};
  const Snapshot& run = **news;
  if ((*session)->message_count() == 0)
    return Error{ErrorCode::not_found, "--per-phase needs the run's messages, and the dump has none (--keep all)"};
  const std::vector<double> changes = changes_of(run);
  const auto traffic = traffic_of(**session, changes, run.application.ranks);
  if (!traffic) return traffic.error();
  MapPhases found;
  if ((*session)->messages_not_stored() > 0)
    found.note = "of phases only the messages that the dump has are counted: " +
                 text::format_count((*session)->messages_not_stored()) + " are not in it (--keep all)";
  double all = 0;
  const auto hops = [&](std::int32_t from, std::int32_t to) { return problem.topology.hops(from, to); };
  for (std::size_t k = 0; k < traffic->size(); ++k) {
    MapPhase phase;
    phase.begin_s = k == 0 ? 0 : changes[k - 1];
    phase.end_s = k < changes.size() ? changes[k] : run.duration_s;
    for (const mapping::Flow& f : (*traffic)[k].flows) phase.messages += f.messages;
    if (phase.messages == 0) continue;
    MappingProblem of_phase{(*traffic)[k], problem.topology,  problem.capacity,
                            common,        problem.objective, problem.effort};
    of_phase.times = problem.times;
    auto own = mapping::find_mapping(of_phase);
    if (!own) return own.error();
    phase.now = cost_of((*traffic)[k], problem.topology, current, true, problem.times);
    phase.common = own->before;
    phase.own = own->after;
    phase.node_of_rank = std::move(own->node_of_rank);
    if (value_of(phase.now, problem.objective) < value_of(phase.own, problem.objective)) {
      phase.own = phase.now;
      phase.node_of_rank = current;
    }
    all += value_of(phase.now, problem.objective);
    if (calls != nullptr) {
      const auto ns = [](double s) { return static_cast<std::int64_t>(std::llround(s * 1e9)); };
      const session::TimeSpan span{ns(phase.begin_s), ns(phase.end_s)};
      phase.gain_common = told(calls->gain(common, hops, given, span));
      phase.gain_own = told(calls->gain(phase.node_of_rank, hops, given, span));
    }
    found.phases.push_back(std::move(phase));
  }
  for (MapPhase& phase : found.phases) {
    const double shared = value_of(phase.common, problem.objective);
    phase.apart = shared - value_of(phase.own, problem.objective) > much_less * shared && shared > little * all;
  }
  return found;
}

std::vector<std::string> lines_of(const MapPhases& phases, Objective objective, const std::string& measure) {
  std::vector<std::string> lines;
  if (phases.phases.size() < 2) {
    lines = {"phases: the pattern of communication did not change, one placement serves the whole run"};
    if (!phases.note.empty()) lines.push_back(phases.note);
    return lines;
  }
  text::Table table;
  for (const char* title : {"phase", "from", "to", "messages"}) table.column(title, text::Align::right);
  table.column(measure + " now", text::Align::right);
  for (const char* title : {"with one for all", "with its own", "time, one for all", "its own"})
    table.column(title, text::Align::right);
  std::string apart;
  for (std::size_t k = 0; k < phases.phases.size(); ++k) {
    const MapPhase& p = phases.phases[k];
    table.row({std::to_string(k + 1), text::format_moment(p.begin_s), text::format_moment(p.end_s),
               text::format_count(p.messages), value_text(value_of(p.now, objective), objective),
               value_text(value_of(p.common, objective), objective), value_text(value_of(p.own, objective), objective),
               gain_text(p.gain_common), gain_text(p.gain_own)});
    if (p.apart) apart += (apart.empty() ? "" : ", ") + std::to_string(k + 1);
  }
  lines = table.lines();
  lines.push_back(apart.empty()
                      ? "No phase would have a tenth less with a placement of its own."
                      : "Phases want different placements: " + apart +
                            " would have at least a tenth less with one of their own. A run of its own for each, or "
                            "ranks that exchange their work in between, would have it; the file is for all phases.");
  if (!phases.note.empty()) lines.push_back(phases.note);
  return lines;
}

Json json_of(const MapPhases& phases, Objective objective) {
  Json array = Json::array();
  const auto gain = [](const std::optional<WhatIf>& w) {
    return w ? Json{{"gain_s", finite(w->gain_s())}, {"share", finite(w->gain())}} : Json(nullptr);
  };
  for (const MapPhase& p : phases.phases)
    array.push_back({{"begin_s", finite(p.begin_s)},
                     {"end_s", finite(p.end_s)},
                     {"messages", p.messages},
                     {"now", finite(value_of(p.now, objective))},
                     {"common", finite(value_of(p.common, objective))},
                     {"own", finite(value_of(p.own, objective))},
                     {"wants_own", p.apart},
                     {"brings_common", gain(p.gain_common)},
                     {"brings_own", gain(p.gain_own)},
                     {"node_of_rank", p.node_of_rank}});
  return array;
}

}  // namespace pclscope::commands
