// What the full-screen watch shows and how it reacts to keys: a value without a terminal, a network or a clock.
//
// The owner offers snapshots as they come, tells the state of the connection and the time, and passes keys on;
// compose() (compose.hpp) makes a picture of it. One thread owns a model.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "analysis/values/snapshot.hpp"
#include "viewer/session/harm.hpp"
#include "viewer/session/late_phases.hpp"
#include "viewer/session/session.hpp"
#include "viewer/views/blocked_sections.hpp"
#include "viewer/views/late_phase_lines.hpp"
#include "viewer/views/site_text.hpp"
#include "viewer/views/watch_page.hpp"

namespace pclscope::screen {

enum class Key {
  none,
  quit,
  pause,
  sort,
  reverse,
  up,
  down,
  page_up,
  page_down,
  home,
  end,
  enter,
  back,
  next_section,
  previous_section,
  help,
  calls,
  phases,
  ascii,
  redraw,  // the window's size changed, or the user wants it
};

enum class Section { regions, findings, blocked };
inline constexpr int section_count = 3;
enum class Page { overview, details, calls, phases, help };
// The columns of the table of regions.
enum class SortBy { region, ranks, messages, now, typical, mean, delay, period };
inline constexpr int sort_count = 8;

struct Connection {
  session::Phase phase = session::Phase::opening;
  std::string problem;  // one line, of lost and failed
  std::uint64_t reconnects = 0;
};

// Logical time as far as it is known.
struct PhaseNews {
  std::shared_ptr<const session::LatePhases> phases;  // null: none yet
  std::string problem;                                // one line: why there is nothing newer; empty
  double progress = 0;                                // of reading a dump, 0 .. 1
};

// What the last picture had room for; keys that scroll need it.
struct Reach {
  std::size_t page_rows = 10;   // list rows or lines of a page in view
  std::size_t last_scroll = 0;  // of a page: the largest sensible scroll
};

// Which finding a page is about; findings change places.
struct FindingKey {
  Cause cause = Cause::none;
  std::int32_t region = -1;
  std::string detail;
};

class ScreenModel {
 public:
  // `name`: of the job or file. `can_unicode` false: plain characters only, whatever the user wants.
  ScreenModel(std::string name, bool ascii, bool can_unicode);

  // The newest snapshot (not null), the `number`th that came. While paused it is kept, not shown.
  void offer(std::shared_ptr<const Snapshot> snapshot, std::uint64_t number);
  void set_connection(Connection connection) { connection_ = std::move(connection); }
  void set_freshness(const views::Freshness& freshness) { freshness_ = freshness; }
  void set_phases(PhaseNews news) { phases_ = std::move(news); }
  void open(Page page) { page_ = page; }  // instead of the overview, at first
  void press(Key key, const Reach& reach);

  const std::string& name() const { return name_; }
  const Snapshot* snapshot() const { return shown_.get(); }  // shown now; null before the first
  const Connection& connection() const { return connection_; }
  const views::Freshness& freshness() const { return freshness_; }
  bool quit() const { return quit_; }
  bool paused() const { return paused_; }
  std::uint64_t behind() const { return newest_number_ - shown_number_; }  // snapshots that came while paused
  bool ascii() const { return ascii_ || !can_unicode_; }
  Page page() const { return page_; }
  Section section() const { return section_; }
  SortBy sort() const { return sort_; }
  bool descending() const { return descending_; }
  std::size_t scroll() const { return scroll_; }

  // Indices into snapshot()->regions as sorted, and the place of the selected one in it.
  const std::vector<std::size_t>& order() const { return order_; }
  const std::vector<views::BlockedGroup>& blocked() const { return blocked_; }
  const views::Sites& sites() const { return sites_; }
  const session::Harms& harms() const { return harms_; }
  const PhaseNews& phases() const { return phases_; }
  // Until the user chooses: of a running job the newest phases first, of a dump those with most lateness.
  views::PhaseOrder phase_order() const;
  double fullest_ratio() const { return fullest_; }  // that fills a column of a history
  std::size_t selected(Section section) const { return selected_[static_cast<std::size_t>(section)]; }
  std::size_t count(Section section) const;
  // What the details are about; null when it is no longer there.
  const Region* region() const;
  const Finding* finding() const;
  const views::BlockedGroup* blocked_group() const;

 private:
  void show(std::shared_ptr<const Snapshot> snapshot, std::uint64_t number);
  void sort_regions();
  void follow_selection();  // to where what was selected is now
  void select(Section section, std::size_t row);
  bool press_anywhere(Key key);
  void turn_to(Page page);  // from the overview and back
  void press_in_overview(Key key, const Reach& reach);
  void press_in_page(Key key, const Reach& reach);

  const std::string name_;
  const bool can_unicode_;
  bool ascii_;
  std::shared_ptr<const Snapshot> shown_, newest_;
  std::uint64_t shown_number_ = 0, newest_number_ = 0;
  Connection connection_;
  views::Freshness freshness_;
  bool quit_ = false, paused_ = false;
  Page page_ = Page::overview, page_before_help_ = Page::overview;
  Section section_ = Section::regions;
  SortBy sort_ = SortBy::mean;  // until the user chooses: delay once a cause is found
  bool descending_ = true, sort_chosen_ = false;
  std::size_t scroll_ = 0, scroll_before_help_ = 0;
  PhaseNews phases_;
  std::optional<views::PhaseOrder> phase_order_;

  // Made from shown_.
  std::vector<std::size_t> order_;
  std::vector<views::BlockedGroup> blocked_;
  views::Sites sites_;
  session::Harms harms_{Snapshot()};
  double fullest_ = 2;

  // Until the user moves it, the first row is selected, whatever that is.
  std::size_t selected_[section_count] = {};
  std::optional<std::int32_t> region_id_;
  std::optional<FindingKey> finding_key_;
  std::optional<std::int32_t> blocked_rank_;
};

// The region's mean ratio in its newest window; nothing when it had no message.
std::optional<double> ratio_now(const Region& region);

}  // namespace pclscope::screen
