// Questions for the newest single calls over real unix sockets.
#include <atomic>
#include <catch2/catch.hpp>
#include <chrono>
#include <mutex>
#include <random>
#include <thread>

#include "analysis/wire/decode.hpp"
#include "analysis/wire/encode.hpp"
#include "analysis/wire/frame.hpp"
#include "analysis/wire/publisher.hpp"
#include "analysis/wire/subscriber.hpp"
#include "tests/analysis/discovery/private_directory.hpp"
#include "tests/analysis/wire/some_calls.hpp"
#include "tests/patience.hpp"
#include "tests/seed.hpp"

using namespace pclscope;
using namespace pclscope::wire;
using namespace std::chrono_literals;
using pclscope::testing::PrivateDirectory;

namespace {

// Serves until it is destroyed.
class CallingJob {
 public:
  CallingJob(const std::string& endpoint, Publisher::CallsHandler handler) : handler_(std::move(handler)) {
    auto bound = Publisher::bind(endpoint);
    if (!bound) FAIL(bound.error().message);
    publisher_ = std::move(*bound);
    thread_ = std::thread([this] {
      while (!stop_) {
        publisher_->serve({}, {}, {}, {}, handler_);
        std::this_thread::sleep_for(1ms);
      }
    });
  }
  ~CallingJob() {
    stop_ = true;
    thread_.join();
  }

 private:
  Publisher::CallsHandler handler_;
  std::unique_ptr<Publisher> publisher_;
  std::atomic<bool> stop_{false};
  std::thread thread_;
};

}  // namespace

TEST_CASE("the newest calls come as the job told them, and the question as it was asked") {
  const auto seed = test::random_seed();
  INFO("seed " << seed);
  std::mt19937_64 random(seed);
  const PrivateDirectory directory;
  const std::string endpoint = "ipc://" + directory.path() + "/job";
  const CallsPart told = test::some_calls(random, 3000);
  CallsQuestion asked, last;
  std::mutex of_last;  // what came over the socket came later; ThreadSanitizer cannot see that
  asked.from_ns = 123'456'789'012;
  asked.most = 77;
  asked.ranks = {0, 1, 2, 9, 1000};
  const CallingJob job(endpoint, [&](const CallsQuestion& question) {
    const std::lock_guard lock(of_last);
    last = question;
    return told;
  });
  const auto got = [&] {
    const std::lock_guard lock(of_last);
    return last;
  };
  auto viewer = Subscriber::connect(endpoint);
  REQUIRE(viewer);
  const auto part = (*viewer)->ask_calls(asked, test::patience);
  REQUIRE(part);
  CHECK(*part == told);
  CHECK(got().from_ns == asked.from_ns);
  CHECK(got().most == asked.most);
  CHECK(got().ranks == asked.ranks);
  asked.most = UINT32_MAX;
  REQUIRE((*viewer)->ask_calls(asked, test::patience));
  CHECK(got().most == limit::calls);
  for (std::int32_t rank = 0; rank < 100'000; rank += 2) asked.ranks.push_back(2000 + rank);
  const auto none = (*viewer)->ask_calls(asked, test::patience);
  REQUIRE_FALSE(none);
  CHECK(none.error().code == ErrorCode::bad_argument);
}

TEST_CASE("a job that does not tell single calls says so") {
  const PrivateDirectory directory;
  const std::string endpoint = "ipc://" + directory.path() + "/job";
  const CallingJob job(endpoint, {});
  auto viewer = Subscriber::connect(endpoint);
  REQUIRE(viewer);
  const auto none = (*viewer)->ask_calls({}, test::patience);
  REQUIRE_FALSE(none);
  CHECK(none.error().code == ErrorCode::not_found);
}

TEST_CASE("calls that readers could not subtract are refused") {
  std::mt19937_64 random(4);
  Encoder encoder;
  const CallsPart good = test::some_calls(random, 10);
  REQUIRE(decode_calls(encoder.calls(good)));
  const auto refused = [&](auto&& damage) {
    CallsPart part = good;
    damage(part);
    const auto read = decode_calls(encoder.calls(part));
    return !read && read.error().code == ErrorCode::damaged;
  };
  CHECK(refused([](CallsPart& p) { p.calls[3].end = p.calls[3].begin - 1; }));
  CHECK(refused([](CallsPart& p) { p.calls[3].end = INT64_MAX; }));
  CHECK(refused([](CallsPart& p) { p.calls[3].begin = INT64_MIN; }));
  CHECK(refused([](CallsPart& p) { p.calls[3].outside = -2; }));
  CHECK(refused([](CallsPart& p) { p.calls[3].rank = -1; }));
  CHECK(refused([](CallsPart& p) { p.running[0].rank = -1; }));
  CHECK(refused([](CallsPart& p) { p.from_ns = p.until_ns + 1; }));
  CHECK(refused([](CallsPart& p) { p.now_ns = p.until_ns - 1; }));
  CHECK(refused([](CallsPart& p) { p.from_ns = -1; }));
}
