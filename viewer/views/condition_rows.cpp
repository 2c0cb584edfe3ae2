#include "viewer/views/condition_rows.hpp"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "viewer/session/row_json.hpp"
#include "viewer/text/printable.hpp"
#include "viewer/text/quantities.hpp"
#include "viewer/text/rank_list.hpp"
#include "viewer/text/table.hpp"
#include "viewer/views/json_rows.hpp"
#include "viewer/views/node_rows.hpp"

namespace pclscope::views {
namespace {

using session::Json;

constexpr const char* condition_words[] = {"more-ranks-than-cores", "ranks-on-one-core", "other-load", "quota",
                                           "own-threads"};
constexpr double some_load = 0.1;  // cores

std::string counted(std::uint32_t count, const char* one, const char* many) {
  return std::to_string(count) + " " + (count == 1 ? one : many);
}

std::string ranks_text(const Condition& c) {
  if (c.ranks_met == 0) return "its ranks";
  std::string text = (c.ranks_met == 1 ? "rank " : "ranks ") + text::compact_ranks(c.ranks, 24);
  if (c.ranks_met > c.ranks.size()) text += " and others (" + std::to_string(c.ranks_met) + " in all)";
  return text;
}

std::string cores_text(double cores) {
  char text[32];
  std::snprintf(text, sizeof text, "%.3g", std::isfinite(cores) ? cores : 0);
  return text;
}

std::string where(const Condition& c, const Snapshot& s) {
  return (c.core >= 0 ? "core " + std::to_string(c.core) : counted(c.cores, "core", "cores")) + " of " +
         node_name(s, c.node);
}

bool is_ours(const Condition& c) { return c.process.starts_with("pclscope-"); }

std::string load_text(const Condition& c, const Snapshot& s) {
  if (c.load < some_load)
    return ranks_text(c) + " did not have " + where(c, s) + (c.ranks_met == 1 ? " for itself" : " for themselves") +
           "; what ran instead cannot be seen";
  const std::string used = c.core >= 0 ? text::format_share(c.load) + " of core " + std::to_string(c.core)
                                       : cores_text(c.load) + " of the " + counted(c.cores, "core", "cores");
  const std::string whose =
      " of " + node_name(s, c.node) + " that " + ranks_text(c) + (c.ranks_met == 1 ? " runs on" : " run on");
  if (c.pid == 0) return "others than the job, which cannot be seen, used " + used + whose;
  const bool alone = c.process_load > 0.8 * c.load;
  if (is_ours(c))
    return std::string("pclscope's own aggregator") + (alone ? "" : " and others") + " used " + used + whose;
  return std::string("a foreign process, ") + std::to_string(c.pid) + " (" + text::printable(c.process) + ")" +
         (alone ? "" : ", and others") + ", used " + used + whose;
}

std::string what(const Condition& c, const Snapshot& s) {
  switch (c.kind) {
    case ConditionKind::more_ranks_than_cores: {
      const std::string ranks = c.ranks_met == 0 ? "ranks" : counted(c.ranks_met, "rank", "ranks");
      return "more ranks than cores: " + ranks + " (" + text::compact_ranks(c.ranks, 24) + ") may use " + where(c, s);
    }
    case ConditionKind::one_core: return ranks_text(c) + (c.ranks_met == 1 ? " shares " : " share ") + where(c, s);
    case ConditionKind::other_load: return load_text(c, s);
    case ConditionKind::quota:
      return "a quota of " + cores_text(c.quota_cores) + " cores for " + ranks_text(c) + " on " + node_name(s, c.node) +
             ", used up in " + text::format_share(c.throttled_share) + " of its periods";
    case ConditionKind::own_threads:
      return "their own threads share the cores of " + ranks_text(c) + ": beside the main threads they used " +
             cores_text(c.load) + " of " + where(c, s);
  }
  return "";
}

Json condition_json(const Condition& c, const Snapshot& s) {
  Json json = session::row_json<ConditionRow>(c);
  json["kind"] = condition_word(c.kind);
  json["node"] = c.node < 0 ? Json(nullptr) : Json(node_name(s, c.node));
  if (c.core < 0) json["core"] = nullptr;
  json["pid"] = c.pid == 0 ? Json(nullptr) : Json(c.pid);
  json["process"] = c.process.empty() ? Json(nullptr) : Json(c.process);
  json["ranks"] = c.ranks;
  json["sentence"] = condition_line(c, s);
  json["advice"] = condition_advice(c, s);
  return json;
}

std::vector<std::string> folded(const std::vector<std::string>& lines, std::size_t width, std::size_t indent) {
  if (width == 0) return lines;
  std::vector<std::string> parts;
  for (const std::string& line : lines)
    for (std::string& part : text::wrapped(line, width, indent)) parts.push_back(std::move(part));
  return parts;
}

// Ranks that ran, but of whose threads nothing is known.
std::vector<std::int32_t> unseen(const Snapshot& s) {
  std::vector<std::int32_t> ranks;
  for (const RankSummary& r : s.ranks)
    if (r.threads > 0 && r.running_s + r.off_core_s + r.asleep_s <= 0) ranks.push_back(r.rank);
  return ranks;
}

}  // namespace

const char* condition_word(ConditionKind kind) {
  const auto at = static_cast<std::size_t>(kind);
  return at < std::size(condition_words) ? condition_words[at] : "unknown";
}

std::string condition_line(const Condition& c, const Snapshot& s) {
  const double off = c.cost_s + c.in_mpi_s, time = c.active_s * c.ranks_met;
  std::string line = what(c, s);
  line += c.open && !s.finished ? ", since " + text::format_moment(c.begin_s)
                                : ", from " + text::format_moment(c.begin_s) + " to " + text::format_moment(c.end_s);
  line += ": off the core ";
  if (time > 0) line += text::format_share(std::min(1.0, off / time)) + " of the time, ";
  line += text::format_seconds(c.cost_s) + " of ranks' time while computing";
  if (c.in_mpi_s > 0) line += " and " + text::format_seconds(c.in_mpi_s) + " inside MPI";
  return line;
}

std::string condition_advice(const Condition& c, const Snapshot& s) {
  switch (c.kind) {
    case ConditionKind::more_ranks_than_cores:
      return "Start at most " + counted(c.cores, "rank", "ranks") + " there, or take more cores.";
    case ConditionKind::one_core: return "Bind these ranks to cores of their own, or not at all (--bind-to none).";
    case ConditionKind::other_load:
      if (is_ours(c)) return "Leave it a core of the node, or attach to the job for a while only.";
      if (c.pid == 0) return "See what else runs on " + node_name(s, c.node) + " (top), or take the node alone.";
      return "End it, or keep it off these cores (taskset -p), or take the node alone.";
    case ConditionKind::quota:
      return "Raise the quota (cpu.max or cpu.cfs_quota_us of the cgroup, --cpus of a container), or start fewer "
             "ranks.";
    case ConditionKind::own_threads:
      return "Give each rank as many cores as it has threads (--map-by slot:PE=N), or fewer threads "
             "(OMP_NUM_THREADS).";
  }
  return "";
}

bool conditions_first(const Snapshot& snapshot) {
  double condition = 0, cause = 0;
  for (const Condition& c : snapshot.conditions) condition = std::max(condition, c.cost_s);
  for (const Finding& f : snapshot.attribution.findings)
    if (f.cause > Cause::unknown) cause = std::max(cause, f.lost_s);
  return condition > cause;
}

Json conditions_json(const Snapshot& snapshot) {
  Json list = Json::array();
  for (const Condition& c : snapshot.conditions) list.push_back(condition_json(c, snapshot));
  return list;
}

Rows condition_rows(const Snapshot& snapshot) {
  std::vector<Json> objects;
  for (const Condition& c : snapshot.conditions) objects.push_back(condition_json(c, snapshot));
  return rows_of(objects, condition_json({}, snapshot));
}

std::vector<std::string> condition_lines(const Snapshot& snapshot, std::size_t width) {
  std::vector<std::string> lines;
  const std::vector<std::int32_t> hidden = unseen(snapshot);
  if (snapshot.conditions.empty())
    lines.push_back(hidden.size() == snapshot.ranks.size() && !hidden.empty()
                        ? "no conditions are known"
                        : "no conditions: ranks had their cores whenever they could run");
  for (std::size_t i = 0; i < snapshot.conditions.size(); ++i) {
    const Condition& c = snapshot.conditions[i];
    if (i > 0) lines.push_back("");
    lines.push_back(std::to_string(i + 1) + ". " + condition_line(c, snapshot));
    lines.push_back("   => " + condition_advice(c, snapshot));
  }
  if (!hidden.empty())
    lines.push_back("of ranks " + text::compact_ranks(hidden, 60) +
                    " it is not known when they ran: their processes cannot be seen from the aggregator (another "
                    "container, an older dump)");
  return folded(lines, width, 5);
}

std::vector<std::string> condition_section(const Snapshot& snapshot, std::size_t most) {
  std::vector<std::string> lines;
  for (const Condition& c : snapshot.conditions) {
    if (lines.size() >= most) break;
    lines.push_back("condition: " + condition_line(c, snapshot));
    if (lines.size() < most) lines.push_back("     => " + condition_advice(c, snapshot));
  }
  return lines;
}

}  // namespace pclscope::views
