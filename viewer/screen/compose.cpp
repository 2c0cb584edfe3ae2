#include "viewer/screen/compose.hpp"

#include <algorithm>
#include <array>

#include "viewer/screen/pages.hpp"
#include "viewer/screen/panes.hpp"
#include "viewer/text/printable.hpp"
#include "viewer/text/quantities.hpp"
#include "viewer/views/condition_rows.hpp"
#include "viewer/views/sentences.hpp"
#include "viewer/views/watch_page.hpp"

namespace pclscope::screen {
namespace {

using Lines = std::vector<Line>;
using session::Phase;

constexpr std::size_t bottom_lines = 2;  // status and keys
constexpr std::size_t least_for_sentences = 22;

Lines header(const ScreenModel& model, std::size_t width, std::size_t height) {
  if (model.snapshot() == nullptr) return {line_of(model.name(), Style::strong)};
  Lines lines;
  for (std::string& text : views::header_lines(*model.snapshot(), model.freshness()))
    lines.push_back(line_of(std::move(text)));
  lines.front().spans.front().style = Style::strong;
  const std::size_t most = model.page() != Page::overview || height < 12 ? 1
                           : height < 18                                 ? 3
                                                                         : std::max<std::size_t>(height / 5, 4);
  if (lines.size() > most) lines.resize(most);
  if (model.page() != Page::overview || height < least_for_sentences) return lines;
  Lines first;
  for (std::string& text : views::sentence_lines(*model.snapshot(), model.sites(), width, height / 6))
    first.push_back(line_of(std::move(text)));
  lines.insert(lines.begin() + views::identity_lines, first.begin(), first.end());
  return lines;
}

Lines deadlocks(const ScreenModel& model, std::size_t width, std::size_t height) {
  Lines lines;
  if (model.snapshot() == nullptr) return lines;
  const views::PageOptions options{width, height, model.ascii()};
  const std::size_t most = std::max<std::size_t>(height / 4, 1);
  for (std::string& text : views::deadlock_banner(*model.snapshot(), model.sites(), most, options)) {
    lines.push_back(line_of(std::move(text), Style::bad));
  }
  return lines;
}

// Of the run, when there is room: a line each.
Lines conditions(const ScreenModel& model, std::size_t height) {
  Lines lines;
  if (model.snapshot() == nullptr || height < 16) return lines;
  for (const Condition& condition : model.snapshot()->conditions) {
    if (lines.size() >= height / 12) break;
    lines.push_back(line_of("condition: " + views::condition_line(condition, *model.snapshot()), Style::warm));
  }
  return lines;
}

std::string counted(std::uint64_t count, const char* one, const char* many) {
  return text::format_count(count) + " " + (count == 1 ? one : many);
}

// The state of the connection in a word, and what to do.
Span connection_text(const ScreenModel& model) {
  const Connection& connection = model.connection();
  switch (connection.phase) {
    case Phase::opening: return {"waiting for news from " + model.name(), Style::warm};
    case Phase::finished: return {"finished: the job has ended", Style::strong};
    case Phase::lost:
    case Phase::failed:
      return {std::string("LOST: ").append(connection.problem.empty() ? "no more news comes" : connection.problem),
              Style::bad};
    case Phase::stored:
      if (model.snapshot() != nullptr && model.snapshot()->finished) return {"from a file", Style::strong};
      return {"from a file that lacks the end of the run", Style::warm};
    case Phase::running: break;
  }
  if (model.snapshot() == nullptr) return {"waiting for news from " + model.name(), Style::warm};
  if (model.freshness().silent_s > std::max(2.0, 3 * model.freshness().interval_s)) {
    return {"no news for " + text::format_seconds(model.freshness().silent_s), Style::bad};
  }
  return {"live", Style::good};
}

Line status_line(const ScreenModel& model) {
  Line line;
  if (model.paused()) {
    line.spans.push_back({"paused, " + counted(model.behind(), "snapshot", "snapshots") + " behind", Style::warm});
    line.spans.push_back({"  ", Style::plain});
  }
  line.spans.push_back(connection_text(model));
  const std::uint64_t reconnects = model.connection().reconnects;
  if (reconnects > 0) line.spans.push_back({"  reconnected " + counted(reconnects, "time", "times"), Style::plain});
  return line;
}

// As many as fit, the important ones first.
Line key_line(const ScreenModel& model, std::size_t width) {
  const char* pause = model.paused() ? "p go on" : "p pause";
  std::vector<const char*> keys;
  if (model.page() == Page::overview) {
    keys = {"q quit",  "? help", "Tab section", "Enter details", pause,
            "c calls", "l late", "s sort",      "r reverse",     "a plain"};
  } else if (model.page() == Page::details) {
    keys = {"q quit", "Esc back", "Tab next", "up/down scroll", pause, "? help"};
  } else if (model.page() == Page::phases) {
    keys = {"q quit", "Esc back", "s sort", "up/down scroll", pause, "? help"};
  } else {
    keys = {"q quit", "Esc back", "up/down scroll"};
  }
  if (model.connection().phase == Phase::stored) std::erase(keys, pause);
  std::string line;
  for (const char* key : keys) {
    const std::string more = std::string(line.empty() ? "" : "  ").append(key);
    if (line.size() + more.size() <= width) line += more;
  }
  return line_of(line, Style::dim);
}

struct Share {
  Section section;
  std::size_t least, fair, wanted;
  std::size_t lines = 0;
};

// The room between header and status, for the section that has the keys first.
std::array<Share, section_count> share_out(const ScreenModel& model, std::size_t width, std::size_t room) {
  std::array<Share, section_count> shares{
      {{Section::regions, 4, 7, 0}, {Section::findings, 3, 6, 0}, {Section::blocked, 3, 5, 0}}};
  std::stable_sort(shares.begin(), shares.end(), [&](const Share& a, const Share& b) {
    return (a.section == model.section()) > (b.section == model.section());
  });
  for (Share& share : shares) {
    share.wanted = wanted_lines(model, share.section, width);
    const bool first = &share == &shares.front();
    const std::size_t least =
        std::min(first ? std::min<std::size_t>(share.least + 2, room) : share.least, share.wanted);
    if (room < least) continue;
    share.lines = least;
    room -= least;
  }
  const auto grow = [&](auto&& limit) {
    for (bool given = true; given && room > 0;) {
      given = false;
      for (Share& share : shares) {
        if (room == 0 || share.lines == 0 || share.lines >= std::min(share.wanted, limit(share))) continue;
        ++share.lines;
        --room;
        given = true;
      }
    }
  };
  grow([](const Share& share) { return share.fair; });
  grow([](const Share& share) { return share.wanted; });
  std::sort(shares.begin(), shares.end(), [](const Share& a, const Share& b) { return a.section < b.section; });
  return shares;
}

void overview(Picture& picture, const ScreenModel& model, std::size_t width, std::size_t height) {
  append(picture.lines, deadlocks(model, width, height));
  append(picture.lines, conditions(model, height));
  const std::size_t gap = height >= 28 ? 1 : 0;  // blank lines before sections
  const std::size_t taken = picture.lines.size() + bottom_lines + gap * section_count;
  if (model.snapshot() == nullptr || taken >= height) return;
  for (const Share& share : share_out(model, width, height - taken)) {
    if (share.lines == 0) continue;
    Pane pane = share.section == Section::regions    ? region_pane(model, width, share.lines)
                : share.section == Section::findings ? finding_pane(model, width, share.lines)
                                                     : blocked_pane(model, width, share.lines);
    if (share.section == model.section()) picture.reach.page_rows = pane.rows;
    if (gap > 0) picture.lines.push_back(Line{});
    append(picture.lines, std::move(pane.lines));
  }
}

PageText page_of(const ScreenModel& model, std::size_t width) {
  if (model.page() == Page::help) return help_page(width);
  if (model.page() == Page::calls) return calls_page(model, width);
  if (model.page() == Page::phases) return phases_page(model, width);
  if (model.section() == Section::regions) return region_page(model, width);
  return model.section() == Section::findings ? finding_page(model, width) : blocked_page(model, width);
}

void page(Picture& picture, const ScreenModel& model, std::size_t width, std::size_t height) {
  PageText text = page_of(model, width);
  const std::size_t rows = height - std::min(height, picture.lines.size() + 1 + bottom_lines);
  picture.reach = {std::max<std::size_t>(rows, 1), text.lines.size() - std::min(text.lines.size(), rows)};
  const std::size_t first = std::min(model.scroll(), picture.reach.last_scroll);
  const std::size_t end = std::min(first + rows, text.lines.size());
  Line title = line_of(std::move(text.title), Style::section);
  if (picture.reach.last_scroll > 0) {
    title.spans.push_back({"  lines " + std::to_string(first + 1) + "-" + std::to_string(end) + " of " +
                               std::to_string(text.lines.size()),
                           Style::dim});
  }
  picture.lines.push_back(std::move(title));
  for (std::size_t i = first; i < end; ++i) picture.lines.push_back(std::move(text.lines[i]));
}

}  // namespace

Picture compose(const ScreenModel& model, std::size_t width, std::size_t height) {
  Picture picture;
  if (width < least_width || height < least_height) {
    picture.lines.push_back(
        line_of("make the window larger (" + std::to_string(least_width) + "x" + std::to_string(least_height) + ")"));
  } else {
    picture.lines = header(model, width, height);
    if (model.page() == Page::overview) {
      overview(picture, model, width, height);
    } else {
      page(picture, model, width, height);
    }
    picture.lines.resize(height - bottom_lines);
    picture.lines.push_back(status_line(model));
    picture.lines.push_back(key_line(model, width));
  }
  picture.lines.resize(height);
  for (Line& line : picture.lines) line = fitted(line, width, model.ascii());
  return picture;
}

}  // namespace pclscope::screen
