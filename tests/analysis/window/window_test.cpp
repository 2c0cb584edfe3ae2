#include <catch2/catch.hpp>
#include <random>

#include "analysis/window/activity.hpp"
#include "analysis/window/open_windows.hpp"
#include "analysis/window/pair_table.hpp"
#include "analysis/window/worst.hpp"

using namespace pclscope;

namespace {
Message at(std::int64_t recv_end) {
  Message m;
  m.recv_end = recv_end;
  return m;
}
void add(OpenWindows& windows, std::int64_t recv_end) {
  const Message m = at(recv_end);
  windows.add({&m, 1});
}
}  // namespace

TEST_CASE("a window closes when it is over by the allowance, and later messages go to the next") {
  OpenWindows windows(100, 20);
  OpenWindows::Closed closed;
  add(windows, 50);
  add(windows, 99);
  add(windows, 100);
  CHECK_FALSE((windows.close(119, closed) && !closed.messages.empty()));
  REQUIRE(windows.close(120, closed));
  CHECK(closed.begin_ns == 0);
  CHECK(closed.messages.size() == 2);
  CHECK_FALSE(windows.close(120, closed));
  add(windows, 70);
  CHECK(windows.late() == 1);
  REQUIRE(windows.close(220, closed));
  CHECK(closed.begin_ns == 100);
  CHECK(closed.messages.size() == 2);
}

TEST_CASE("silent windows are told once they are over, several in a row as one") {
  OpenWindows windows(100, 20);
  OpenWindows::Closed closed;
  add(windows, 10);
  REQUIRE(windows.close(130, closed));
  REQUIRE(windows.close(250, closed));
  CHECK(closed.begin_ns == 100);
  CHECK(closed.messages.empty());
  CHECK(closed.skipped == 0);
  CHECK_FALSE(windows.close(300, closed));
  REQUIRE(windows.close(1'000'000'020, closed));
  CHECK(closed.begin_ns == 999'999'900);
  CHECK(closed.skipped == 9'999'997);
  CHECK_FALSE(windows.close(1'000'000'020, closed));
}

TEST_CASE("old messages are welcome until the first window with messages has closed") {
  OpenWindows windows(100, 20);
  OpenWindows::Closed closed;
  CHECK(windows.close(5000, closed));
  CHECK(closed.messages.empty());
  add(windows, 10);
  REQUIRE(windows.close(5000, closed));
  CHECK(closed.begin_ns == 0);
  CHECK(windows.late() == 0);
}

TEST_CASE("times before the origin have windows too") {
  OpenWindows windows(100, 0);
  OpenWindows::Closed closed;
  add(windows, -1);
  add(windows, -100);
  add(windows, -101);
  REQUIRE(windows.close_any(closed));
  CHECK(closed.begin_ns == -200);
  REQUIRE(windows.close_any(closed));
  CHECK(closed.begin_ns == -100);
  CHECK(closed.messages.size() == 2);
}

TEST_CASE("a flood closes windows early instead of growing without bound") {
  OpenWindows windows(1'000'000, 0);
  OpenWindows::Closed closed;
  std::size_t seen = 0, peak = 0;
  const std::vector<Message> batch(1000, at(5));
  for (int i = 0; i < 3000; ++i) {
    windows.add(batch);
    while (windows.close(0, closed)) seen += closed.messages.size();
    peak = std::max(peak, windows.messages());
  }
  while (windows.close_any(closed)) seen += closed.messages.size();
  CHECK(seen == 3'000'000);
  CHECK(peak <= OpenWindows::limit + 1000);
}

TEST_CASE("pairs add up over windows and grow without mixing") {
  std::mt19937_64 random(2);
  PairTable pairs;
  std::vector<std::vector<std::uint64_t>> truth(100, std::vector<std::uint64_t>(100));
  for (int window = 0; window < 20; ++window) {
    std::uint64_t in_window = 0;
    for (int i = 0; i < 2000; ++i) {
      const auto s = static_cast<std::int32_t>(random() % 100), d = static_cast<std::int32_t>(random() % 100);
      ++pairs.window_sums(pairs.touch(s, d)).messages;
      ++truth[s][d];
    }
    for (const std::uint32_t i : pairs.touched()) in_window += pairs.window(i).messages;
    CHECK(in_window == 2000);
    pairs.fold_window();
    pairs.clear_window();
  }
  for (std::size_t i = 0; i < pairs.size(); ++i)
    REQUIRE(pairs.total(i).messages == truth[pairs.pair(i).source][pairs.pair(i).destination]);
}

TEST_CASE("the worst messages are those with the largest ratios, recently and overall") {
  std::mt19937_64 random(8);
  WorstMessages worst(5, 1000);
  std::vector<double> all, recent;
  for (int window = 0; window < 50; ++window) {
    for (int i = 0; i < 40; ++i) {
      const double ratio = static_cast<double>(random() % 1'000'000) / 1000;
      worst.add(at(window), ratio);
      all.push_back(ratio);
      if (window * 100 + 100 >= 5000 - 1000) recent.push_back(ratio);
    }
    worst.close_window(window * 100 + 100);
  }
  const auto check = [](const std::vector<WorstMessage>& found, std::vector<double>& truth) {
    std::sort(truth.rbegin(), truth.rend());
    REQUIRE(found.size() == 5);
    for (std::size_t i = 0; i < 5; ++i) CHECK(found[i].ratio == truth[i]);
  };
  check(worst.overall(), all);
  check(worst.recent(), recent);
}

TEST_CASE("time inside MPI counts each tick once, whatever a call leaves behind") {
  const auto event = [](record::EventKind kind, std::uint64_t begin, std::uint64_t end, std::uint32_t flags = 0) {
    record::Event e{};
    e.kind = kind;
    e.begin = begin;
    e.end = end;
    e.flags = flags;
    return e;
  };
  using record::EventKind;
  const std::vector<record::Event> events = {
      event(EventKind::init, 0, 1000),
      event(EventKind::recv_post, 1100, 1110),
      event(EventKind::send, 1200, 1210),
      event(EventKind::call, 1300, 1400),                             // Waitall ...
      event(EventKind::recv_done, 1300, 1400, record::flag::posted),  // ... and what it completed
      event(EventKind::recv_done, 1300, 1400, record::flag::posted),
      event(EventKind::send, 1500, 1550),  // Sendrecv
      event(EventKind::recv_done, 1500, 1550),
      event(EventKind::call, 1600, 1700),  // Wait of an Iallreduce posted at 1000
      event(EventKind::collective, 1000, 1700, record::flag::nonblocking),
      event(EventKind::collective, 1800, 1900),
      event(EventKind::finalize, 2000, 2500),
  };
  Activity activity(2);
  activity.add(1, 0, events);
  CHECK(activity.rank(1).mpi_ticks == 10 + 10 + 100 + 50 + 100 + 100);
  CHECK(activity.rank(1).init_ticks == 1000);
  CHECK(activity.rank(1).collectives == 2);
  CHECK(activity.rank(1).finalized);
  CHECK(activity.finalized_ranks() == 1);
  // A second thread's time adds to it.
  const record::Event other = event(EventKind::call, 1300, 1400);
  activity.add(1, 1, {&other, 1});
  CHECK(activity.rank(1).mpi_ticks == 370 + 100);
}
