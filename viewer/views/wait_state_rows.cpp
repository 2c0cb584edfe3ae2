#include "viewer/views/wait_state_rows.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "interpose/record/event.hpp"
#include "viewer/text/quantities.hpp"
#include "viewer/text/table.hpp"
#include "viewer/views/function_names.hpp"
#include "viewer/views/json_rows.hpp"
#include "viewer/views/site_json.hpp"

namespace pclscope::views {
namespace {

using session::Json;
using text::Align;

std::string function_of(const WaitStateSum& w) {
  return w.function == 0 ? "sends and receives" : function_name(w.function);
}

std::string comm_of(const WaitStateSum& w) {
  if (w.comm == 0) return "-";
  if (w.comm == record::world_comm_id) return "world";
  return w.comm == record::self_comm_id ? "self" : text::format_hexadecimal(w.comm);
}

}  // namespace

std::vector<WaitStateSum> wait_states_of(const Snapshot& snapshot) {
  WaitStateSum late_sender, late_receiver;
  late_sender.state = WaitState::late_sender;
  late_receiver.state = WaitState::late_receiver;
  for (const RankSummary& r : snapshot.ranks) {
    late_sender.wait_s += r.late_sender_s;
    late_receiver.wait_s += r.late_receiver_s;
  }
  std::vector<WaitStateSum> rows;
  for (const WaitStateSum& w : {late_sender, late_receiver})
    if (w.wait_s > 0) rows.push_back(w);
  rows.insert(rows.end(), snapshot.wait_states.begin(), snapshot.wait_states.end());
  std::stable_sort(rows.begin(), rows.end(),
                   [](const WaitStateSum& a, const WaitStateSum& b) { return a.wait_s > b.wait_s; });
  return rows;
}

Json wait_state_json(const WaitStateSum& w, const Sites& sites) {
  return {{"state", name_of(w.state)},
          {"function", w.function == 0 ? Json(nullptr) : Json(function_name(w.function))},
          {"comm", w.comm == 0 ? Json(nullptr) : Json(comm_of(w))},
          {"site", site_json(w.site, sites)},
          {"waits", w.function == 0 ? Json(nullptr) : Json(w.waits)},
          {"wait_s", session::finite(w.wait_s)},
          {"worst_s", w.function == 0 ? Json(nullptr) : Json(session::finite(w.worst_s))},
          {"awaited_rank", w.awaited_rank >= 0 ? Json(w.awaited_rank) : Json(nullptr)},
          {"awaited_s", session::finite(w.awaited_s)}};
}

Rows wait_state_rows(const std::vector<WaitStateSum>& rows, const Sites& sites) {
  std::vector<Json> objects;
  for (const WaitStateSum& w : rows) objects.push_back(wait_state_json(w, sites));
  return rows_of(objects, wait_state_json({}, sites));
}

std::vector<std::string> wait_state_lines(const std::vector<WaitStateSum>& rows, const Sites& sites,
                                          std::size_t width) {
  if (rows.empty()) return {"no rank waited for another one"};
  text::Table table;
  for (const char* title : {"wait state", "function", "communicator"}) table.column(title, Align::left);
  for (const char* title : {"calls", "waited", "worst", "awaited most"}) table.column(title, Align::right);
  table.column("call site", Align::left);
  for (const WaitStateSum& w : rows) {
    const bool sums = w.function == 0;
    table.row(
        {name_of(w.state), function_of(w), comm_of(w), sums ? "-" : text::format_count(w.waits),
         text::format_seconds(w.wait_s), sums ? "-" : text::format_seconds(w.worst_s),
         w.awaited_rank < 0 ? "-" : "rank " + std::to_string(w.awaited_rank) + ", " + text::format_seconds(w.awaited_s),
         sums          ? "see calls"
         : w.site == 0 ? "-"
                       : sites.location(w.site)});
  }
  return table.lines(width);
}

}  // namespace pclscope::views
