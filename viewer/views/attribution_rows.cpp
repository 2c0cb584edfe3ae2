// The measures behind the findings, and the traffic of pairs of ranks. Declared in finding_rows.hpp.
#include <algorithm>
#include <nlohmann/json.hpp>

#include "viewer/text/quantities.hpp"
#include "viewer/text/table.hpp"
#include "viewer/views/finding_rows.hpp"
#include "viewer/views/json_rows.hpp"

namespace pclscope::views {
namespace {

using session::finite;
using session::Json;
using text::Align;

Json slice_json(const AttributionSlice& s) {
  return {{"begin_s", finite(s.begin_s)},           {"length_s", finite(s.length_s)},
          {"intra_messages", s.intra_messages},     {"inter_messages", s.inter_messages},
          {"load_balance", finite(s.load_balance)}, {"wait_s", finite(s.wait_s)},
          {"blocked_s", finite(s.blocked_s)},       {"collective_s", finite(s.collective_s)},
          {"transfer_s", finite(s.transfer_s)},     {"excess_transfer_s", finite(s.excess_transfer_s)}};
}

Json pair_json(const PairTraffic& p) {
  return {{"source", p.source}, {"destination", p.destination}, {"messages", p.messages}, {"bytes", p.bytes}};
}

// Its largest value, and when: how much the size's transfers vary.
std::string line_text(const TransferLine& line, const std::vector<AttributionSlice>& slices) {
  std::string text = text::format_bytes(static_cast<double>(line.bytes_low)) + " to " +
                     text::format_bytes(static_cast<double>(line.bytes_high)) + ": " +
                     text::format_short_count(line.messages) + " messages";
  const auto most = std::max_element(line.normalised.begin(), line.normalised.end());
  if (most == line.normalised.end()) return text;
  text += ", at most " + text::format_times(*most) + " the usual, at " +
          text::format_moment(slices[static_cast<std::size_t>(most - line.normalised.begin())].begin_s);
  return line.calm ? text + " (calm)" : text;
}

}  // namespace

Json attribution_json(const Attribution& attribution) {
  Json slices = Json::array(), lines = Json::array();
  for (const AttributionSlice& s : attribution.slices) slices.push_back(slice_json(s));
  for (const TransferLine& l : attribution.transfer_lines) {
    Json values = Json::array();
    for (const float value : l.normalised) values.push_back(finite(value));
    lines.push_back({{"bytes_low", l.bytes_low},
                     {"bytes_high", l.bytes_high},
                     {"messages", l.messages},
                     {"calm", l.calm},
                     {"normalised", values}});
  }
  return {{"slices", slices}, {"transfer_lines", lines}};
}

Rows attribution_rows(const Attribution& attribution) {
  std::vector<Json> objects;
  for (const AttributionSlice& s : attribution.slices) objects.push_back(slice_json(s));
  return rows_of(objects, slice_json({}));
}

std::vector<std::string> attribution_lines(const Attribution& attribution, std::size_t width) {
  if (attribution.slices.empty()) return {"no measures: no messages were matched, or the dump is of an older pclscope"};
  text::Table table;
  for (const char* title :
       {"from", "length", "intra", "inter", "LB", "late senders", "blocked", "in colls", "inter xfer", "excess"})
    table.column(title, Align::right);
  for (const AttributionSlice& s : attribution.slices) {
    table.row({text::format_moment(s.begin_s), text::format_seconds(s.length_s),
               text::format_short_count(s.intra_messages), text::format_short_count(s.inter_messages),
               text::format_ratio(s.load_balance), text::format_seconds(s.wait_s), text::format_seconds(s.blocked_s),
               text::format_seconds(s.collective_s), text::format_seconds(s.transfer_s),
               text::format_seconds(s.excess_transfer_s)});
  }
  std::vector<std::string> lines = table.lines(width);
  if (attribution.transfer_lines.empty()) return lines;
  lines.insert(lines.end(), {"", "between nodes, by size:"});
  for (const TransferLine& l : attribution.transfer_lines) lines.push_back(line_text(l, attribution.slices));
  return lines;
}

Json traffic_json(const std::vector<PairTraffic>& traffic) {
  Json list = Json::array();
  for (const PairTraffic& p : traffic) list.push_back(pair_json(p));
  return {{"traffic", list}};
}

Rows traffic_rows(const std::vector<PairTraffic>& traffic) {
  std::vector<Json> objects;
  for (const PairTraffic& p : traffic) objects.push_back(pair_json(p));
  return rows_of(objects, pair_json({}));
}

std::vector<std::string> traffic_lines(const std::vector<PairTraffic>& traffic) {
  std::vector<std::string> lines = {"# pclscope traffic 1", "# source destination messages bytes"};
  for (const PairTraffic& p : traffic) {
    lines.push_back(std::to_string(p.source) + " " + std::to_string(p.destination) + " " + std::to_string(p.messages) +
                    " " + std::to_string(p.bytes));
  }
  return lines;
}

}  // namespace pclscope::views
