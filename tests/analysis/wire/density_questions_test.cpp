// Questions for the density of calls over real unix sockets.
#include <atomic>
#include <catch2/catch.hpp>
#include <chrono>
#include <thread>

#include "analysis/density/coarser.hpp"
#include "analysis/density/pyramid.hpp"
#include "analysis/wire/decode.hpp"
#include "analysis/wire/encode.hpp"
#include "analysis/wire/publisher.hpp"
#include "analysis/wire/subscriber.hpp"
#include "tests/analysis/density/random_calls.hpp"
#include "tests/analysis/discovery/private_directory.hpp"
#include "tests/patience.hpp"

using namespace pclscope;
using namespace pclscope::wire;
using namespace std::chrono_literals;
using pclscope::testing::PrivateDirectory;

namespace {

// Serves until it is destroyed.
class AskedJob {
 public:
  AskedJob(const std::string& endpoint, Publisher::DensityHandler handler) : handler_(std::move(handler)) {
    auto bound = Publisher::bind(endpoint);
    if (!bound) FAIL(bound.error().message);
    publisher_ = std::move(*bound);
    thread_ = std::thread([this] {
      while (!stop_) {
        publisher_->serve({}, {}, {}, handler_);
        std::this_thread::sleep_for(1ms);
      }
    });
  }
  ~AskedJob() {
    stop_ = true;
    thread_.join();
  }

 private:
  Publisher::DensityHandler handler_;
  std::unique_ptr<Publisher> publisher_;
  std::atomic<bool> stop_{false};
  std::thread thread_;
};

}  // namespace

TEST_CASE("the density of calls is asked for part by part: together they are the whole") {
  const PrivateDirectory directory;
  const std::string endpoint = "ipc://" + directory.path() + "/job";
  density::Pyramid pyramid({.most_slices = 256, .budget_bytes = 1u << 22, .first_shift = 20});
  const std::int64_t until = 40'000'000'000;
  for (const auto& c : density::test::random_calls(11, 4000, until)) density::test::put(pyramid, c);
  const CallDensity whole = pyramid.value();
  const AskedJob job(endpoint, [&](const DensityQuestion& question) { return pyramid.part(question, {}, 100'000); });
  auto viewer = Subscriber::connect(endpoint);
  REQUIRE(viewer);
  CallDensity sum;
  int parts = 0;
  for (std::int64_t from = 0; from <= until; ++parts) {
    const auto part = (*viewer)->ask_density({from, until + 1}, test::patience);
    REQUIRE(part);
    REQUIRE(part->begin_ns == from);
    density::add(sum, part->density);
    from = part->end_ns;
  }
  CHECK(parts > 3);
  CHECK(sum == whole);
}

TEST_CASE("a job that does not tell the density of its calls says so") {
  const PrivateDirectory directory;
  const std::string endpoint = "ipc://" + directory.path() + "/job";
  const AskedJob job(endpoint, {});
  auto viewer = Subscriber::connect(endpoint);
  REQUIRE(viewer);
  const auto none = (*viewer)->ask_density({}, test::patience);
  REQUIRE_FALSE(none);
  CHECK(none.error().code == ErrorCode::not_found);
}

TEST_CASE("a job of an earlier version does not know the question: the asker is told so, not kept waiting") {
  // What such a job answers to every kind that it does not know.
  class EarlierJob final : public FrameLink {
   public:
    Status ask(std::span<const std::uint8_t> question, Deadline) override {
      id_ = decode_question(question)->id;
      return {};
    }
    Result<std::optional<AnswerFrames>> answer(Deadline) override {
      const auto made = encoder_.answer(id_, AnswerStatus::unknown_question);
      const auto bytes = std::make_shared<std::vector<std::uint8_t>>(made.begin(), made.end());
      return std::optional(AnswerFrames{{bytes, *bytes}, {}});
    }
    Result<std::optional<Frame>> snapshot(Deadline) override { return std::optional<Frame>(); }
    Error nobody(std::chrono::milliseconds) const override { return {ErrorCode::unreachable, "nobody"}; }

   private:
    Encoder encoder_;
    std::uint64_t id_ = 0;
  };
  Subscriber viewer(std::make_unique<EarlierJob>());
  const auto none = viewer.ask_density({}, test::patience);
  REQUIRE_FALSE(none);
  CHECK(none.error().code == ErrorCode::wrong_version);
}
