#include "viewer/screen/pages.hpp"
#include "viewer/text/quantities.hpp"
#include "viewer/views/late_phase_lines.hpp"

namespace pclscope::screen {
namespace {

constexpr std::size_t most_rows = 500;

}  // namespace

PageText phases_page(const ScreenModel& model, std::size_t width) {
  const PhaseNews& news = model.phases();
  PageText page{"PHASES: who is late", {}};
  if (!news.phases) {
    const bool reads = model.connection().phase == session::Phase::stored;
    append(page.lines, wrapped(!news.problem.empty() ? news.problem
                               : reads ? "reading messages: " + text::format_share(news.progress) + " so far"
                               : model.connection().phase == session::Phase::running
                                   ? "asking the job for its newest messages"
                                   : "the job is over: its dump has them (pclscope watch FILE)",
                               width, 2, Style::dim));
    return page;
  }
  append(page.lines, wrapped(views::late_phase_title(*news.phases), width, 2, Style::dim));
  if (!news.problem.empty()) append(page.lines, wrapped("nothing newer: " + news.problem, width, 2, Style::warm));
  for (const std::string& line : views::late_rank_lines(*news.phases)) append(page.lines, wrapped(line, width, 2));
  const bool latest = model.phase_order() == views::PhaseOrder::latest;
  page.lines.push_back(line_of(latest ? "those with most lateness first" : "the newest first", Style::dim));
  bool titles = true;
  for (std::string& text :
       views::late_phase_lines(*news.phases, model.phase_order(), model.sites(), width, most_rows)) {
    page.lines.push_back(line_of(std::move(text), titles ? Style::dim : Style::plain));
    titles = false;
  }
  return page;
}

}  // namespace pclscope::screen
