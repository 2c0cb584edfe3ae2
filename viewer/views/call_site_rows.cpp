#include "viewer/views/call_site_rows.hpp"

#include <algorithm>
#include <map>
#include <tuple>

#include "analysis/callsite/site_sums.hpp"
#include "analysis/window/call_waits.hpp"
#include "interpose/record/functions.hpp"
#include "viewer/session/row_json.hpp"
#include "viewer/text/function_name.hpp"
#include "viewer/text/printable.hpp"
#include "viewer/text/quantities.hpp"
#include "viewer/text/table.hpp"
#include "viewer/views/json_rows.hpp"

namespace pclscope::views {
namespace {

constexpr std::size_t longest_function = 40;  // columns

void add(SiteActivity& sum, const SiteActivity& a) {
  sum.sends += a.sends;
  sum.receives += a.receives;
  sum.bytes += a.bytes;
  sum.delayed += a.delayed;
  sum.late_sender_s += a.late_sender_s;
  sum.waited_s += a.waited_s;
  sum.late_receiver_s += a.late_receiver_s;
  sum.transfer_s += a.transfer_s;
  sum.calls += a.calls;
  sum.inside_s += a.inside_s;
}

std::string mpi_name(const CallSite& site) {
  return site.mpi_function == 0 ? "" : std::string(record::function_name(site.mpi_function));
}

// "Grid::exchange(int, double*)" -> "Grid::exchange": what identifies it, in little room.
std::string short_function(const CallSite& site) {
  return text::clip(text::printable(text::short_function(site.function)), longest_function);
}

std::string where(const SourceLine& line) {
  if (line.place.id == 0) return "unknown";
  const std::string function = line.place.line > 0 ? short_function(line.place) : "";
  return site_brief(line.place) + (function.empty() ? "" : " " + function);
}

}  // namespace

std::vector<SourceLine> source_lines(const std::vector<SiteActivity>& activity, const Sites& sites) {
  std::vector<SourceLine> lines;
  std::map<std::tuple<std::string, std::string, std::uint32_t, std::uint16_t>, std::size_t> known;
  for (const SiteActivity& a : activity) {
    const CallSite* site = sites.find(a.site);
    std::size_t at = lines.size();
    if (site != nullptr && site->line > 0) {
      at = known.try_emplace({site->function, site->file, site->line, site->mpi_function}, at).first->second;
    }
    if (at == lines.size()) lines.emplace_back().place = site != nullptr ? *site : CallSite{};
    lines[at].ids.push_back(a.site);
    add(lines[at].sum, a);
  }
  for (SourceLine& line : lines) std::sort(line.ids.begin(), line.ids.end());
  std::stable_sort(lines.begin(), lines.end(), [](const SourceLine& a, const SourceLine& b) {
    return std::pair(lost_s(a.sum), a.sum.inside_s) > std::pair(lost_s(b.sum), b.sum.inside_s);
  });
  return lines;
}

Result<std::vector<SiteActivity>> activity_of_messages(session::Session& session, const Criteria& criteria,
                                                       const std::vector<std::int32_t>& ranks) {
  SiteSums sums;
  const auto chosen = [&](std::int32_t source, std::int32_t destination) {
    return ranks.empty() || std::binary_search(ranks.begin(), ranks.end(), source) ||
           std::binary_search(ranks.begin(), ranks.end(), destination);
  };
  // A call may complete messages of other ranks, too: all are looked at.
  StoredCallWaits calls([&](const CallWaits::Of& of, const BlockedTime& blocked) {
    if (chosen(of.source, of.destination)) sums.add_blocked(of.send_site, of.recv_site, blocked);
  });
  MessageQuery query;
  query.order = MessageOrder::stored;
  const Status status = visit_messages(session, criteria, query, [&](const Message& m) {
    if (chosen(m.source, m.destination)) sums.add(m, {});
    calls.add(m);
    return true;
  });
  if (!status) return status.error();
  calls.finish();
  return sums.list(SiteSums::most_pairs);
}

session::Json source_line_json(const SourceLine& line) {
  const CallSite& p = line.place;
  const auto text = [](const std::string& s) { return s.empty() ? session::Json(nullptr) : session::Json(s); };
  session::Json json = {
      {"sites", line.ids},         {"function", text(p.function)},
      {"file", text(p.file)},      {"line", p.line > 0 ? session::Json(p.line) : session::Json(nullptr)},
      {"module", text(p.module)},  {"offset", p.id != 0 ? session::Json(p.offset) : session::Json(nullptr)},
      {"call", text(mpi_name(p))}, {"lost_s", session::finite(lost_s(line.sum))}};
  json.update(session::row_json<SiteActivity>(line.sum));
  json.erase("site");
  return json;
}

Rows source_line_rows(const std::vector<SourceLine>& lines) {
  std::vector<session::Json> objects;
  for (const SourceLine& line : lines) objects.push_back(source_line_json(line));
  return rows_of(objects, source_line_json({}));
}

std::vector<std::string> source_line_lines(const std::vector<SourceLine>& lines, std::size_t width) {
  if (lines.empty()) return {"no call sites: no MPI calls were recorded"};
  // Of some ranks alone, what is known comes from their messages.
  const bool times = std::any_of(lines.begin(), lines.end(), [](const SourceLine& line) { return line.sum.calls > 0; });
  text::Table table;
  for (const char* title : {"lost", "late send", "late recv", "transfer", "waited"})
    table.column(title, text::Align::right);
  if (times) table.column("inside", text::Align::right);
  table.column("sent+recv", text::Align::right);
  table.column("bytes", text::Align::right);
  table.column("delayed", text::Align::right);
  table.column("call", text::Align::left);
  table.column("where", text::Align::left);
  for (const SourceLine& line : lines) {
    const SiteActivity& a = line.sum;
    // Calls without messages are no row of zeros: what they waited for is in other tables.
    const bool messages = a.sends + a.receives > 0 || lost_s(a) > 0 || a.waited_s > 0;
    std::vector<std::string> cells;
    for (const double s : {lost_s(a), a.late_sender_s, a.late_receiver_s, a.transfer_s, a.waited_s})
      cells.push_back(messages ? text::format_seconds(s) : "-");
    if (times) cells.push_back(text::format_seconds(a.inside_s));
    cells.insert(cells.end(), {text::format_short_count(a.sends) + "+" + text::format_short_count(a.receives),
                               text::format_bytes(static_cast<double>(a.bytes)), text::format_short_count(a.delayed),
                               mpi_name(line.place).empty() ? "-" : mpi_name(line.place).substr(4), where(line)});
    table.row(std::move(cells));
  }
  return table.lines(width);
}

}  // namespace pclscope::views
