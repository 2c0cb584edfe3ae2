// Runs in memory as logical time is made of: a dump that gives messages by period, and a job that answers.
#pragma once

#include <vector>

#include "analysis/order/dag_builder.hpp"
#include "viewer/session/session.hpp"

namespace pclscope::test {

// A stored run whose periods are as a dump has them.
class Stored final : public session::Session {
 public:
  Stored(std::vector<Message> messages, std::vector<CollectiveCall> calls, std::vector<Window> windows = {})
      : messages_(std::move(messages)), calls_(std::move(calls)), windows_(std::move(windows)) {}
  Result<std::optional<Snapshot>> newer(std::chrono::milliseconds) override { return std::optional<Snapshot>(); }
  session::Phase phase() override { return session::Phase::finished; }
  bool live() const override { return false; }
  bool complete() const override { return true; }
  Status messages(const session::TimeSpan& span, const std::function<bool(std::span<const Message>)>& visit) override {
    std::vector<Message> inside;
    for (const Message& m : messages_)
      if (span.has(m.send_begin)) inside.push_back(m);
    visit(inside);
    return {};
  }
  std::uint64_t message_count() const override { return messages_.size(); }
  std::uint64_t messages_not_stored() const override { return 0; }
  std::uint64_t collectives_not_stored() const override { return 0; }
  Result<std::vector<Window>> windows() override { return windows_; }
  Status collectives(const session::TimeSpan&,
                     const std::function<bool(std::span<const CollectiveCall>)>& visit) override {
    visit(calls_);
    return {};
  }
  Result<Dag> dag(const DagQuestion&) override { return Dag{}; }
  Result<std::vector<PairTraffic>> traffic() override { return std::vector<PairTraffic>(); }

 private:
  std::vector<Message> messages_;
  std::vector<CollectiveCall> calls_;
  std::vector<Window> windows_;
};

// A job that answers with the graph of its messages.
class Answering final : public session::Session {
 public:
  Answering(std::vector<Message> messages, std::int32_t ranks)
      : messages_(std::move(messages)), nodes_(static_cast<std::size_t>(ranks)) {}
  Result<std::optional<Snapshot>> newer(std::chrono::milliseconds) override { return std::optional<Snapshot>(); }
  session::Phase phase() override { return session::Phase::running; }
  bool live() const override { return true; }
  bool complete() const override { return false; }
  Status messages(const session::TimeSpan&, const std::function<bool(std::span<const Message>)>&) override {
    return Error{ErrorCode::bad_argument, "live"};
  }
  std::uint64_t message_count() const override { return 0; }
  std::uint64_t messages_not_stored() const override { return 0; }
  std::uint64_t collectives_not_stored() const override { return 0; }
  Result<std::vector<Window>> windows() override { return std::vector<Window>(); }
  Status collectives(const session::TimeSpan&, const std::function<bool(std::span<const CollectiveCall>)>&) override {
    return Error{ErrorCode::bad_argument, "live"};
  }
  Result<Dag> dag(const DagQuestion& question) override {
    return build_dag(question, {messages_, nodes_, [](const Message&) { return 1.0; }, 0});
  }
  Result<std::vector<PairTraffic>> traffic() override { return std::vector<PairTraffic>(); }

 private:
  std::vector<Message> messages_;
  std::vector<std::int32_t> nodes_;
};

}  // namespace pclscope::test
