#include "viewer/session/feed.hpp"

#include <atomic>
#include <catch2/catch.hpp>
#include <chrono>
#include <memory>
#include <thread>

#include "tests/patience.hpp"
#include "tests/viewer/fake_run.hpp"
#include "tests/viewer/memory_session.hpp"

using namespace pclscope;
using namespace pclscope::session;
using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

namespace {

// What the job does, for all sessions with it. A feed's threads may outlive the feed for a moment: they share it.
struct FakeJob {
  std::atomic<int> sequence{0};
  std::atomic<bool> there{true};  // it can be connected to
  std::atomic<bool> dies{false};
  std::atomic<bool> ends{false};
  std::atomic<bool> silent{false};  // questions take long
  std::atomic<int> opened{0};
  std::atomic<int> asked{0};
  std::atomic<int> answered{0};
};

class FakeLive final : public Session {
 public:
  explicit FakeLive(std::shared_ptr<FakeJob> job) : shared_(std::move(job)), job_(*shared_) {}
  Result<std::optional<Snapshot>> newer(std::chrono::milliseconds timeout) override {
    std::this_thread::sleep_for(std::min(timeout, 5ms));
    if (job_.dies) return std::optional<Snapshot>();
    Snapshot next = test::fake_snapshot({.ranks = 8, .regions = 2, .slow = 1, .windows = 20});
    next.live.sequence = static_cast<std::uint64_t>(++job_.sequence);
    next.finished = job_.ends;
    return std::optional<Snapshot>(std::move(next));
  }
  Phase phase() override { return job_.dies ? Phase::lost : job_.ends ? Phase::finished : Phase::running; }
  bool live() const override { return true; }
  bool complete() const override { return false; }
  Status messages(const TimeSpan&, const std::function<bool(std::span<const Message>)>&) override { return {}; }
  std::uint64_t message_count() const override { return 0; }
  std::uint64_t messages_not_stored() const override { return 0; }
  std::uint64_t collectives_not_stored() const override { return 0; }
  Result<std::vector<Window>> windows() override { return std::vector<Window>(); }
  Status collectives(const TimeSpan&, const std::function<bool(std::span<const CollectiveCall>)>&) override {
    return {};
  }
  Result<Dag> dag(const DagQuestion& question) override {
    ++job_.asked;
    for (int i = 0; job_.silent && i < 90'000; ++i) std::this_thread::sleep_for(10ms);
    ++job_.answered;
    Dag dag = test::fake_dag(4, 3);
    dag.region = question.region;
    return dag;
  }
  Result<std::vector<PairTraffic>> traffic() override { return std::vector<PairTraffic>(); }

 private:
  const std::shared_ptr<FakeJob> shared_;
  FakeJob& job_;
};

Feed::Open open_of(const std::shared_ptr<FakeJob>& job) {
  return [job]() -> Result<std::unique_ptr<Session>> {
    ++job->opened;
    if (!job->there) return Error{ErrorCode::unreachable, "nobody is there"};
    return std::unique_ptr<Session>(std::make_unique<FakeLive>(job));
  };
}

template <class Condition>
bool soon(Condition condition) {
  const auto end = Clock::now() + test::patience;
  while (Clock::now() < end) {
    if (condition()) return true;
    std::this_thread::sleep_for(5ms);
  }
  return false;
}

}  // namespace

TEST_CASE("a running job's snapshots come one after the other") {
  std::atomic<int> woken{0};
  Feed feed(open_of(std::make_shared<FakeJob>()), {.wake = [&] { ++woken; }});
  REQUIRE(soon([&] { return feed.state().snapshots >= 5; }));
  const FeedState state = feed.state();
  CHECK(state.phase == Phase::running);
  REQUIRE(state.snapshot);
  REQUIRE(state.history);
  CHECK(state.snapshot->live.sequence >= 5);
  CHECK(soon([&] { return woken >= 5; }));
}

TEST_CASE("a job that dies is lost, and found again when it is back") {
  const auto shared = std::make_shared<FakeJob>();
  FakeJob& job = *shared;
  Feed feed(open_of(shared), {});
  REQUIRE(soon([&] { return feed.state().phase == Phase::running; }));
  job.there = false;
  job.dies = true;
  REQUIRE(soon([&] { return feed.state().phase == Phase::lost; }));
  CHECK(feed.state().problem.find("gone") != std::string::npos);
  CHECK(feed.state().snapshot);  // the last is still there
  const auto before = feed.state().snapshots;
  job.dies = false;
  job.there = true;
  REQUIRE(soon([&] { return feed.state().phase == Phase::running; }));
  CHECK(feed.state().reconnects == 1);
  CHECK(soon([&] { return feed.state().snapshots > before; }));
}

TEST_CASE("a job that ends in order is finished, not lost") {
  const auto shared = std::make_shared<FakeJob>();
  FakeJob& job = *shared;
  Feed feed(open_of(shared), {});
  REQUIRE(soon([&] { return feed.state().phase == Phase::running; }));
  job.there = false;
  job.ends = true;
  CHECK(soon([&] { return feed.state().phase == Phase::finished; }));
}

TEST_CASE("who cannot be reached says so, and is tried again") {
  const auto shared = std::make_shared<FakeJob>();
  FakeJob& job = *shared;
  job.there = false;
  Feed feed(open_of(shared), {});
  REQUIRE(soon([&] { return feed.state().phase == Phase::failed; }));
  CHECK(feed.state().problem == "nobody is there");
  job.there = true;
  CHECK(soon([&] { return feed.state().phase == Phase::running; }));
}

TEST_CASE("questions are answered, the newest counts, and a silent job does not hold up its news") {
  const auto shared = std::make_shared<FakeJob>();
  FakeJob& job = *shared;
  Feed feed(open_of(shared), {});
  feed.ask_dag({.region = 1, .ranks = {}});
  REQUIRE(soon([&] { return feed.state().dag != nullptr; }));
  CHECK(feed.state().dag->region == 1);
  job.silent = true;
  feed.ask_dag({.region = 0, .ranks = {}});
  REQUIRE(soon([&] { return job.asked == 2; }));
  feed.ask_dag({.region = 5, .ranks = {}});
  feed.ask_dag({.region = 7, .ranks = {}});
  CHECK(feed.state().dag_waiting);
  const auto before = feed.state().snapshots;
  CHECK(soon([&] { return feed.state().snapshots > before + 5; }));
  job.silent = false;
  REQUIRE(soon([&] { return !feed.state().dag_waiting; }));
  CHECK(feed.state().dag_question.region == 7);
  CHECK(job.asked == 3);  // 5 was never asked
}

TEST_CASE("a question to a job that is gone gets an answer too") {
  const auto shared = std::make_shared<FakeJob>();
  FakeJob& job = *shared;
  Feed feed(open_of(shared), {});
  REQUIRE(soon([&] { return feed.state().phase == Phase::running; }));
  job.there = false;
  feed.ask_dag({.region = 1, .ranks = {}});
  REQUIRE(soon([&] { return !feed.state().dag_waiting; }));
  CHECK(feed.state().dag_problem == "nobody is there");
}

TEST_CASE("any other question is run with the run itself, in the order of asking") {
  const auto shared = std::make_shared<FakeJob>();
  const auto order = std::make_shared<std::vector<int>>();
  const auto done = std::make_shared<std::atomic<int>>(0);
  Feed feed(open_of(shared), {});
  REQUIRE(soon([&] { return feed.state().phase == Phase::running; }));
  for (int i = 0; i < 3; ++i) {
    feed.ask([order, done, i](Session* session, const std::function<bool()>& stopping) {
      if (session != nullptr && session->live() && !stopping()) order->push_back(i);
      ++*done;
    });
  }
  REQUIRE(soon([&] { return *done == 3; }));
  CHECK(*order == std::vector<int>{0, 1, 2});
}

TEST_CASE("a question to a run that is gone is told so") {
  const auto shared = std::make_shared<FakeJob>();
  Feed feed(open_of(shared), {});
  REQUIRE(soon([&] { return feed.state().phase == Phase::running; }));
  shared->there = false;
  shared->dies = true;
  REQUIRE(soon([&] { return feed.state().phase == Phase::lost; }));
  const auto none = std::make_shared<std::atomic<bool>>(false);
  feed.ask([none](Session* session, const std::function<bool()>&) { *none = session == nullptr; });
  CHECK(soon([&] { return none->load(); }));
}

TEST_CASE("a feed ends at once, whatever its job does") {
  const auto shared = std::make_shared<FakeJob>();
  FakeJob& job = *shared;
  job.silent = true;
  {
    Feed feed(open_of(shared), {});
    feed.ask_dag({.region = 1, .ranks = {}});
    REQUIRE(soon([&] { return job.asked > 0; }));
  }
  CHECK(job.answered == 0);  // it did not wait for the answer
  job.silent = false;
}

TEST_CASE("a stored run is read once, and its questions are answered by the same thread") {
  std::atomic<int> opened{0};
  Feed feed(
      [&]() -> Result<std::unique_ptr<Session>> {
        ++opened;
        class Stored final : public Session {
         public:
          Result<std::optional<Snapshot>> newer(std::chrono::milliseconds) override {
            thread_ = std::this_thread::get_id();
            return std::optional<Snapshot>(test::fake_snapshot());
          }
          Phase phase() override { return Phase::finished; }
          bool live() const override { return false; }
          bool complete() const override { return true; }
          Status messages(const TimeSpan&, const std::function<bool(std::span<const Message>)>&) override { return {}; }
          std::uint64_t message_count() const override { return 0; }
          std::uint64_t messages_not_stored() const override { return 0; }
          std::uint64_t collectives_not_stored() const override { return 0; }
          Result<std::vector<Window>> windows() override { return std::vector<Window>(); }
          Status collectives(const TimeSpan&, const std::function<bool(std::span<const CollectiveCall>)>&) override {
            return {};
          }
          Result<Dag> dag(const DagQuestion&) override {
            if (std::this_thread::get_id() != thread_) return Error{ErrorCode::io, "another thread"};
            return test::fake_dag(4, 2);
          }
          Result<std::vector<PairTraffic>> traffic() override { return std::vector<PairTraffic>(); }

         private:
          std::thread::id thread_;
        };
        return std::unique_ptr<Session>(std::make_unique<Stored>());
      },
      {});
  feed.ask_dag({.region = 1, .ranks = {}});
  REQUIRE(soon([&] { return feed.state().dag != nullptr; }));
  CHECK(feed.state().phase == Phase::stored);
  CHECK(feed.state().snapshots == 1);
  CHECK(opened == 1);
}
