// Messages of a dump for people and programs: chosen, ordered, and with their latency ratio.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "analysis/values/message.hpp"
#include "analysis/values/result.hpp"
#include "analysis/values/snapshot.hpp"
#include "viewer/session/criteria.hpp"
#include "viewer/session/session.hpp"
#include "viewer/session/summary_json.hpp"
#include "viewer/views/site_text.hpp"

namespace pclscope::views {

enum class MessageOrder { stored, time, ratio, bytes, duration };

struct MessageQuery {
  MessageOrder order = MessageOrder::time;
  std::vector<std::int32_t> ranks;     // ascending; source or destination is one of them; empty = all
  std::optional<std::uint64_t> limit;  // rows
  session::TimeSpan span{};            // when the send began
};

using session::Criteria;

// The chosen messages in their order, one call each. Memory: none for stored order, `limit` messages with a limit,
// else all chosen messages.
Status visit_messages(session::Session& session, const Criteria& criteria, const MessageQuery& query,
                      const std::function<bool(const Message&)>& visit);

session::Json message_json(const Message& message, const Criteria& criteria, const Sites& sites = {});
const std::vector<std::string>& message_titles();
std::vector<std::string> message_cells(const Message& message, const Criteria& criteria, const Sites& sites = {});
// Text lines of a table of messages; call sites are in it where the width (0: unlimited) has room for them.
std::vector<std::string> message_lines(const std::vector<Message>& messages, const Criteria& criteria,
                                       std::size_t width, const Sites& sites = {});

}  // namespace pclscope::views
