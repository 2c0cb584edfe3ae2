// pclscope inspect TARGET waits: how long ranks waited for others, in which wait state, where, and for whom.
#include "viewer/inspect/topic.hpp"
#include "viewer/text/quantities.hpp"
#include "viewer/views/wait_state_rows.hpp"

namespace pclscope::commands {
namespace {

int show_waits(const InspectWords& words, InspectedRun& run) {
  const bool some = !words.ranks.empty() || words.from_ns || words.to_ns;
  if (some && run.session->live())
    return fail(could_not, "a running job gives summaries only: give the dump file for --rank, --from and --to");
  std::vector<WaitStateSum> rows = views::wait_states_of(run.snapshot);
  std::optional<std::string> why;
  if (some) {
    const auto span = span_of(words, run);
    if (!span) return fail(span.error());
    auto stored = views::stored_wait_states(*run.session, run.snapshot, words.ranks, *span);
    if (!stored) return fail(could_not, stored.error().message);
    rows = std::move(*stored);
    why = why_partial(run);
  }
  const std::size_t left_out = cut_text(words, rows);
  const views::Sites sites(run.snapshot.sites);
  const auto lines = [&](const views::PageOptions& page) {
    std::vector<std::string> text = views::wait_state_lines(rows, sites, page.width);
    if (left_out > 0 && !words.limit)
      text.push_back("... " + text::format_count(left_out) + " more, that waited less; --limit N shows more");
    return text;
  };
  return show(
      words, run, why, lines, [&] { return views::wait_state_rows(rows, sites); },
      [&]() -> session::Json {
        return {
            {"wait_states", array_of(rows, [&](const WaitStateSum& w) { return views::wait_state_json(w, sites); })}};
      });
}

}  // namespace

extern const Topic waits_topic;
const Topic waits_topic{"waits", takes::tables | takes::rank | takes::period, show_waits};

}  // namespace pclscope::commands
