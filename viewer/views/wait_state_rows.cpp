#include "viewer/views/wait_state_rows.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "analysis/window/call_waits.hpp"
#include "analysis/window/wait_state_sums.hpp"
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

// `others` and those of sends and receives, most time first.
std::vector<WaitStateSum> with_messages(double late_sender_s, double late_receiver_s,
                                        const std::vector<WaitStateSum>& others) {
  std::vector<WaitStateSum> rows;
  for (const auto& [state, wait_s] :
       {std::pair(WaitState::late_sender, late_sender_s), std::pair(WaitState::late_receiver, late_receiver_s)}) {
    if (!(wait_s > 0)) continue;
    WaitStateSum& row = rows.emplace_back();
    row.state = state;
    row.wait_s = wait_s;
  }
  rows.insert(rows.end(), others.begin(), others.end());
  std::stable_sort(rows.begin(), rows.end(),
                   [](const WaitStateSum& a, const WaitStateSum& b) { return a.wait_s > b.wait_s; });
  return rows;
}

}  // namespace

std::vector<WaitStateSum> wait_states_of(const Snapshot& snapshot) {
  double late_sender_s = 0, late_receiver_s = 0;
  for (const RankSummary& r : snapshot.ranks) {
    late_sender_s += r.late_sender_s;
    late_receiver_s += r.late_receiver_s;
  }
  return with_messages(late_sender_s, late_receiver_s, snapshot.wait_states);
}

Result<std::vector<WaitStateSum>> stored_wait_states(session::Session& session, const Snapshot& snapshot,
                                                     const std::vector<std::int32_t>& ranks, session::TimeSpan span) {
  const auto chosen = [&](std::int32_t rank) {
    return ranks.empty() || std::binary_search(ranks.begin(), ranks.end(), rank);
  };
  double late_sender_s = 0, late_receiver_s = 0;
  StoredCallWaits of_messages([&](const CallWaits::Of& of, const BlockedTime& blocked) {
    if (chosen(of.destination)) late_sender_s += static_cast<double>(blocked.late_sender) * 1e-9;
    if (chosen(of.source)) late_receiver_s += static_cast<double>(blocked.late_receiver) * 1e-9;
  });
  WaitStateSums sums(snapshot.application.ranks);
  Status read = session.collectives(span, [&](std::span<const CollectiveCall> calls) {
    for (const CollectiveCall& c : calls) {
      if (!span.has(c.end)) continue;
      if (chosen(c.rank)) sums.add(c);
      if (group_of(c) != WaitGroup::point_to_point) continue;
      const bool of_send = c.shape == CollectiveShape::send;
      const std::int32_t source = of_send ? c.rank : c.awaited, destination = of_send ? c.awaited : c.rank;
      of_messages.add({c.begin, c.end, c.awaited_begin, {source, destination, 0, 0}, of_send});
    }
    return true;
  });
  if (!read) return read.error();
  session::TimeSpan ends = span;
  ends.or_end = true;
  read = session.messages(ends, [&](std::span<const Message> messages) {
    for (const Message& m : messages)
      if (span.has(m.recv_end)) of_messages.add(m);
    return true;
  });
  if (!read) return read.error();
  of_messages.finish();
  return with_messages(late_sender_s, late_receiver_s, sums.list());
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
