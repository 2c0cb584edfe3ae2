#include "viewer/views/message_rows.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "interpose/record/event.hpp"
#include "viewer/text/printable.hpp"
#include "viewer/text/quantities.hpp"
#include "viewer/text/table.hpp"

namespace pclscope::views {
namespace {

constexpr std::size_t width_with_sites = 140;

double seconds(std::int64_t ns) { return static_cast<double>(ns) / 1e9; }

bool has(const Message& message, std::uint32_t flag) { return (message.flags & flag) != 0; }

// Largest first for all but time; ties in order of time so that results do not depend on the file's layout.
double key_of(const Message& m, MessageOrder order, const Criteria& criteria) {
  switch (order) {
    case MessageOrder::ratio: return -criteria.ratio(m).value_or(-1);
    case MessageOrder::bytes: return -static_cast<double>(m.bytes);
    case MessageOrder::duration: return -static_cast<double>(m.time());
    case MessageOrder::time:
    case MessageOrder::stored: break;
  }
  return static_cast<double>(m.send_begin);
}

struct Keyed {
  double key;
  Message message;
  bool operator<(const Keyed& other) const {
    if (key != other.key) return key < other.key;
    const auto rest = [](const Message& m) {
      return std::tuple(m.send_begin, m.source, m.destination, m.tag, m.recv_end);
    };
    return rest(message) < rest(other.message);
  }
};

bool chosen(const Message& message, const std::vector<std::int32_t>& ranks) {
  return ranks.empty() || std::binary_search(ranks.begin(), ranks.end(), message.source) ||
         std::binary_search(ranks.begin(), ranks.end(), message.destination);
}

// As many digits as needed to get exactly the stored nanosecond back.
std::string csv_seconds(std::int64_t ns) {
  std::array<char, 40> buffer{};
  const std::int64_t size = ns < 0 ? -ns : ns;
  std::snprintf(buffer.data(), buffer.size(), "%s%lld.%09lld", ns < 0 ? "-" : "",
                static_cast<long long>(size / 1'000'000'000), static_cast<long long>(size % 1'000'000'000));
  return buffer.data();
}

}  // namespace

Status visit_messages(session::Session& session, const Criteria& criteria, const MessageQuery& query,
                      const std::function<bool(const Message&)>& visit) {
  const std::uint64_t limit = query.limit.value_or(UINT64_MAX);
  std::uint64_t visited = 0;
  std::vector<Keyed> rows;  // with a limit a heap, its worst row on top
  if (limit == 0) return {};
  const Status status = session.messages(query.span, [&](std::span<const Message> batch) {
    for (const Message& message : batch) {
      if (!chosen(message, query.ranks)) continue;
      if (query.order == MessageOrder::stored) {
        if (!visit(message) || ++visited >= limit) return false;
        continue;
      }
      Keyed row{key_of(message, query.order, criteria), message};
      if (rows.size() < limit) {
        rows.push_back(row);
        if (query.limit) std::push_heap(rows.begin(), rows.end());
      } else if (row < rows.front()) {
        std::pop_heap(rows.begin(), rows.end());
        rows.back() = row;
        std::push_heap(rows.begin(), rows.end());
      }
    }
    return true;
  });
  std::sort(rows.begin(), rows.end());
  for (const Keyed& row : rows) {
    if (!visit(row.message)) break;
  }
  return status;
}

session::Json message_json(const Message& m, const Criteria& criteria, const Sites& sites) {
  const auto location = [&](std::uint64_t id) {
    const std::string text = sites.location(id);
    return text.empty() ? session::Json(nullptr) : session::Json(text);
  };
  const auto ratio = criteria.ratio(m);
  const BlockedSpan split = blocked_span(m);
  return {{"source", m.source},
          {"destination", m.destination},
          {"tag", m.tag},
          {"comm", text::format_hexadecimal(m.comm)},
          {"bytes", m.bytes},
          {"start_s", seconds(m.send_begin)},
          {"time_s", seconds(m.time())},
          {"ratio", ratio ? session::finite(*ratio) : session::Json(nullptr)},
          {"late_sender_s", seconds(split.late_sender)},
          {"late_receiver_s", seconds(split.late_receiver)},
          {"transfer_s", seconds(split.transfer)},
          {"overlapped_s", seconds(split.overlapped)},
          {"delayed", ratio.value_or(0) > 1},
          {"inter_node", has(m, message_flag::inter_node)},
          {"clock_violation", has(m, message_flag::clock_violation)},
          {"completion_seen", !has(m, message_flag::unseen_completion)},
          {"send_site", location(m.send_site)},
          {"recv_site", location(m.recv_site)},
          {"clock_unclear", has(m, message_flag::clock_unclear)},
          {"clock_error_ns", m.clock_error_ns}};
}

const std::vector<std::string>& message_titles() {
  static const std::vector<std::string> titles = {
      "source",          "destination",  "tag",       "comm",          "bytes",
      "start_s",         "time_s",       "ratio",     "late_sender_s", "late_receiver_s",
      "transfer_s",      "overlapped_s", "delayed",   "inter_node",    "clock_violation",
      "completion_seen", "send_site",    "recv_site", "clock_unclear", "clock_error_ns"};
  return titles;
}

std::vector<std::string> message_cells(const Message& m, const Criteria& criteria, const Sites& sites) {
  const auto ratio = criteria.ratio(m);
  const BlockedSpan split = blocked_span(m);
  const auto bit = [&](std::uint32_t flag) { return std::string(has(m, flag) ? "1" : "0"); };
  return {std::to_string(m.source),
          std::to_string(m.destination),
          std::to_string(m.tag),
          text::format_hexadecimal(m.comm),
          std::to_string(m.bytes),
          csv_seconds(m.send_begin),
          csv_seconds(m.time()),
          ratio ? session::to_text(session::finite(*ratio), false) : "",
          csv_seconds(split.late_sender),
          csv_seconds(split.late_receiver),
          csv_seconds(split.transfer),
          csv_seconds(split.overlapped),
          ratio.value_or(0) > 1 ? "1" : "0",
          bit(message_flag::inter_node),
          bit(message_flag::clock_violation),
          has(m, message_flag::unseen_completion) ? "0" : "1",
          text::printable(sites.location(m.send_site)),
          text::printable(sites.location(m.recv_site)),
          bit(message_flag::clock_unclear),
          std::to_string(m.clock_error_ns)};
}

std::vector<std::string> message_lines(const std::vector<Message>& messages, const Criteria& criteria,
                                       std::size_t width, const Sites& sites) {
  const bool show_sites = width == 0 || width >= width_with_sites;
  text::Table table;
  table.column("sent at", text::Align::right);
  table.column("from -> to", text::Align::left);
  for (const char* title : {"tag", "size", "took", "ratio", "late send", "late recv", "transfer", "overlapped"}) {
    table.column(title, text::Align::right);
  }
  table.column("", text::Align::left);
  if (show_sites) {
    table.column("sent from", text::Align::left);
    table.column("received by", text::Align::left);
  }
  for (const Message& m : messages) {
    const auto ratio = criteria.ratio(m);
    const BlockedSpan split = blocked_span(m);
    const bool unseen = has(m, message_flag::unseen_completion);
    std::array<char, 40> at{};
    std::snprintf(at.data(), at.size(), "%.6f s", seconds(m.send_begin));
    table.row({at.data(), std::to_string(m.source) + " -> " + std::to_string(m.destination), std::to_string(m.tag),
               text::format_bytes(static_cast<double>(m.bytes)),
               unseen ? "unseen" : text::format_seconds(seconds(m.time())), ratio ? text::format_ratio(*ratio) : "-",
               text::format_seconds(seconds(split.late_sender)), text::format_seconds(seconds(split.late_receiver)),
               text::format_seconds(seconds(split.transfer)), text::format_seconds(seconds(split.overlapped)),
               has(m, message_flag::clock_violation) ? "clock!"
               : has(m, message_flag::clock_unclear) ? "clock?"
                                                     : "",
               sites.brief(m.send_site), sites.brief(m.recv_site)});
  }
  return table.lines(width);
}

}  // namespace pclscope::views
