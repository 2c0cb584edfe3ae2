#include <unistd.h>

#include <cerrno>

#include "analysis/wire/subscriber.hpp"
#include "viewer/launch/process.hpp"
#include "viewer/reach/ways.hpp"
#include "viewer/session/session.hpp"

namespace pclscope::session {
namespace {

using Clock = std::chrono::steady_clock;
// Without a pid to look at, silence must stand for death: aggregators publish every window, 60 s at most.
constexpr auto longest_silence = std::chrono::seconds(90);
// A job on another node gives signs of life in the shared directory; when no snapshot has come for so long they count.
constexpr auto until_looked_for = std::chrono::seconds(15);
constexpr auto until_gone = std::chrono::seconds(8);  // and for a last snapshot on its way
constexpr auto between_looks = std::chrono::seconds(1);
constexpr auto patience_with_graphs = std::chrono::seconds(10);

class LiveSession final : public Session {
 public:
  LiveSession(LiveSource source, reach::Reached reached)
      : source_(std::move(source)),
        subscriber_(std::move(reached.subscriber)),
        way_(std::move(reached.way)),
        job_(std::move(reached.job)) {}

  Result<std::optional<Snapshot>> newer(std::chrono::milliseconds timeout) override;
  Phase phase() override;
  bool live() const override { return true; }
  std::string way() const override { return way_; }
  std::string job() const override { return job_; }
  bool complete() const override { return finished_; }
  Status messages(const TimeSpan&, const std::function<bool(std::span<const Message>)>&) override {
    return not_stored();
  }
  std::uint64_t message_count() const override { return 0; }
  std::uint64_t messages_not_stored() const override { return 0; }
  std::uint64_t collectives_not_stored() const override { return 0; }
  Result<std::vector<Window>> windows() override { return not_stored(); }
  Status collectives(const TimeSpan&, const std::function<bool(std::span<const CollectiveCall>)>&) override {
    return not_stored();
  }
  Result<Dag> dag(const DagQuestion& question) override { return subscriber_->ask_dag(question, patience_with_graphs); }
  Result<std::vector<PairTraffic>> traffic() override { return subscriber_->ask_traffic(patience_with_graphs); }
  Result<DensityPart> density(const DensityQuestion& question) override {
    return subscriber_->ask_density(question, patience_with_graphs);
  }
  Result<CallsPart> newest_calls(const CallsQuestion& question) override {
    return subscriber_->ask_calls(question, patience_with_graphs);
  }

 private:
  static Error not_stored() {
    return {ErrorCode::bad_argument, "a running job gives summaries only: give the dump file instead"};
  }

  Phase phase_elsewhere();

  LiveSource source_;
  std::unique_ptr<wire::Subscriber> subscriber_;
  std::string way_, job_;
  Clock::time_point next_look_{};  // at the announcement of a job elsewhere
  bool lost_ = false;              // what it said
  Clock::time_point last_news_ = Clock::now();
  std::uint64_t sequence_ = 0;
  bool any_ = false;
  bool finished_ = false;
};

// The first snapshot is asked for, so that a late viewer has not to wait for the next one; then they come by
// themselves. A subscription that brings nothing for a while is helped by asking again.
Result<std::optional<Snapshot>> LiveSession::newer(std::chrono::milliseconds timeout) {
  const auto deadline = Clock::now() + timeout;
  auto got = any_ ? subscriber_->next(timeout) : Result<std::optional<Snapshot>>(std::optional<Snapshot>());
  if (!got && got.error().code == ErrorCode::unreachable) return std::optional<Snapshot>();  // phase() says more
  if (!got) return got.error();
  const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now());
  const bool helps = !any_ || (!subscriber_->paced() && Clock::now() - last_news_ > std::chrono::seconds(2));
  if (!*got && helps) {
    auto answer = subscriber_->ask(any_ ? std::chrono::milliseconds(50) : std::max(left, std::chrono::milliseconds(1)));
    if (answer) {
      *got = std::move(*answer);
    } else if (answer.error().code != ErrorCode::unreachable) {
      return answer.error();
    }
  }
  if (!*got) return got;
  if (any_ && (*got)->live.sequence == sequence_) return std::optional<Snapshot>();
  any_ = true;
  sequence_ = (*got)->live.sequence;
  finished_ = (*got)->finished;
  last_news_ = Clock::now();
  return got;
}

Phase LiveSession::phase() {
  if (finished_) return Phase::finished;
  if (source_.job && !source_.job->here) return phase_elsewhere();
  if (!subscriber_->open()) return Phase::lost;
  if (source_.job) {
    if (launch::process_alive(source_.job->aggregator_pid)) return Phase::running;
    // In order, an aggregator takes its announcement back before it ends.
    return ::access(source_.job->file.c_str(), F_OK) == 0 ? Phase::lost : Phase::finished;
  }
  return Clock::now() - last_news_ > longest_silence ? Phase::lost : Phase::running;
}

// An orderly end is told by the last snapshot; an announcement that is gone without one was taken down by others.
Phase LiveSession::phase_elsewhere() {
  if (const auto now = Clock::now(); now >= next_look_) {
    next_look_ = now + between_looks;
    const bool gone = ::access(source_.job->file.c_str(), F_OK) != 0 && errno == ENOENT;
    const auto quiet = now - last_news_;
    lost_ = (gone && quiet > until_gone) ||
            (quiet > until_looked_for && discovery::silence_of(source_.job->file) > discovery::silent_s);
  }
  return lost_ || !subscriber_->open() ? Phase::lost : Phase::running;
}

}  // namespace

Result<std::unique_ptr<Session>> open_live(const LiveSource& source) {
  const reach::WayOptions ways{true, source.interval, source.give_up};
  Result<reach::Reached> reached = [&]() -> Result<reach::Reached> {
    if (!source.via.empty()) return reach::reach_via(source.via, source.name, ways);
    if (source.job && !source.job->here) return reach::reach(*source.job, ways);
    auto subscriber = wire::Subscriber::connect(source.endpoint);
    if (!subscriber) return subscriber.error();
    return reach::Reached{std::move(*subscriber), source.name, ""};
  }();
  if (!reached) return reached.error();
  return std::unique_ptr<Session>(std::make_unique<LiveSession>(source, std::move(*reached)));
}

}  // namespace pclscope::session
