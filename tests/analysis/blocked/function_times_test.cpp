// Shares per window, computed on paper: one tick is one nanosecond, windows of 100 ms.
#include "analysis/blocked/function_times.hpp"

#include <catch2/catch.hpp>
#include <map>
#include <random>

#include "interpose/record/functions.hpp"

using namespace pclscope;
using blocked::FunctionTimes;
using blocked::InsideNow;
using record::Event;
using record::EventKind;
using record::Function;

namespace {

constexpr std::uint64_t ms = 1'000'000;
constexpr std::int64_t window = 100 * ms;

Event event(EventKind kind, Function function, std::uint64_t begin, std::uint64_t end, std::uint32_t flags = 0) {
  Event e{};
  e.kind = kind;
  e.function = static_cast<std::uint16_t>(function);
  e.begin = begin;
  e.end = end;
  e.flags = flags;
  return e;
}
Event send(std::uint64_t begin, std::uint64_t end) { return event(EventKind::send, Function::Send, begin, end); }

const FunctionActivity* find(const std::vector<FunctionActivity>& all, Function function) {
  for (const FunctionActivity& a : all)
    if (a.function == static_cast<std::uint16_t>(function)) return &a;
  return nullptr;
}
InsideNow inside(std::int32_t rank, Function function, std::uint64_t since) {
  return {rank, static_cast<std::uint16_t>(function), since};
}

}  // namespace

TEST_CASE("a call counts in every window it spans") {
  FunctionTimes times(2, window);
  const Event e = send(50 * ms, 250 * ms);
  times.add(0, 0, {&e, 1});
  const auto all = times.list({}, 430 * ms);
  const FunctionActivity* sends = find(all, Function::Send);
  REQUIRE(sends);
  CHECK(sends->calls == 1);
  CHECK(sends->inside_s == Approx(0.2));
  CHECK(sends->ranks_inside == 0);
  REQUIRE(sends->history_share.size() == 4);  // until 430 - 20 ms
  CHECK(sends->history_share[0] == Approx(0.25));
  CHECK(sends->history_share[1] == Approx(0.5));
  CHECK(sends->history_share[2] == Approx(0.25));
  CHECK(sends->history_share[3] == 0);
}

TEST_CASE("a call that has not returned counts as much as it will when it does") {
  FunctionTimes times(2, window);
  const InsideNow now = inside(1, Function::Recv, 130 * ms);
  const auto before = times.list({&now, 1}, 430 * ms);
  const Event e = event(EventKind::recv_done, Function::Recv, 130 * ms, 430 * ms);
  times.add(1, 0, {&e, 1});
  const auto after = times.list({}, 430 * ms);
  REQUIRE(before.size() == 1);
  CHECK(before[0].ranks_inside == 1);
  CHECK(before[0].calls == 0);
  CHECK(after[0].calls == 1);
  CHECK(before[0].inside_s == Approx(after[0].inside_s));
  REQUIRE(before[0].history_share.size() == after[0].history_share.size());
  for (std::size_t w = 0; w < after[0].history_share.size(); ++w)
    CHECK(before[0].history_share[w] == Approx(after[0].history_share[w]));
  CHECK(before[0].history_share == std::vector<float>{0, 0.35f, 0.5f, 0.5f});
}

TEST_CASE("several events of one call count once") {
  FunctionTimes times(1, window);
  const std::vector<Event> events = {
      event(EventKind::call, Function::Waitall, 10, 60),
      event(EventKind::recv_done, Function::Waitall, 10, 60),
      event(EventKind::recv_done, Function::Waitall, 10, 60),
      event(EventKind::send, Function::Sendrecv, 70, 90),
      event(EventKind::recv_done, Function::Sendrecv, 70, 90),
      event(EventKind::recv_post, Function::Recv, 95, 95, record::flag::entered),
      event(EventKind::recv_done, Function::Recv, 95, 99, record::flag::posted),
      event(EventKind::collective, Function::Ibarrier, 1, 60, record::flag::nonblocking)};
  times.add(0, 0, events);
  const auto all = times.list({}, 100 * ms);
  CHECK(find(all, Function::Waitall)->calls == 1);
  CHECK(find(all, Function::Waitall)->inside_s == Approx(50e-9));
  CHECK(find(all, Function::Sendrecv)->calls == 1);
  CHECK(find(all, Function::Sendrecv)->inside_s == Approx(20e-9));
  CHECK(find(all, Function::Recv)->calls == 1);
  CHECK(find(all, Function::Recv)->inside_s == Approx(4e-9));
  // With the duration of the call, not that of its first event.
  const CallDensity density = times.density().value();
  const auto received = std::find_if(density.calls.begin(), density.calls.end(), [](const CallDensity::Calls& c) {
    return c.function == static_cast<std::uint16_t>(Function::Recv);
  });
  REQUIRE(received != density.calls.end());
  CHECK(received->bin == density::bin_of(4));
  CHECK(received->ends == 1);
  CHECK(find(all, Function::Ibarrier)->calls == 1);
  CHECK(find(all, Function::Ibarrier)->inside_s == 0);
}

TEST_CASE("events that carry counters instead of times are left alone") {
  FunctionTimes times(1, window);
  std::vector<Event> events = {event(EventKind::unrecorded_sends, Function::Send, 5, 7 * ms),
                               event(EventKind::unrecorded_receives, Function::Recv, 5, 7 * ms),
                               event(EventKind::lost_number, Function::Send, 0, 7 * ms),
                               event(EventKind::lost, Function::Send, 0, 7 * ms),
                               event(EventKind::recv_done, Function::Recv, 5, 7 * ms, record::flag::unrecorded),
                               event(EventKind::init, Function::Init, 0, 7 * ms)};
  times.add(0, 0, events);
  CHECK(times.list({}, 200 * ms).empty());
}

TEST_CASE("polling is sampled: a thread that polls half of the time shows a half") {
  FunctionTimes times(1, window);
  std::mt19937 random(7);
  for (std::uint64_t t = 5 * ms; t <= 1000 * ms; t += 5 * ms) {
    const InsideNow now = inside(0, Function::Iprobe, t - 1000);
    if (random() % 2 == 0) times.sample({&now, 1}, t);
    else times.sample({}, t);
  }
  const auto all = times.list({}, 1020 * ms);
  const FunctionActivity* polls = find(all, Function::Iprobe);
  REQUIRE(polls);
  CHECK(polls->inside_s == Approx(0.5).margin(0.08));  // 200 samples: a standard deviation of 0.035
  double sum = 0;
  for (const float share : polls->history_share) sum += share;
  CHECK(sum * 0.1 == Approx(polls->inside_s).margin(1e-3));
}

TEST_CASE("polls that found nothing are looked at, a loop that an event tells counts by it, and nothing counts twice") {
  // Receives that are events, loops of polls that were waits and end with one, and polls between computation that leave
  // none; looks at random moments.
  const auto seed = GENERATE(1u, 2u, 3u, 4u, 5u);
  INFO("seed " << seed);
  std::mt19937_64 random(seed);
  FunctionTimes times(2, window);
  const auto length = [&](double mean_ms) {
    return static_cast<std::uint64_t>(std::exponential_distribution<>(1 / (mean_ms * 1e6))(random)) + 1;
  };
  struct Call {
    std::uint64_t begin, end;
    bool poll, event;
  };
  std::vector<Call> calls;
  double lost_polls_s = 0, loops_s = 0, receives_s = 0;
  std::uint64_t at = 1;
  while (at < 60'000 * ms) {
    at += length(3);
    const int kind = static_cast<int>(random() % 4);
    const std::uint64_t end = at + length(kind == 0 ? 20 : 2);
    (kind == 0 ? loops_s : kind == 1 ? receives_s : lost_polls_s) += static_cast<double>(end - at) * 1e-9;
    calls.push_back({at, end, kind != 1, kind < 2});
    at = end;
  }
  std::size_t next = 0;
  for (std::uint64_t look = 0; look < at + 100 * ms; look += length(5)) {
    // Events are read when the look is made, or one look later.
    const auto seen = std::find_if(calls.begin() + static_cast<std::ptrdiff_t>(next > 3 ? next - 3 : 0), calls.end(),
                                   [&](const Call& c) { return c.end > look; });
    const bool polls = seen != calls.end() && seen->begin <= look && seen->poll;
    const InsideNow now = inside(0, Function::Test, look);
    if (random() % 2 == 0) times.sample({&now, polls ? 1u : 0u}, look);
    for (; next < calls.size() && calls[next].end <= look; ++next) {
      if (!calls[next].event) continue;
      const Event e = event(calls[next].poll ? EventKind::call : EventKind::recv_done,
                            calls[next].poll ? Function::Test : Function::Recv, calls[next].begin, calls[next].end);
      times.add(0, 0, {&e, 1});
    }
  }
  const auto in_tests = [&] { return find(times.list({}, at + 200 * ms), Function::Test)->inside_s; };
  const double undecided_s = in_tests();
  times.end();
  CHECK(in_tests() == Approx(undecided_s).margin(1e-6));  // what is not decided counts as much
  CHECK(find(times.list({}, at + 200 * ms), Function::Recv)->inside_s == Approx(receives_s).margin(1e-6));
  const double polled_s = static_cast<double>(times.polled_ticks(0)) * 1e-9;
  CHECK(in_tests() == Approx(loops_s + polled_s).margin(1e-6));
  CHECK(polled_s == Approx(lost_polls_s).epsilon(0.1));  // some 1,000 looks at a fifth of 60 s: a deviation of 2 %
  double inside_s = 0;
  for (const auto& i : times.density().value(std::span<const density::Pyramid::Running>()).inside)
    inside_s += static_cast<double>(i.ns) * 1e-9;
  CHECK(inside_s == Approx(loops_s + receives_s + polled_s).margin(1e-5));
}

TEST_CASE("looks that cannot all be kept become fewer, and their time stays the same") {
  blocked::SampledPolls polls(3, 64);
  std::uint64_t taken = 0, all = 0;
  const auto take = [&](std::int32_t, const auto& look) { taken += look.at - look.since; };
  std::mt19937_64 random(3);
  std::uint64_t at[3][2] = {};
  for (int i = 0; i < 4000; ++i) {
    const auto rank = static_cast<std::int32_t>(random() % 3);
    const auto thread = static_cast<std::uint32_t>(random() % 2);
    std::uint64_t& now = at[rank][thread];
    const std::uint64_t since = now + (random() % 5 == 0 ? 7 : 0);
    now = since + 1 + random() % 9;
    all += now - since;
    polls.add(rank, thread, {since, now, 300}, take);
    std::size_t kept = 0;
    polls.each([&](std::int32_t, const auto&) { ++kept; });
    REQUIRE(kept <= 64);
  }
  std::uint64_t left = 0;
  for (std::int32_t rank = 0; rank < 3; ++rank) left += polls.undecided(rank);
  CHECK(taken + left == all);
  polls.end(take);
  CHECK(taken == all);
  CHECK_FALSE(polls.any());
}

TEST_CASE("the history keeps its newest windows, whatever the gaps") {
  FunctionTimes times(1, window, 5);
  const Event early = send(10 * ms, 20 * ms), late = send(2010 * ms, 2060 * ms), past = send(1000 * ms, 1100 * ms);
  times.add(0, 0, {&early, 1});
  times.add(0, 0, {&late, 1});
  times.add(0, 1, {&past, 1});  // another thread's ring was read later: its windows are forgotten
  const Event near = send(1910 * ms, 1930 * ms);
  times.add(0, 2, {&near, 1});
  const auto all = times.list({}, 2220 * ms);
  REQUIRE(all.size() == 1);
  CHECK(all[0].calls == 4);
  CHECK(all[0].inside_s == Approx(0.18));
  REQUIRE(all[0].history_share.size() == 5);  // 17 .. 21
  CHECK(all[0].history_share[2] == Approx(0.2));
  CHECK(all[0].history_share[3] == Approx(0.5));
  CHECK(all[0].history_share[4] == 0);
}

TEST_CASE("random calls: shares add up to the time inside, whatever the scale of the clock") {
  const auto seed = GENERATE(1u, 2u, 3u);
  INFO("seed " << seed);
  std::mt19937_64 random(seed);
  FunctionTimes times(3, window, 100);
  times.set_tick_scale({12'345'678'901ull, 0.37});
  std::uint64_t newest = 0;
  double ticks = 0;
  for (int rank = 0; rank < 3; ++rank) {
    std::uint64_t at = 12'345'678'901ull;
    for (int i = 0; i < 2000; ++i) {
      at += random() % (3 * ms);
      const std::uint64_t end = at + random() % (20 * ms);
      const Event e = send(at, end);
      times.add(rank, 0, {&e, 1});
      ticks += static_cast<double>(end - at);
      at = end;
    }
    newest = std::max(newest, at);
  }
  const auto all = times.list({}, newest + 400 * ms);
  double shares = 0;
  for (const float share : all[0].history_share) shares += share;
  CHECK(all[0].calls == 6000);
  CHECK(all[0].inside_s == Approx(ticks * 0.37e-9));
  CHECK(shares * 0.1 * 3 == Approx(all[0].inside_s).epsilon(1e-4));
}

TEST_CASE("random events: the density of calls has exactly the functions' calls and time, running calls included") {
  const auto seed = GENERATE(1u, 2u, 3u, 4u);
  INFO("seed " << seed);
  std::mt19937_64 random(seed);
  FunctionTimes times(4, window);
  constexpr std::uint64_t origin = 77'000'000'000ull;
  const TickScale scale{origin, seed % 2 == 0 ? 1.0 : 0.43};
  times.set_tick_scale(scale);
  const std::pair<EventKind, Function> kinds[] = {
      {EventKind::send, Function::Send},      {EventKind::recv_done, Function::Waitall},
      {EventKind::call, Function::Waitall},   {EventKind::collective, Function::Allreduce},
      {EventKind::recv_done, Function::Recv}, {EventKind::call, Function::Iprobe},
      {EventKind::lost, Function::Send}};
  std::vector<InsideNow> now_inside;
  std::uint64_t newest = origin;
  for (std::int32_t rank = 0; rank < 4; ++rank) {
    for (std::uint32_t thread = 0; thread < 2; ++thread) {
      std::uint64_t at = origin;
      for (int i = 0; i < 1500; ++i) {
        at += random() % (random() % 50 == 0 ? 300 * ms : 10'000);
        const std::uint64_t end = at + random() % (std::uint64_t{1} << random() % 27);
        for (std::uint64_t copies = random() % 3;; --copies) {  // several events of one call
          const auto [kind, function] = kinds[random() % std::size(kinds)];
          const Event e = event(kind, function, at, end, random() % 8 == 0 ? record::flag::nonblocking : 0);
          times.add(rank, thread, {&e, 1});
          if (copies == 0) break;
        }
        const InsideNow polls = inside(rank, Function::Test, at);
        if (random() % 100 == 0) times.sample({&polls, 1}, end);
        at = end;
      }
      newest = std::max(newest, at);
      if (rank % 2 == 0) now_inside.push_back(inside(rank, Function::Barrier, at));
    }
  }
  newest += 30 * ms;
  struct Sums {
    std::uint64_t starts = 0, ends = 0;
    double inside_s = 0;
  };
  std::map<std::uint16_t, Sums> sums;
  const CallDensity density = times.density().value(times.running(now_inside, newest));
  for (const auto& i : density.inside) sums[i.function].inside_s += static_cast<double>(i.ns) * 1e-9;
  for (const auto& c : density.calls) {
    sums[c.function].starts += c.starts;
    sums[c.function].ends += c.ends;
  }
  const auto all = times.list(now_inside, newest);
  REQUIRE(all.size() >= 6);
  for (const FunctionActivity& f : all) {
    const Sums& sum = sums[f.function];
    CHECK(sum.starts == f.calls);
    CHECK(sum.ends == f.calls);
    CHECK(sum.inside_s == Approx(f.inside_s).margin(1e-9 * static_cast<double>(f.calls + 10)));
  }
  CHECK(sums.size() == all.size());
}
