// pclscope inspect FILE phases: what repeats in a run, and who was late in it.
#include "viewer/inspect/stored_phases.hpp"
#include "viewer/inspect/topic.hpp"
#include "viewer/text/quantities.hpp"
#include "viewer/views/logical_rows.hpp"

namespace pclscope::commands {
namespace {

using session::Json;

int show_phases(const InspectWords& words, InspectedRun& run) {
  const auto stored = read_phases(words, run);
  if (!stored) return fail(stored.error());
  const logical::LogicalTime& time = stored->time;
  std::vector<views::PhaseRow> rows;
  auto before = logical::phases_before(time);
  for (const std::uint32_t p : chosen_phases(words, *stored)) {
    const logical::Phase& phase = time.phases[p];
    rows.push_back(
        {p, phase.first_step, phase.first_step + phase.steps - 1, logical::sum_of(time, phase), std::move(before[p])});
  }
  const std::size_t left_out = keep_shown(words, rows);
  const views::Sites sites(run.snapshot.sites);
  const auto lines = [&](const views::PageOptions& page) {
    if (rows.empty())
      return std::vector<std::string>{"no phases: no messages or collectives of this period are stored"};
    std::vector<std::string> text = views::phase_lines(rows, sites, page.width);
    if (left_out > 0)
      text.push_back("... " + text::format_count(left_out) +
                     " more, in which ranks were less late; --limit N shows more");
    return text;
  };
  return show(
      words, run, stored->why_partial, lines, [&] { return views::phase_rows(rows, sites); },
      [&] {
        return Json{{"phases", array_of(rows, [&](const views::PhaseRow& r) { return views::phase_json(r, sites); })},
                    {"left_out", time.left_out}};
      });
}

}  // namespace

extern const Topic phases_topic;
const Topic phases_topic{"phases", takes::tables | takes::rank | takes::period | takes::phase | takes::lines,
                         show_phases};

}  // namespace pclscope::commands
