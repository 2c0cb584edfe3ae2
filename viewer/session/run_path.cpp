#include "viewer/session/run_path.hpp"

namespace pclscope::session {

std::vector<PathStep> read_run_path(Session& session, std::int32_t ranks, const std::function<bool()>& stopping) {
  if (session.message_count() > most_on_path) return {};
  std::vector<Message> messages;
  std::vector<CollectiveCall> collectives;
  const auto goes_on = [&] { return messages.size() + collectives.size() <= most_on_path && !stopping(); };
  const auto take = [&](auto& into) {
    return [&](const auto& batch) {
      into.insert(into.end(), batch.begin(), batch.end());
      return goes_on();
    };
  };
  if (!session.messages({}, take(messages)) || !goes_on()) return {};
  if (!session.collectives({}, take(collectives)) || !goes_on()) return {};
  return critical_path(ranks, messages, collectives).steps;
}

}  // namespace pclscope::session
