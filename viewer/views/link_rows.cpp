#include "viewer/views/link_rows.hpp"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "viewer/text/quantities.hpp"
#include "viewer/text/table.hpp"
#include "viewer/views/json_rows.hpp"

namespace pclscope::views {
namespace {

using session::Json;
using text::Align;

std::string ends(const RegionLink& link) {
  return std::to_string(link.a) + " - " + (link.b < 0 ? std::string("none") : std::to_string(link.b));
}

}  // namespace

Rows link_rows(const std::vector<RegionLink>& links) {
  std::vector<Json> objects;
  objects.reserve(links.size());
  for (const RegionLink& link : links) objects.push_back(session::link_json(link));
  return rows_of(objects, session::link_json({}));
}

std::vector<std::string> link_lines(const std::vector<RegionLink>& links, std::size_t width) {
  if (links.empty()) return {"no links: no messages between regions were matched"};
  text::Table table;
  table.column("regions", Align::left);
  for (const char* title : {"messages", "bytes", "ratio", "xfer ratio", "late send", "late recv", "transfer"}) {
    table.column(title, Align::right);
  }
  for (const RegionLink& l : links) {
    table.row({ends(l), text::format_short_count(l.messages), text::format_bytes(static_cast<double>(l.bytes)),
               text::format_ratio(l.mean_latency_ratio), text::format_ratio(l.mean_transfer_ratio),
               text::format_seconds(l.late_sender_s), text::format_seconds(l.late_receiver_s),
               text::format_seconds(l.transfer_s)});
  }
  return table.lines(width);
}

std::vector<RegionLink> bad_links(const Snapshot& snapshot) {
  std::map<std::int32_t, double> ratios;
  for (const Region& region : snapshot.regions) ratios[region.id] = region.mean_latency_ratio;
  std::vector<RegionLink> bad;
  for (const RegionLink& link : snapshot.links) {
    const auto a = ratios.find(link.a), b = ratios.find(link.b);
    const double worse = std::max(a == ratios.end() ? 0 : a->second, b == ratios.end() ? 0 : b->second);
    if (link.messages > 0 && link.mean_latency_ratio > std::max(worse, 1.0)) bad.push_back(link);
  }
  std::stable_sort(bad.begin(), bad.end(), [](const RegionLink& x, const RegionLink& y) {
    return x.mean_latency_ratio > y.mean_latency_ratio;
  });
  return bad;
}

std::vector<std::string> link_section(const std::vector<RegionLink>& bad, std::size_t most) {
  if (bad.empty() || most < 2) return {};
  text::Table table;
  table.column("worse between regions", Align::left);
  for (const char* title : {"messages", "mean", "transfer"}) table.column(title, Align::right);
  for (std::size_t i = 0; i < std::min(most - 1, bad.size()); ++i) {
    const RegionLink& l = bad[i];
    table.row({ends(l), text::format_short_count(l.messages), text::format_ratio(l.mean_latency_ratio),
               text::format_ratio(l.mean_transfer_ratio)});
  }
  return table.lines();
}

}  // namespace pclscope::views
