#include "viewer/views/region_section.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "viewer/session/harm.hpp"
#include "viewer/text/printable.hpp"
#include "viewer/text/quantities.hpp"
#include "viewer/text/rank_list.hpp"
#include "viewer/text/sparkline.hpp"
#include "viewer/text/table.hpp"
#include "viewer/views/period_text.hpp"
#include "viewer/views/sentences.hpp"
#include "viewer/views/wait_split_text.hpp"

namespace pclscope::views {
namespace {

using text::Align;

constexpr std::size_t history_room = 14;
constexpr std::size_t narrowest_history = 3;

std::string ratio_now(const Region& region) {
  if (region.history_ratio.empty() || region.history_messages.empty() || region.history_messages.back() == 0)
    return "-";
  return text::format_ratio(region.history_ratio.back());
}

// The ratio that fills a column: of all regions, so that their histories can be compared.
double fullest(const std::vector<Region>& regions) {
  double full = 2;  // ordinary noise around 1 must not look like a drama
  for (const Region& region : regions) {
    for (const float ratio : region.history_ratio) {
      if (std::isfinite(ratio)) full = std::max(full, static_cast<double>(ratio));
    }
  }
  return full;
}

// By the delay that they caused once a cause is found, then by their ratio.
std::vector<const Region*> worst_first(const std::vector<Region>& regions, const session::Harms& harms) {
  std::vector<std::pair<double, const Region*>> sorted;
  for (const Region& region : regions) sorted.emplace_back(harms.lead() ? harms.of_region(region) : 0, &region);
  std::stable_sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) {
    return a.first != b.first ? a.first > b.first : a.second->mean_latency_ratio > b.second->mean_latency_ratio;
  });
  std::vector<const Region*> order;
  for (const auto& [harm, region] : sorted) order.push_back(region);
  return order;
}

// Everything but the history.
text::Table facts(const std::vector<const Region*>& regions, const session::Harms& harms, bool periods) {
  text::Table table;
  table.column("region", Align::right);
  table.column("ranks", Align::left);
  table.column(periods ? "msgs" : "messages", Align::right);
  for (const char* title : {"now", "typical", harms.lead() ? "delay" : "mean"}) table.column(title, Align::right);
  table.column(periods ? "s/r/x%" : "snd/rcv/xfer%", Align::right);
  if (periods) table.column("period", Align::left);
  for (const Region* r : regions) {
    std::vector<std::string> row = {std::to_string(r->id),
                                    text::compact_ranks(r->ranks, periods ? 8 : 14),
                                    text::format_short_count(r->messages),
                                    ratio_now(*r),
                                    text::format_ratio(r->typical_ratio),
                                    text::format_ratio(harms.lead() ? harms.of_region(*r) : r->mean_latency_ratio),
                                    wait_split_text(r->late_sender_s, r->late_receiver_s, r->transfer_s)};
    if (periods) row.push_back(newest_period(*r));
    table.row(std::move(row));
  }
  return table;
}

}  // namespace

std::vector<std::string> region_section(const Snapshot& snapshot, std::size_t most, const PageOptions& options) {
  if (snapshot.regions.empty())
    return {so_far(snapshot, "no regions") + ": no messages between ranks have been matched"};
  const session::Harms harms(snapshot);
  std::vector<const Region*> regions = worst_first(snapshot.regions, harms);
  const std::size_t all = regions.size();
  if (all > most) regions.resize(most > 0 ? most - 1 : 0);
  const bool periods =
      std::any_of(regions.begin(), regions.end(), [](const Region* r) { return !newest_period(*r).empty(); });
  std::vector<std::string> lines = facts(regions, harms, periods).lines();
  std::size_t used = 0;
  for (const std::string& line : lines) used = std::max(used, text::display_width(line));
  const std::size_t room = options.width > used + 2 ? options.width - used - 2 : 0;
  const std::size_t columns = periods ? std::min(room, history_room) : history_room;
  if (columns >= narrowest_history) {
    const double full = fullest(snapshot.regions);
    lines[0] = text::pad_right(lines[0], used) + "  " + std::string("history").substr(0, columns);
    for (std::size_t i = 0; i < regions.size(); ++i) {
      lines[i + 1] =
          text::pad_right(lines[i + 1], used) + "  " +
          text::sparkline(regions[i]->history_ratio, regions[i]->history_messages, columns, full, options.ascii);
    }
  }
  for (std::string& line : lines) {
    while (!line.empty() && line.back() == ' ') line.pop_back();
    line = text::clip(line, options.width);
  }
  if (regions.size() < all) {
    const std::size_t more = all - regions.size();
    lines.push_back("... " + std::to_string(more) + (more == 1 ? " more region" : " more regions"));
  }
  return lines;
}

}  // namespace pclscope::views
