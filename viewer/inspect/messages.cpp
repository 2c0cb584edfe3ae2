// pclscope inspect FILE messages.
#include "viewer/inspect/topic.hpp"
#include "viewer/text/quantities.hpp"

namespace pclscope::commands {
namespace {

using session::Session;
using views::MessageOrder;

// Rows go out as they come: a dump may hold more messages than fit into memory.
Status stream_messages(const InspectWords& inspect, Session& session, const views::Criteria& criteria,
                       const views::Sites& sites, const views::MessageQuery& query, std::uint64_t total,
                       bool& written) {
  const bool json = inspect.format == Format::json;
  written = json ? print("{\"total\": " + std::to_string(total) +
                         ", \"not_stored\": " + std::to_string(session.messages_not_stored()) + ", \"messages\": [")
                 : print(inspect.table->head(views::message_titles()));
  std::string buffer;
  bool first = true;
  const Status status = views::visit_messages(session, criteria, query, [&](const Message& message) {
    buffer += json ? (first ? "\n" : ",\n") + session::to_text(views::message_json(message, criteria, sites), false)
                   : inspect.table->row(views::message_cells(message, criteria, sites));
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
  written = print_lines(views::message_lines(messages, criteria, inspect_page(inspect).width, sites));
  if (!inspect.limit && total > messages.size() && written) {
    written = print("first " + std::to_string(messages.size()) + " of " + text::format_count(total) +
                    " stored messages; --limit N shows more, --sort ratio the worst\n");
  }
  return status;
}

int show_messages(const InspectWords& inspect, InspectedRun& run) {
  Session& session = *run.session;
  if (session.live()) return fail(could_not, "a running job gives summaries only: give the dump file instead");
  const auto span = span_of(inspect, run);
  if (!span) return fail(span.error());
  const views::Criteria criteria(run.snapshot.criteria);
  const views::Sites sites(run.snapshot.sites);
  views::MessageQuery query;
  query.ranks = inspect.ranks;
  query.limit = inspect.limit;
  query.span = *span;
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

extern const Topic messages_topic;
const Topic messages_topic{"messages", takes::tables | takes::rank | takes::period | takes::sort | takes::lines,
                           show_messages};

}  // namespace pclscope::commands
