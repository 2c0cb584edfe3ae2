// pclscope inspect FILE steps: the steps of phases, and who was late in each.
#include "viewer/inspect/stored_phases.hpp"
#include "viewer/inspect/topic.hpp"
#include "viewer/text/quantities.hpp"
#include "viewer/views/logical_rows.hpp"

namespace pclscope::commands {
namespace {

using session::Json;

int show_steps(const InspectWords& words, InspectedRun& run) {
  const auto stored = read_phases(words, run);
  if (!stored) return fail(stored.error());
  std::vector<views::StepRow> rows;
  for (const std::uint32_t p : chosen_phases(words, *stored))
    for (const logical::StepSum& step : logical::steps_of(stored->time, stored->time.phases[p], words.ranks))
      rows.push_back({p, step});
  const std::size_t left_out = keep_shown(words, rows);
  const views::Sites sites(run.snapshot.sites);
  const auto lines = [&](const views::PageOptions& page) {
    if (rows.empty()) return std::vector<std::string>{"no steps: no messages or collectives of this period are stored"};
    std::vector<std::string> text = views::step_lines(rows, sites, page.width);
    if (left_out > 0)
      text.push_back("... " + text::format_count(left_out) +
                     " more, in which ranks were less late; --limit N shows more");
    return text;
  };
  return show(
      words, run, stored->why_partial, lines, [&] { return views::step_rows(rows, sites); },
      [&] {
        return Json{{"steps", array_of(rows, [&](const views::StepRow& r) { return views::step_json(r, sites); })}};
      });
}

}  // namespace

extern const Topic steps_topic;
const Topic steps_topic{"steps", takes::tables | takes::rank | takes::period | takes::phase | takes::lines, show_steps};

}  // namespace pclscope::commands
