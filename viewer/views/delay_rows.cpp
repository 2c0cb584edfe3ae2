#include "viewer/views/delay_rows.hpp"

#include <algorithm>

#include "viewer/session/row_json.hpp"
#include "viewer/text/printable.hpp"
#include "viewer/text/quantities.hpp"
#include "viewer/text/rank_list.hpp"
#include "viewer/text/table.hpp"
#include "viewer/views/json_rows.hpp"
#include "viewer/views/site_json.hpp"

namespace pclscope::views {
namespace {

constexpr std::size_t section_site = 20;  // columns

using session::Json;
using text::Align;

const Region* region_of(std::int32_t rank, const std::vector<Region>& regions) {
  for (const Region& region : regions) {
    if (std::binary_search(region.ranks.begin(), region.ranks.end(), rank)) return &region;
  }
  return nullptr;
}

std::string region_text(std::int32_t rank, const std::vector<Region>& regions) {
  const Region* region = region_of(rank, regions);
  return region != nullptr ? std::to_string(region->id) : "-";
}

std::size_t victims_of(const DelayOrigin& d) { return std::min(d.victims.size(), d.victim_s.size()); }

// "4 1.20 s, 6 900 ms": who lost most.
std::string victims_text(const DelayOrigin& d, std::size_t most) {
  std::string line;
  for (std::size_t i = 0; i < std::min(victims_of(d), most); ++i) {
    line += (i > 0 ? ", " : "") + std::to_string(d.victims[i]) + " " + text::format_seconds(d.victim_s[i]);
  }
  if (victims_of(d) > most) line += ", ...";
  return line.empty() ? "-" : line;
}

}  // namespace

Json delay_json(const DelayOrigin& d, const std::vector<Region>& regions, const Sites& sites) {
  const Region* region = region_of(d.rank, regions);
  Json victims = Json::array();
  for (std::size_t i = 0; i < victims_of(d); ++i) {
    victims.push_back({{"rank", d.victims[i]}, {"cost_s", session::finite(d.victim_s[i])}});
  }
  Json json = {{"rank", d.rank}, {"region", region != nullptr ? Json(region->id) : Json(nullptr)}};
  json.update(session::row_json<DelayRow>(d));
  json["site"] = site_json(d.site, sites);
  json["after_site"] = site_json(d.after_site, sites);
  json["victims"] = victims;
  return json;
}

Json delays_json(const std::vector<DelayOrigin>& delays, const std::vector<Region>& regions, const Sites& sites) {
  Json list = Json::array();
  for (const DelayOrigin& delay : delays) list.push_back(delay_json(delay, regions, sites));
  return list;
}

Rows delay_rows(const std::vector<DelayOrigin>& delays, const std::vector<Region>& regions, const Sites& sites) {
  const auto flat = [&](const DelayOrigin& d) {
    Json row = delay_json(d, regions, sites);
    row.erase("victims");
    Json ranks = Json::array(), losses = Json::array();
    for (std::size_t i = 0; i < victims_of(d); ++i) {
      ranks.push_back(d.victims[i]);
      losses.push_back(session::finite(d.victim_s[i]));
    }
    row["victims"] = ranks;
    row["victim_s"] = losses;
    return row;
  };
  std::vector<Json> objects;
  for (const DelayOrigin& delay : delays) objects.push_back(flat(delay));
  return rows_of(objects, flat({}));
}

std::string delay_line(const DelayOrigin& d, const Sites& sites) {
  std::vector<std::int32_t> most(
      d.victims.begin(), d.victims.begin() + static_cast<std::ptrdiff_t>(std::min<std::size_t>(d.victims.size(), 3)));
  return "rank " + std::to_string(d.rank) + ", late at " + sites.brief(d.site) + " after " + sites.brief(d.after_site) +
         ": cost " + text::format_seconds(d.cost_s) +
         (d.off_core_s > 0.2 * d.cost_s ? ", " + text::format_share(d.off_core_s / d.cost_s) + " of it off the core"
                                        : "") +
         (most.empty() ? "" : ", most to rank" + std::string(most.size() > 1 ? "s " : " ") + text::compact_ranks(most));
}

std::vector<std::string> delay_lines(const std::vector<DelayOrigin>& delays, const std::vector<Region>& regions,
                                     const Sites& sites, std::size_t width) {
  if (delays.empty()) return {"no delays: nobody waited for somebody else's computation"};
  text::Table table;
  for (const char* title : {"cost", "rank", "region"}) table.column(title, Align::right);
  table.column("late at", Align::left);
  table.column("after", Align::left);
  for (const char* title : {"direct", "in colls", "off core", "worst", "waits", "first", "last"})
    table.column(title, Align::right);
  table.column("victims (rank, loss)", Align::left);
  for (const DelayOrigin& d : delays) {
    table.row({text::format_seconds(d.cost_s), std::to_string(d.rank), region_text(d.rank, regions),
               sites.brief(d.site), sites.brief(d.after_site), text::format_seconds(d.direct_s),
               text::format_seconds(d.collective_s), text::format_seconds(d.off_core_s),
               text::format_seconds(d.worst_s), text::format_short_count(d.waits), text::format_moment(d.first_s),
               text::format_moment(d.last_s), victims_text(d, width > 0 ? 3 : 8)});
  }
  return table.lines(width);
}

std::vector<std::string> delay_section(const Snapshot& snapshot, const Sites& sites, std::size_t most) {
  if (snapshot.delays.empty() || most < 2) return {};
  text::Table table;
  for (const char* title : {"delays: cost", "rank", "region"}) table.column(title, Align::right);
  table.column("late at", Align::left);
  table.column("after", Align::left);
  table.column("victims", Align::left);
  for (std::size_t i = 0; i < std::min(most - 1, snapshot.delays.size()); ++i) {
    const DelayOrigin& d = snapshot.delays[i];
    table.row({text::format_seconds(d.cost_s), std::to_string(d.rank), region_text(d.rank, snapshot.regions),
               text::clip(sites.brief(d.site), section_site), text::clip(sites.brief(d.after_site), section_site),
               text::compact_ranks(d.victims, 12)});
  }
  return table.lines();
}

}  // namespace pclscope::views
