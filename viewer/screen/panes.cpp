#include "viewer/screen/panes.hpp"

#include <algorithm>

#include "viewer/session/harm.hpp"
#include "viewer/text/printable.hpp"
#include "viewer/views/finding_rows.hpp"
#include "viewer/views/sentences.hpp"

namespace pclscope::screen {
namespace {

constexpr std::size_t most_findings = 50;  // laid out for one picture

// A finding and its advice, the first line marked when selected.
std::vector<Line> finding_entry(const ScreenModel& model, std::size_t row, std::size_t width) {
  const Snapshot& snapshot = *model.snapshot();
  const Finding& finding = snapshot.attribution.findings[row];
  const bool sure = session::is_believed(finding);
  const bool selected = row == model.selected(Section::findings);
  const std::string mark = std::string(selected ? ">" : " ").append(sure && finding.open ? "! " : "  ");
  const std::size_t room = std::max<std::size_t>(width, 10);
  std::vector<Line> lines = wrapped(mark + views::finding_line(finding, snapshot, model.sites()), room, 3);
  lines.front().bar = selected && model.section() == Section::findings;
  for (Line& line : lines) line.spans.front().style = sure ? Style::plain : Style::dim;
  if (sure && finding.open) lines.front().spans.front().style = Style::warm;
  if (sure && !finding.advice.empty()) {
    for (Line& line : wrapped("   => " + finding.advice, room, 6, Style::dim)) lines.push_back(std::move(line));
  }
  return lines;
}

std::string no_findings(const ScreenModel& model) {
  if (model.snapshot() == nullptr || model.snapshot()->messages.matched == 0)
    return ": " + not_yet(model, "no messages were matched");
  return ": " + not_yet(model, "none");
}

// The table of blocked groups in view, without its title line's word.
std::vector<std::string> blocked_rows(const ScreenModel& model, std::size_t first, std::size_t rows) {
  const auto& groups = model.blocked();
  const std::size_t end = std::min(first + rows, groups.size());
  const std::vector<views::BlockedGroup> seen(groups.begin() + static_cast<std::ptrdiff_t>(first),
                                              groups.begin() + static_cast<std::ptrdiff_t>(end));
  return views::blocked_section(seen, model.sites(), seen.size() + 1);
}

}  // namespace

std::string not_yet(const ScreenModel& model, const char* words) {
  return model.snapshot() != nullptr ? views::so_far(*model.snapshot(), words) : std::string(words) + " yet";
}

std::size_t first_in_view(std::size_t selected, std::size_t count, std::size_t rows) {
  if (count <= rows) return 0;
  return std::min(selected - std::min(selected, rows / 2), count - rows);
}

Line pane_title(const ScreenModel& model, Section section, const std::string& words, std::size_t first,
                std::size_t rows) {
  constexpr const char* names[] = {"REGIONS", "FINDINGS", "BLOCKED RANKS"};
  const std::size_t count = model.count(section);
  std::string numbers;
  if (count > rows) {
    numbers.append(" ")
        .append(std::to_string(first + 1))
        .append("-")
        .append(std::to_string(std::min(first + rows, count)));
    numbers.append(" of ").append(std::to_string(count));
  } else if (count > 0) {
    numbers.append(" ").append(std::to_string(count));
  }
  const bool focused = section == model.section();
  // The section that has the keys is marked by a sign as well.
  return {{{focused ? "* " : "  ", Style::strong},
           {names[static_cast<std::size_t>(section)], focused ? Style::section : Style::strong},
           {numbers + words, Style::dim}},
          false};
}

std::size_t wanted_lines(const ScreenModel& model, Section section, std::size_t width) {
  const std::size_t count = model.count(section);
  if (count == 0) return 1;
  if (section != Section::findings) return 2 + count;
  std::size_t lines = 1;
  for (std::size_t row = 0; row < std::min(count, most_findings); ++row)
    lines += finding_entry(model, row, width).size();
  return lines;
}

Pane finding_pane(const ScreenModel& model, std::size_t width, std::size_t height) {
  const std::size_t count = model.count(Section::findings);
  Pane pane;
  if (count == 0) {
    pane.lines.push_back(pane_title(model, Section::findings, no_findings(model), 0, 1));
    return pane;
  }
  // The selected finding has to be in view as a whole, if it fits: begin with it, go back while there is room.
  std::size_t first = model.selected(Section::findings);
  std::size_t used = 1 + finding_entry(model, first, width).size();
  while (first > 0) {
    const std::size_t more = finding_entry(model, first - 1, width).size();
    if (used + more > height) break;
    used += more;
    --first;
  }
  pane.lines.push_back(Line{});
  std::size_t row = first;
  for (; row < count && pane.lines.size() < height; ++row) {
    for (Line& line : finding_entry(model, row, width)) {
      if (pane.lines.size() < height) pane.lines.push_back(std::move(line));
    }
  }
  pane.rows = std::max<std::size_t>(row - first, 1);
  pane.lines.front() = pane_title(model, Section::findings, "", first, pane.rows);
  return pane;
}

Pane blocked_pane(const ScreenModel& model, std::size_t, std::size_t height) {
  const std::size_t count = model.count(Section::blocked);
  Pane pane;
  pane.rows = height > 2 ? height - 2 : 1;
  const std::size_t first = first_in_view(model.selected(Section::blocked), count, pane.rows);
  const bool over = model.snapshot() != nullptr && model.snapshot()->finished;
  const std::string none = over ? ": none, the run is over" : ": none inside one call for 0.1 s or longer";
  pane.lines.push_back(pane_title(model, Section::blocked, count > 0 ? ", those alike together, longest first" : none,
                                  first, pane.rows));
  if (count == 0 || height < 3) return pane;
  const std::vector<std::string> rows = blocked_rows(model, first, pane.rows);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const bool selected = i > 0 && first + i - 1 == model.selected(Section::blocked);
    Line line = line_of(std::string(selected ? "> " : "  ").append(rows[i]), i == 0 ? Style::dim : Style::plain);
    line.bar = selected && model.section() == Section::blocked;
    pane.lines.push_back(std::move(line));
  }
  return pane;
}

}  // namespace pclscope::screen
