// pclscope inspect: what a dump says.
#include <algorithm>
#include <csignal>
#include <map>

#include "analysis/callsite/call_sites.hpp"
#include "viewer/commands/command_line.hpp"
#include "viewer/commands/commands.hpp"
#include "viewer/commands/inspect_calls.hpp"
#include "viewer/session/session.hpp"
#include "viewer/session/summary_json.hpp"
#include "viewer/text/quantities.hpp"
#include "viewer/text/rank_list.hpp"
#include "viewer/text/table.hpp"
#include "viewer/views/message_rows.hpp"
#include "viewer/views/summary_tables.hpp"

namespace pclscope::commands {
namespace {

using session::Json;
using session::Session;
using views::MessageOrder;

struct InspectWords {
  std::string file;
  std::string topic = "summary";
  Format format = Format::text;
  std::optional<std::uint64_t> limit;
  std::vector<std::int32_t> ranks;
  std::optional<MessageOrder> order;
};

constexpr std::chrono::seconds patience_with_lines{10};  // that the dump lacks

const std::map<std::string, MessageOrder> orders = {{"stored", MessageOrder::stored},
                                                    {"time", MessageOrder::time},
                                                    {"ratio", MessageOrder::ratio},
                                                    {"bytes", MessageOrder::bytes},
                                                    {"duration", MessageOrder::duration}};

std::optional<int> parse_inspect(const std::vector<std::string>& words, InspectWords& inspect) {
  CLI::App app{"Shows what a dump says. Topics: summary (default), regions, messages, ranks, calls, criteria.",
               "pclscope inspect"};
  bool json = false;
  bool csv = false;
  std::string ranks;
  std::string order;
  std::uint64_t limit = 0;
  app.add_option("file", inspect.file, "The dump, as written by pclscope run --dump")->required();
  app.add_option("topic", inspect.topic, "")
      ->check(CLI::IsMember({"summary", "regions", "messages", "ranks", "calls", "criteria"}).description(""));
  auto* as_json = app.add_flag("--json", json, "As JSON (fields: docs/json.md)");
  app.add_flag("--csv", csv, "As comma-separated values")->excludes(as_json);
  app.add_option("--limit", limit, "At most N rows (messages and call sites as text: 20; else all)")->type_name("N");
  app.add_option("--rank", ranks, "Only what concerns these ranks: 3 or 0-3,8")->type_name("R");
  app.add_option("--sort", order, "Messages by time, ratio, bytes, duration (largest first), or as stored")
      ->type_name("KEY")
      ->check(CLI::IsMember({"stored", "time", "ratio", "bytes", "duration"}).description(""));
  set_usage(app, "pclscope inspect FILE [TOPIC] [--json|--csv] [--limit N] [--rank R] [--sort KEY]");
  if (const auto status = parse(app, words)) return status;
  inspect.format = json ? Format::json : csv ? Format::csv : Format::text;
  if (app.count("--limit") > 0) inspect.limit = limit;
  if (!order.empty()) inspect.order = orders.at(order);
  if (inspect.order && inspect.topic != "messages") return fail(wrong_usage, "--sort is for messages");
  if (app.count("--rank") > 0) {
    const auto parsed = text::parse_ranks(ranks);
    if (!parsed) return fail(wrong_usage, "--rank: '" + ranks + "' is no list of ranks: write for example 0-3,8");
    if (inspect.topic == "summary" || inspect.topic == "criteria") {
      return fail(wrong_usage, "--rank is for regions, messages, ranks and calls");
    }
    inspect.ranks = *parsed;
  }
  return std::nullopt;
}

bool concerns(const std::vector<std::int32_t>& wanted, std::int32_t rank) {
  return wanted.empty() || std::binary_search(wanted.begin(), wanted.end(), rank);
}

// Leaves in the snapshot what --rank and --limit ask for.
void choose(const InspectWords& inspect, Snapshot& snapshot) {
  std::erase_if(snapshot.regions, [&](const Region& region) {
    return std::none_of(region.ranks.begin(), region.ranks.end(), [&](auto rank) { return concerns(inspect.ranks, rank); });
  });
  std::erase_if(snapshot.ranks, [&](const RankSummary& rank) { return !concerns(inspect.ranks, rank.rank); });
  if (!inspect.limit) return;
  const auto cut = [&](auto& rows) {
    if (rows.size() > *inspect.limit) rows.resize(*inspect.limit);
  };
  cut(snapshot.regions);
  cut(snapshot.ranks);
  cut(snapshot.criteria);
}

template <class T, class ToJson>
Json array_of(const std::vector<T>& values, const ToJson& to_json) {
  Json array = Json::array();
  for (const T& value : values) array.push_back(to_json(value));
  return array;
}

Json topic_json(const std::string& topic, const Snapshot& s) {
  if (topic == "regions") return {{"regions", array_of(s.regions, session::region_json)}};
  if (topic == "criteria") return {{"criteria", array_of(s.criteria, session::criterion_json)}};
  if (topic == "ranks") {
    return {{"ranks", array_of(s.ranks, [&](const RankSummary& r) { return session::rank_json(r, s.application); })}};
  }
  return session::summary_json(s);
}

views::Rows topic_rows(const std::string& topic, const Snapshot& s) {
  if (topic == "regions") return views::region_rows(s.regions);
  if (topic == "criteria") return views::criterion_rows(s.criteria);
  if (topic == "ranks") return views::rank_rows(s.ranks, s.application);
  return views::summary_rows(s);
}

std::vector<std::string> topic_lines(const std::string& topic, const Snapshot& s, bool complete, std::size_t width) {
  if (topic == "regions") return views::region_lines(s.regions, width);
  if (topic == "criteria") return views::criterion_lines(s.criteria, width);
  if (topic == "ranks") return views::rank_lines(s.ranks, s.application, width);
  return views::summary_lines(s, complete, width);
}

std::size_t text_width() { return output_is_terminal() ? page_options(false).width : 0; }

int print_topic(const InspectWords& inspect, const Snapshot& snapshot, bool complete) {
  std::vector<std::string> lines;
  if (inspect.format == Format::json) {
    lines.push_back(session::to_text(topic_json(inspect.topic, snapshot), true));
  } else if (inspect.format == Format::csv) {
    const views::Rows rows = topic_rows(inspect.topic, snapshot);
    lines.push_back(text::csv_line(rows.titles));
    for (const auto& row : rows.cells) lines.push_back(text::csv_line(row));
  } else {
    lines = topic_lines(inspect.topic, snapshot, complete, text_width());
  }
  return print_lines(lines) ? done : could_not;
}

// Rows go out as they come: a dump may hold more messages than fit into memory.
Status stream_messages(const InspectWords& inspect, Session& session, const views::Criteria& criteria,
                       const views::Sites& sites, const views::MessageQuery& query, std::uint64_t total, bool& written) {
  const bool json = inspect.format == Format::json;
  written = json ? print("{\"total\": " + std::to_string(total) +
                         ", \"not_stored\": " + std::to_string(session.messages_not_stored()) + ", \"messages\": [")
                 : print(text::csv_line(views::message_csv_titles()) + "\n");
  std::string buffer;
  bool first = true;
  const Status status = views::visit_messages(session, criteria, query, [&](const Message& message) {
    buffer += json ? (first ? "\n" : ",\n") + session::to_text(views::message_json(message, criteria, sites), false)
                   : text::csv_line(views::message_csv_cells(message, criteria, sites)) + "\n";
    first = false;
    if (buffer.size() < 1u << 16) return written;
    written = written && print(buffer);
    buffer.clear();
    return written;
  });
  written = written && print(buffer + (json ? "\n]}\n" : ""));
  return status;
}

Status table_of_messages(const InspectWords& inspect, Session& session, const views::Criteria& criteria,
                         const views::Sites& sites, views::MessageQuery query, std::uint64_t total, bool& written) {
  if (!inspect.limit) query.limit = 20;
  std::vector<Message> messages;
  const Status status = views::visit_messages(session, criteria, query, [&](const Message& message) {
    messages.push_back(message);
    return true;
  });
  written = print_lines(views::message_lines(messages, criteria, text_width(), sites));
  if (!inspect.limit && total > messages.size() && written) {
    written = print("first " + std::to_string(messages.size()) + " of " + text::format_count(total) +
                    " stored messages; --limit N shows more, --sort ratio the worst\n");
  }
  return status;
}

int print_messages(const InspectWords& inspect, Session& session, const Snapshot& snapshot) {
  const views::Criteria criteria(snapshot.criteria);
  const views::Sites sites(snapshot.sites);
  views::MessageQuery query;
  query.ranks = inspect.ranks;
  query.limit = inspect.limit;
  const bool sorted = inspect.format == Format::text || inspect.limit;
  query.order = inspect.order.value_or(sorted ? MessageOrder::time : MessageOrder::stored);
  bool written = true;
  const std::uint64_t total = session.message_count();
  const Status status = inspect.format == Format::text
                            ? table_of_messages(inspect, session, criteria, sites, query, total, written)
                            : stream_messages(inspect, session, criteria, sites, query, total, written);
  if (!status) return fail(could_not, status.error().message);
  if (written && session.messages_not_stored() > 0) {
    say(text::format_count(session.messages_not_stored()) + " more messages were counted but not stored");
  }
  return written ? done : could_not;
}

}  // namespace

int inspect(const std::vector<std::string>& words) {
  InspectWords inspect;
  if (const auto status = parse_inspect(words, inspect)) return *status;
  auto session = session::open_stored(inspect.file);
  if (!session) return fail(could_not, session.error().message);
  auto got = (*session)->newer(std::chrono::milliseconds(0));
  if (!got) return fail(could_not, got.error().message);
  if (!*got) return fail(could_not, inspect.file + " has no summary");
  Snapshot& snapshot = **got;
  if (!(*session)->complete()) say(inspect.file + " is incomplete: the run was cut off or still goes on");
  if (inspect.topic == "messages" || inspect.topic == "calls") {
    callsite::SiteNames names;
    callsite::complete_sites(snapshot.sites, names, patience_with_lines);
  }
  if (inspect.topic == "messages") return print_messages(inspect, **session, snapshot);
  if (inspect.topic == "calls") return print_calls({inspect.format, inspect.limit, inspect.ranks}, **session, snapshot);
  if (inspect.topic != "summary") choose(inspect, snapshot);
  return print_topic(inspect, snapshot, (*session)->complete());
}

}  // namespace pclscope::commands
