#include "analysis/aggregator/end_patience.hpp"

#include <catch2/catch.hpp>

using namespace pclscope;
using aggregator::EndPatience;
using std::chrono::milliseconds;

namespace {

constexpr std::int64_t ms = 1'000'000;
constexpr milliseconds for_an_epoch{30'000}, asleep{10'000};

struct Waited {
  EndPatience patience{for_an_epoch, asleep};
  EndPatience::Clock::time_point now{std::chrono::hours(1)};
  bool after(milliseconds pause, std::uint64_t epochs, std::int64_t ran_ns) {
    now += pause;
    return patience.go_on(now, epochs, ran_ns);
  }
};

}  // namespace

TEST_CASE("a worker that is not given a core is waited for, one that hangs is not") {
  Waited starved, hangs;
  for (std::int64_t i = 0; i * 9'000 <= for_an_epoch.count(); ++i)
    CHECK(starved.after(milliseconds(i == 0 ? 0 : 9'000), 7, (100 + 2 * i) * ms));
  CHECK_FALSE(starved.after(for_an_epoch, 7, 200 * ms));  // for an epoch not for ever
  CHECK(hangs.after(milliseconds(0), 7, 100 * ms));
  CHECK(hangs.after(asleep, 7, 100 * ms));
  CHECK_FALSE(hangs.after(milliseconds(1), 7, 100 * ms));
}

TEST_CASE("as long as epochs end the last ones may take any time") {
  Waited w;
  for (std::uint64_t epoch = 7; epoch < 100; ++epoch) CHECK(w.after(asleep, epoch, -1));
  CHECK_FALSE(w.after(asleep + milliseconds(1), 99, -1));  // its processor time is not known
}
