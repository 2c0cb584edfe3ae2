#include "viewer/screen/model.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace pclscope::screen {
namespace {

// Larger is further down in ascending order; what is no number goes first.
double sort_value(const Region& region, const session::Harms& harms, SortBy sort) {
  switch (sort) {
    case SortBy::region: return region.id;
    case SortBy::ranks: return static_cast<double>(region.ranks.size());
    case SortBy::messages: return static_cast<double>(region.messages);
    case SortBy::now: return ratio_now(region).value_or(-1);
    case SortBy::mean: return region.mean_latency_ratio;
    case SortBy::typical: return region.typical_ratio;
    case SortBy::delay: return harms.of_region(region);
    case SortBy::period: break;
  }
  if (region.periods.empty() || region.periods.back().kind == PeriodKind::other) return 0;
  const Period& newest = region.periods.back();
  return !newest.open ? 1 : newest.kind == PeriodKind::steady ? 2 : 3;
}

double fullest_of(const std::vector<Region>& regions) {
  double full = 2;  // ordinary noise around 1 must not look like a drama
  for (const Region& region : regions) {
    for (const float ratio : region.history_ratio) {
      if (std::isfinite(ratio)) full = std::max(full, static_cast<double>(ratio));
    }
  }
  return full;
}

std::size_t moved(std::size_t row, std::size_t count, Key key, std::size_t page) {
  if (count == 0) return 0;
  const std::size_t last = count - 1;
  page = std::max<std::size_t>(page, 1);
  switch (key) {
    case Key::up: return row - std::min<std::size_t>(row, 1);
    case Key::down: return std::min(row + 1, last);
    case Key::page_up: return row - std::min(row, page);
    case Key::page_down: return std::min(row + page, last);
    case Key::home: return 0;
    case Key::end: return last;
    default: return std::min(row, last);
  }
}

bool same_finding(const Finding& finding, const FindingKey& key) {
  return finding.cause == key.cause && finding.region == key.region && finding.detail == key.detail;
}

// The place nearest to `near` for which `is` holds, of `count`; `near` itself, made valid, when there is none.
template <class Is>
std::size_t nearest(std::size_t near, std::size_t count, Is is) {
  if (count == 0) return 0;
  near = std::min(near, count - 1);
  for (std::size_t away = 0; away < count; ++away) {
    if (near >= away && is(near - away)) return near - away;
    if (near + away < count && is(near + away)) return near + away;
  }
  return near;
}

}  // namespace

std::optional<double> ratio_now(const Region& region) {
  if (region.history_ratio.empty() || region.history_messages.empty() || region.history_messages.back() == 0)
    return std::nullopt;
  return region.history_ratio.back();
}

ScreenModel::ScreenModel(std::string name, bool ascii, bool can_unicode)
    : name_(std::move(name)), can_unicode_(can_unicode), ascii_(ascii) {}

void ScreenModel::offer(std::shared_ptr<const Snapshot> snapshot, std::uint64_t number) {
  newest_ = std::move(snapshot);
  newest_number_ = std::max(number, shown_number_);
  if (!paused_ || !shown_) show(newest_, newest_number_);
}

void ScreenModel::show(std::shared_ptr<const Snapshot> snapshot, std::uint64_t number) {
  shown_ = std::move(snapshot);
  shown_number_ = number;
  blocked_ = views::blocked_groups(*shown_);
  sites_ = views::Sites(shown_->sites);
  fullest_ = fullest_of(shown_->regions);
  harms_ = session::Harms(*shown_);
  if (!sort_chosen_) sort_ = harms_.lead() ? SortBy::delay : SortBy::mean;
  sort_regions();
}

void ScreenModel::sort_regions() {
  if (!shown_) return;
  const std::vector<Region>& regions = shown_->regions;
  std::vector<double> values;
  for (const Region& region : regions) {
    const double value = sort_value(region, harms_, sort_);
    values.push_back(std::isnan(value) ? -std::numeric_limits<double>::infinity() : value);
  }
  order_.resize(regions.size());
  for (std::size_t i = 0; i < order_.size(); ++i) order_[i] = i;
  std::stable_sort(order_.begin(), order_.end(), [&](std::size_t a, std::size_t b) {
    if (values[a] != values[b]) return descending_ ? values[a] > values[b] : values[a] < values[b];
    return regions[a].id < regions[b].id;
  });
  follow_selection();
}

void ScreenModel::follow_selection() {
  const auto& regions = shown_->regions;
  const auto& findings = shown_->attribution.findings;
  const auto region_is = [&](std::size_t row) { return region_id_ && regions[order_[row]].id == *region_id_; };
  const auto finding_is = [&](std::size_t row) { return finding_key_ && same_finding(findings[row], *finding_key_); };
  const auto group_is = [&](std::size_t row) {
    return blocked_rank_ && std::binary_search(blocked_[row].ranks.begin(), blocked_[row].ranks.end(), *blocked_rank_);
  };
  selected_[0] = nearest(selected_[0], order_.size(), region_is);
  selected_[1] = nearest(selected_[1], findings.size(), finding_is);
  selected_[2] = nearest(selected_[2], blocked_.size(), group_is);
}

std::size_t ScreenModel::count(Section section) const {
  if (!shown_) return 0;
  return section == Section::regions    ? order_.size()
         : section == Section::findings ? shown_->attribution.findings.size()
                                        : blocked_.size();
}

void ScreenModel::select(Section section, std::size_t row) {
  selected_[static_cast<std::size_t>(section)] = row;
  if (row >= count(section)) return;
  if (section == Section::regions) region_id_ = shown_->regions[order_[row]].id;
  if (section == Section::blocked) blocked_rank_ = blocked_[row].ranks.front();
  if (section == Section::findings) {
    const Finding& finding = shown_->attribution.findings[row];
    finding_key_ = FindingKey{finding.cause, finding.region, finding.detail};
  }
}

const Region* ScreenModel::region() const {
  if (selected_[0] >= order_.size() || !region_id_) return nullptr;
  const Region& region = shown_->regions[order_[selected_[0]]];
  return region.id == *region_id_ ? &region : nullptr;
}

const Finding* ScreenModel::finding() const {
  if (selected_[1] >= count(Section::findings) || !finding_key_) return nullptr;
  const Finding& finding = shown_->attribution.findings[selected_[1]];
  return same_finding(finding, *finding_key_) ? &finding : nullptr;
}

const views::BlockedGroup* ScreenModel::blocked_group() const {
  if (selected_[2] >= blocked_.size() || !blocked_rank_) return nullptr;
  const views::BlockedGroup& group = blocked_[selected_[2]];
  return std::binary_search(group.ranks.begin(), group.ranks.end(), *blocked_rank_) ? &group : nullptr;
}

void ScreenModel::press(Key key, const Reach& reach) {
  if (press_anywhere(key)) return;
  if (page_ == Page::overview) {
    press_in_overview(key, reach);
  } else {
    press_in_page(key, reach);
  }
}

bool ScreenModel::press_anywhere(Key key) {
  switch (key) {
    case Key::quit: quit_ = true; return true;
    case Key::ascii: ascii_ = !ascii_; return true;
    case Key::pause:
      paused_ = !paused_;
      if (!paused_ && newest_) show(newest_, newest_number_);
      return true;
    case Key::help:
      if (page_ == Page::help) return press_in_page(Key::back, {}), true;
      page_before_help_ = page_;
      scroll_before_help_ = scroll_;
      page_ = Page::help;
      scroll_ = 0;
      return true;
    default: return false;
  }
}

void ScreenModel::turn_to(Page page) {
  if (page_ == Page::help) return;
  scroll_ = 0;
  page_ = page_ == page ? Page::overview : page;
}

views::PhaseOrder ScreenModel::phase_order() const {
  const bool stored = phases_.phases && phases_.phases->stored;
  return phase_order_.value_or(stored ? views::PhaseOrder::latest : views::PhaseOrder::newest);
}

void ScreenModel::press_in_overview(Key key, const Reach& reach) {
  const int at = static_cast<int>(section_);
  switch (key) {
    case Key::next_section: section_ = static_cast<Section>((at + 1) % section_count); return;
    case Key::previous_section: section_ = static_cast<Section>((at + section_count - 1) % section_count); return;
    case Key::sort:
      sort_chosen_ = true;
      sort_ = static_cast<SortBy>((static_cast<int>(sort_) + 1) % sort_count);
      descending_ = sort_ != SortBy::region;
      sort_regions();
      return;
    case Key::reverse:
      descending_ = !descending_;
      sort_regions();
      return;
    case Key::calls: return turn_to(Page::calls);
    case Key::phases: return turn_to(Page::phases);
    case Key::enter:
      if (count(section_) == 0) return;
      select(section_, selected(section_));
      page_ = Page::details;
      scroll_ = 0;
      return;
    case Key::back:
    case Key::none:
    case Key::redraw: return;
    default: select(section_, moved(selected(section_), count(section_), key, reach.page_rows));
  }
}

void ScreenModel::press_in_page(Key key, const Reach& reach) {
  switch (key) {
    case Key::calls: return turn_to(Page::calls);
    case Key::phases: return turn_to(Page::phases);
    case Key::sort:
      if (page_ != Page::phases) return;
      phase_order_ = phase_order() == views::PhaseOrder::newest ? views::PhaseOrder::latest : views::PhaseOrder::newest;
      scroll_ = 0;
      return;
    case Key::back:
      scroll_ = page_ == Page::help ? scroll_before_help_ : 0;
      page_ = page_ == Page::help ? page_before_help_ : Page::overview;
      return;
    case Key::next_section:
    case Key::previous_section:  // the next one of the list
      if (page_ != Page::details) return;
      select(section_, moved(selected(section_), count(section_), key == Key::next_section ? Key::down : Key::up, 1));
      scroll_ = 0;
      return;
    case Key::up:
    case Key::down:
    case Key::page_up:
    case Key::page_down:
    case Key::home:
    case Key::end:
      scroll_ = moved(std::min(scroll_, reach.last_scroll), reach.last_scroll + 1, key, reach.page_rows);
      return;
    default: return;
  }
}

}  // namespace pclscope::screen
