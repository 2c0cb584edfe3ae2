#include "viewer/screen/pages.hpp"

#include <string>
#include <utility>

#include "analysis/blocked/deadlock_text.hpp"
#include "interpose/record/functions.hpp"
#include "viewer/text/quantities.hpp"
#include "viewer/text/rank_list.hpp"
#include "viewer/views/activity_rows.hpp"
#include "viewer/views/finding_rows.hpp"

namespace pclscope::screen {

PageText finding_page(const ScreenModel& model, std::size_t width) {
  const Finding* finding = model.finding();
  if (finding == nullptr) return {"finding", {line_of("This finding no longer holds. Esc goes back.")}};
  PageText page{std::string("FINDING: ").append(views::cause_word(finding->cause)), {}};
  append(page.lines, wrapped(views::finding_line(*finding, *model.snapshot(), model.sites()), width, 2, Style::strong));
  page.lines.push_back(Line{});
  if (finding->evidence.empty()) page.lines.push_back(line_of("no evidence is given"));
  for (const std::string& sentence : finding->evidence) append(page.lines, wrapped("- " + sentence, width, 2));
  if (!finding->advice.empty()) {
    page.lines.push_back(Line{});
    append(page.lines, wrapped("=> " + finding->advice, width, 3, Style::strong));
  }
  if (const std::string site = model.sites().location(finding->site); !site.empty()) {
    page.lines.push_back(Line{});
    append(page.lines, wrapped("code to look at: " + site, width, 2));
  }
  if (!finding->ranks.empty())
    append(page.lines, wrapped("ranks where it begins: " + text::compact_ranks(finding->ranks, width * 3), width, 2));
  return page;
}

PageText blocked_page(const ScreenModel& model, std::size_t width) {
  const views::BlockedGroup* group = model.blocked_group();
  if (group == nullptr) return {"blocked ranks", {line_of("These ranks are no longer blocked. Esc goes back.")}};
  const RankSummary& like = group->like;
  PageText page{"BLOCKED: " + std::to_string(group->ranks.size()) + (group->ranks.size() == 1 ? " rank" : " ranks") +
                    " in " + std::string(record::function_name(like.call_function)),
                {}};
  append(page.lines, wrapped("ranks      " + text::compact_ranks(group->ranks, width * 3), width, 11));
  page.lines.push_back(
      line_of("longest    rank " + std::to_string(like.rank) + ", for " + text::format_seconds(like.call_for_s)));
  const std::string site = model.sites().location(like.call_site);
  append(page.lines, wrapped("called at  " + (site.empty() ? "not known" : site), width, 11));
  append(page.lines, wrapped("waits for  " + blocked::waits_text(like), width, 11));
  if (like.call_peer >= 0) page.lines.push_back(line_of("peer       " + std::to_string(like.call_peer)));
  if (like.call_tag >= 0) page.lines.push_back(line_of("tag        " + std::to_string(like.call_tag)));
  return page;
}

PageText calls_page(const ScreenModel& model, std::size_t width) {
  constexpr std::size_t rows = 12;
  PageText page{"CALLS OVER TIME: share of the ranks inside each MPI function", {}};
  if (model.snapshot() == nullptr) return page;
  for (std::string& text : views::stack_lines(views::activity_of(*model.snapshot()), width, rows))
    page.lines.push_back(line_of(std::move(text)));
  return page;
}

PageText help_page(std::size_t width) {
  constexpr std::pair<const char*, const char*> rows[] = {
      {"q, Ctrl-C", "quit"},
      {"p, Space", "pause: the picture stands still, data is still collected"},
      {"s / r", "sort by the next column / the other way round"},
      {"up down, k j", "select; PgUp PgDn Home End too"},
      {"Enter, right", "all about what is selected"},
      {"Esc, left", "back"},
      {"Tab, Shift-Tab", "next, previous section (*); in a page: next entry"},
      {"c", "calls over time: what everybody is doing; again: back"},
      {"l", "who is late in the newest phases of logical time; s: other order"},
      {"a", "plain characters instead of blocks, and back"},
      {"Ctrl-L", "draw again"},
      {"?, h", "this page, and back"},
      {"", ""},
      {"region", "ranks that talk to each other more than to others"},
      {"ratio", "time of a message over the usual time of its size and way: 1 is ordinary"},
      {"now, mean", "mean ratio of the newest window, and since the beginning"},
      {"late", "share of messages that took longer than usual"},
      {"period", "the newest time of growth, or steadily above the average"},
      {"history", "mean ratio per window, newest right, all regions on one scale"},
      {"!", "ratio of 3 or more now; of a finding: sure, and it still acts"},
      {"blocked", "ranks inside one MPI call for 0.1 s or longer"}};
  constexpr std::size_t indent = 16;
  PageText page{"HELP", {}};
  for (const auto& [word, meaning] : rows) {
    append(page.lines,
           wrapped(std::string(word).append(indent - std::char_traits<char>::length(word), ' ').append(meaning), width,
                   indent));
  }
  page.lines.push_back({{{"colours         ", Style::plain},
                         {"below the usual", Style::cold},
                         {", ", Style::plain},
                         {"above", Style::warm},
                         {", ", Style::plain},
                         {"3 and more", Style::hot}},
                        false});
  return page;
}

}  // namespace pclscope::screen
