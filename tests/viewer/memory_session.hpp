// A stored run in memory, for tests of what is made of its messages.
#pragma once

#include <algorithm>
#include <vector>

#include "viewer/session/session.hpp"

namespace pclscope::test {

// A stored run of messages in memory, handed out in small batches.
class MemorySession : public session::Session {
 public:
  std::uint64_t not_stored = 0;
  std::vector<CollectiveCall> calls;

  explicit MemorySession(std::vector<Message> messages) : messages_(std::move(messages)) {}
  Result<std::optional<Snapshot>> newer(std::chrono::milliseconds) override { return std::optional<Snapshot>(); }
  session::Phase phase() override { return session::Phase::finished; }
  bool live() const override { return false; }
  bool complete() const override { return true; }
  Status messages(const session::TimeSpan&, const std::function<bool(std::span<const Message>)>& visit) override {
    for (std::size_t at = 0; at < messages_.size(); at += 7) {
      if (!visit(std::span(messages_).subspan(at, std::min<std::size_t>(7, messages_.size() - at)))) break;
    }
    return {};
  }
  std::uint64_t message_count() const override { return messages_.size(); }
  std::uint64_t messages_not_stored() const override { return not_stored; }
  std::uint64_t collectives_not_stored() const override { return 0; }
  Result<std::vector<Window>> windows() override { return std::vector<Window>(); }
  Status collectives(const session::TimeSpan&,
                     const std::function<bool(std::span<const CollectiveCall>)>& visit) override {
    visit(calls);
    return {};
  }
  Result<Dag> dag(const DagQuestion&) override { return Dag{}; }
  Result<std::vector<PairTraffic>> traffic() override { return std::vector<PairTraffic>(); }

 private:
  std::vector<Message> messages_;
};

}  // namespace pclscope::test
