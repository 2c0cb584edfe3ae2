#include "viewer/inspect/newest_calls.hpp"

#include <chrono>
#include <thread>
#include <utility>

#include "viewer/session/live_timeline.hpp"

namespace pclscope::commands {
namespace {

constexpr std::chrono::milliseconds listens{2000}, between_answers{200};

// A running job and its newest calls.
class WithCalls final : public session::Session {
 public:
  WithCalls(std::unique_ptr<session::Session> job, session::LiveTimeline calls)
      : job_(std::move(job)), calls_(std::move(calls)) {}

  Result<std::optional<Snapshot>> newer(std::chrono::milliseconds timeout) override { return job_->newer(timeout); }
  session::Phase phase() override { return job_->phase(); }
  std::string way() const override { return job_->way(); }
  std::string job() const override { return job_->job(); }
  bool live() const override { return true; }
  bool complete() const override { return job_->complete(); }
  Status messages(const session::TimeSpan&, const std::function<bool(std::span<const Message>)>&) override {
    return {};
  }
  std::uint64_t message_count() const override { return 0; }
  std::uint64_t messages_not_stored() const override { return 0; }
  std::uint64_t collectives_not_stored() const override { return 0; }
  Result<std::vector<Window>> windows() override { return job_->windows(); }
  Status collectives(const session::TimeSpan&, const std::function<bool(std::span<const CollectiveCall>)>&) override {
    return {};
  }
  session::CallCount mpi_call_count() const override { return {true, calls_.calls().size(), calls_.left_out(), 0}; }
  Status mpi_calls(const session::TimeSpan& span, const std::function<bool(std::span<const MpiCall>)>& visit) override {
    for (const MpiCall& call : calls_.calls())
      if (call.begin < span.end_ns && call.end >= span.begin_ns && !visit({&call, 1})) break;
    return {};
  }
  Result<Dag> dag(const DagQuestion& question) override { return job_->dag(question); }
  Result<std::vector<PairTraffic>> traffic() override { return job_->traffic(); }

 private:
  std::unique_ptr<session::Session> job_;
  session::LiveTimeline calls_;
};

}  // namespace

Result<NewestOfJob> listen_to_calls(InspectedRun& run) {
  using Clock = std::chrono::steady_clock;
  session::LiveTimeline calls;
  const auto ask = [&](const CallsQuestion& question) { return run.session->newest_calls(question); };
  const Clock::time_point until = Clock::now() + listens;
  for (bool last = false; !std::exchange(last, Clock::now() >= until);) {
    if (const Status asked = calls.refresh(ask); !asked) {
      if (calls.empty() || asked.error().code != ErrorCode::unreachable) return asked.error();
      break;  // it has ended meanwhile
    }
    std::this_thread::sleep_for(between_answers);
  }
  NewestOfJob newest{calls.newest().running, calls.words()};
  run.session = std::make_unique<WithCalls>(std::move(run.session), std::move(calls));
  return newest;
}

}  // namespace pclscope::commands
