#include "viewer/commands/watch_pages.hpp"

#include <algorithm>

#include "viewer/session/live_logical.hpp"
#include "viewer/text/printable.hpp"
#include "viewer/views/activity_rows.hpp"
#include "viewer/views/late_phase_lines.hpp"
#include "viewer/views/watch_page.hpp"

namespace pclscope::commands {
namespace {

constexpr std::size_t stack_rows = 12;

std::vector<std::string> head_of(const Snapshot& snapshot) {
  std::vector<std::string> lines = views::header_lines(snapshot, {});
  lines.resize(1);  // whose job it is
  return lines;
}

std::vector<std::string> fitted(std::vector<std::string> lines, const views::PageOptions& options) {
  if (lines.size() > options.height) lines.resize(options.height);
  for (std::string& line : lines) line = text::clip(options.ascii ? text::ascii_only(line) : line, options.width);
  return lines;
}

}  // namespace

std::vector<std::string> calls_lines(const Snapshot& snapshot, const views::PageOptions& options) {
  std::vector<std::string> lines = head_of(snapshot);
  for (std::string& line : views::stack_lines(views::activity_of(snapshot), options.width, stack_rows))
    lines.push_back(std::move(line));
  return fitted(std::move(lines), options);
}

std::vector<std::string> phases_lines(session::Session& session, const Snapshot& snapshot,
                                      const views::PageOptions& options) {
  std::vector<std::string> lines = head_of(snapshot);
  const double length_s = session::live_period_s(session::MessageRate().look(snapshot), snapshot.live.window_s);
  const auto phases = session.live() ? session::newest_late_phases(session, snapshot, snapshot.duration_s, length_s)
                                     : session::stored_late_phases(session, snapshot, [](double) { return true; });
  if (!phases) {
    lines.push_back("phases: " + phases.error().message);
    return fitted(std::move(lines), options);
  }
  lines.push_back(views::late_phase_title(*phases));
  for (const std::string& line : views::late_rank_lines(*phases))
    for (std::string& part : text::wrapped(line, options.width, 2)) lines.push_back(std::move(part));
  const auto order = phases->stored ? views::PhaseOrder::latest : views::PhaseOrder::newest;
  const std::size_t used = lines.size() + 2;  // the table's titles, and a line for what was left out
  const std::size_t most = options.height > used ? options.height - used : 1;
  const views::Sites sites(snapshot.sites);
  for (std::string& line : views::late_phase_lines(*phases, order, sites, options.width, most))
    lines.push_back(std::move(line));
  return fitted(std::move(lines), options);
}

}  // namespace pclscope::commands
