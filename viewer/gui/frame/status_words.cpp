#include "viewer/gui/frame/status_words.hpp"

#include <algorithm>
#include <cmath>

#include "interpose/record/functions.hpp"
#include "viewer/session/summary_json.hpp"
#include "viewer/text/printable.hpp"
#include "viewer/text/quantities.hpp"
#include "viewer/views/missing_text.hpp"
#include "viewer/views/period_text.hpp"
#include "viewer/views/sentences.hpp"

namespace pclscope::gui {
namespace {

using session::Phase;

constexpr double shortest_window_s = 0.1, late_windows = 3, silent_windows = 10;

double window_of(const Scene& scene) {
  const double window = scene.snapshot ? scene.snapshot->live.window_s : 0;
  return std::isfinite(window) ? std::clamp(window, shortest_window_s, 3600.0) : shortest_window_s;
}

double counted(double seconds) { return std::isfinite(seconds) && seconds > 0 ? seconds : 0; }

std::string because(const std::string& problem) {
  return problem.empty() ? "" : std::string(": ").append(text::printable(problem));
}

std::string again(const Connection& c) {
  if (c.reconnects == 0) return "";
  return std::string(" (connected again ")
      .append(c.reconnects == 1 ? "once" : text::format_count(c.reconnects).append(" times"))
      .append(")");
}

std::string opening_text(const Connection& c) {
  std::string text = "opening";
  if (c.progress > 0 && c.progress <= 1) text.append(" ").append(text::format_share(c.progress));
  return text;
}

std::string counted_text(std::size_t count, const char* one, const char* many) {
  return text::format_count(count) + " " + (count == 1 ? one : many);
}

// Those that are there only when something is wrong.
void add_losses(std::vector<StatusItem>& items, const Snapshot& s) {
  const MessageTotals& m = s.messages;
  const auto add = [&](std::uint64_t count, const char* name, const char* meaning) {
    if (count > 0)
      items.push_back({std::string(name).append(text::format_short_count(count)), Urgency::warning, meaning});
  };
  add(m.half_recorded, "half recorded ",
      "Messages with one side recorded only, the other dropped or switched off: counted, without "
      "times.");
  add(m.clock_violations, "clock violations ",
      "Messages that were received before they were sent: clocks of nodes differ by more than "
      "they should.");
  add(s.network.messages_left_out, "on their nodes only ",
      "Messages that were counted and measured on their nodes, but not sent to the "
      "root: the traffic budget.");
  if (!s.network.dead_nodes.empty())
    items.push_back(
        {counted_text(s.network.dead_nodes.size(), "node is not recorded any more", "nodes are not recorded any more"),
         Urgency::bad,
         "Their aggregators died, or one of several of a node: what its ranks do is not recorded from then on."});
}

}  // namespace

StatusItem connection_item(const Scene& scene) {
  const Connection& c = scene.connection;
  if (only_traffic(scene) && c.phase == Phase::stored)
    return {"traffic, no run", Urgency::calm,
            "A file of traffic or routes: only the network's views have something to show."};
  switch (c.phase) {
    case Phase::opening: return {opening_text(c), Urgency::warning, "The job or file is being opened."};
    case Phase::running: return {"running" + again(c), Urgency::good, "The job runs; the views move with it."};
    case Phase::finished:
      return {"finished" + again(c), Urgency::calm,
              "The job has ended in order: this is its last state, nothing newer will come."};
    case Phase::lost:
      return {"LOST" + because(c.problem), Urgency::bad,
              "The job's aggregator died or does not answer. The views are dimmed: they show the last state that "
              "came, not the present. "
              "pclscope goes on trying to connect."};
    case Phase::stored:
      if (scene.snapshot && !scene.snapshot->finished) {
        return {
            "stored, incomplete", Urgency::warning,
            "A dump without the end of the run: the run was cut off, or still goes on, or the file is not all there."};
      }
      if (const std::string missing = scene.snapshot ? views::missing_text(*scene.snapshot, true) : "";
          !missing.empty())
        return {"stored, incomplete", Urgency::warning, "A dump that lacks something: " + missing + "."};
      return {"stored", Urgency::calm, "A dump: a run that was recorded, nothing moves."};
    case Phase::failed: return {"FAILED" + because(c.problem), Urgency::bad, "The job or file could not be opened."};
  }
  return {"unknown", Urgency::warning, ""};
}

StatusItem age_item(const Scene& scene, std::int64_t now_realtime_ns) {
  const Connection& c = scene.connection;
  const double silent = counted(c.silent_s), window = window_of(scene);
  if (c.phase == Phase::lost)
    return {"no news for " + text::format_seconds(silent), Urgency::bad, "Since the last snapshot came."};
  if (c.phase != Phase::running) return {};
  if (!scene.snapshot)
    return {"no news yet", silent > silent_windows * window ? Urgency::bad : Urgency::warning,
            "No snapshot has come so far."};
  // -1: not known. Paused, the snapshot's age says nothing of the connection.
  const double age = scene.paused ? -1 : session::age_s(*scene.snapshot, now_realtime_ns).value_or(-1);
  const double worst = std::max(silent, counted(age));
  StatusItem item{"",
                  worst > silent_windows * window ? Urgency::bad
                  : worst > late_windows * window ? Urgency::warning
                                                  : Urgency::calm,
                  "Snapshots come every window (" + text::format_seconds(window) +
                      "). Amber: the newest is more than three windows old, red: more than ten."};
  if (silent > late_windows * window) item.text = "no news for " + text::format_seconds(silent);
  else if (scene.paused) item.text = "news goes on";
  else item.text = age < 0 ? "age of data unknown" : "data " + text::format_seconds(age) + " old";
  return item;
}

StatusItem job_item(const Scene& scene) {
  if (!scene.snapshot) return {text::printable(scene.connection.name), Urgency::calm, ""};
  const Snapshot& s = *scene.snapshot;
  const Application& app = s.application;
  if (only_traffic(scene))
    return {text::printable(app.command) + ", " +
                counted_text(static_cast<std::size_t>(std::max(app.ranks, 0)), "rank", "ranks"),
            Urgency::calm, "The file and the network."};
  std::string text = text::printable(s.job.empty() ? scene.connection.name : s.job);
  if (!app.command.empty()) text.append("  ").append(text::printable(std::string_view(app.command).substr(0, 200)));
  text += ", " + counted_text(static_cast<std::size_t>(std::max(app.ranks, 0)), "rank", "ranks") + " on " +
          counted_text(app.nodes.size(), "node", "nodes");
  text += ", " + (app.mpi.empty() ? views::so_far(s, "MPI not known")
                                  : text::printable(std::string_view(app.mpi).substr(0, 80)));
  return {text + ", " + text::format_moment(session::elapsed_s(s)), Urgency::calm,
          "Name and command of the job, and how long it has run."};
}

std::vector<StatusItem> count_items(const Scene& scene) {
  if (!scene.snapshot || only_traffic(scene)) return {};
  const Snapshot& s = *scene.snapshot;
  const MessageTotals& m = s.messages;
  const bool over = scene.connection.phase == Phase::finished || scene.connection.phase == Phase::stored;
  const bool orphans = over && m.unmatched_sends + m.unmatched_receives > 0;
  std::vector<StatusItem> items;
  items.push_back(
      {"matched " + text::format_count(m.matched), Urgency::calm, "Messages whose send and receive were both found."});
  items.push_back({"unmatched " + text::format_short_count(m.unmatched_sends) + "+" +
                       text::format_short_count(m.unmatched_receives),
                   orphans ? Urgency::warning : Urgency::calm,
                   over ? "Sends and receives that never found a partner."
                        : "Sends and receives without a partner so far: messages on their way."});
  items.push_back({"ambiguous " + text::format_short_count(m.ambiguous),
                   m.ambiguous > 0 ? Urgency::warning : Urgency::calm,
                   "Messages that were completed, but whose pairing is not certain (after a drop, or a race)."});
  items.push_back(
      {"dropped " + text::format_short_count(m.dropped_events), m.dropped_events > 0 ? Urgency::warning : Urgency::calm,
       "Events lost because a rank was faster than the analysis. 0 is what you want: else counts are too low."});
  add_losses(items, s);
  return items;
}

StatusItem clock_item(const Snapshot& s) {
  if (s.application.nodes.size() < 2) return {};
  if (s.network.clocks.empty())
    return {views::so_far(s, "clocks not compared"), Urgency::calm,
            views::is_over(s) ? "How well the nodes' clocks agreed is not known."
                              : "How well the nodes' clocks agree is being measured."};
  double worst = 0;
  bool known = true;
  for (const ClockState& clock : s.network.clocks) {
    if (!std::isfinite(clock.error_s)) known = false;
    else worst = std::max(worst, std::fabs(clock.error_s));
  }
  const char* meaning =
      "A bound of the error between nodes' clocks. Amber: it is more than the median latency, so that single "
      "messages "
      "between nodes cannot be timed.";
  if (!known) return {"clock error not known", Urgency::warning, meaning};
  const bool coarse = s.latency.median_s > 0 && worst > s.latency.median_s;
  return {"clocks within " + text::format_seconds(worst), coarse ? Urgency::warning : Urgency::calm, meaning};
}

StatusItem memory_item(const Snapshot& s) {
  const Retention& r = s.retention;
  const auto bytes = [](std::uint64_t n) { return text::format_bytes(static_cast<double>(n)); };
  const std::string budget = views::budget_line(r), kept = views::kept_line(r);
  StatusItem item{"", budget.empty() ? Urgency::calm : Urgency::warning,
                  "What the aggregator's memory and the dump keep of single messages."};
  const auto add = [&](const char* name, std::uint64_t used, std::uint64_t budget_bytes) {
    if (used == 0 && budget_bytes == 0) return;
    item.text.append(item.text.empty() ? "" : ", ").append(name).append(bytes(used));
    if (budget_bytes > 0) item.text.append(" of ").append(bytes(budget_bytes));
  };
  add("memory ", r.memory_bytes, r.memory_budget_bytes);
  add("dump ", r.file_bytes, r.budget_bytes);
  const std::string& more = budget.empty() ? kept : budget;
  if (!more.empty()) item.meaning.append("\n").append(more);
  if (const std::string shed = views::shed_line(r); !budget.empty() && !shed.empty())
    item.meaning.append("\n").append(shed);
  return item;
}

}  // namespace pclscope::gui
