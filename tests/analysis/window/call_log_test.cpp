// Calls from events: what was planted comes out, whole and in order, whatever the pieces in which it was read.
#include "analysis/window/call_log.hpp"

#include <catch2/catch.hpp>
#include <map>
#include <random>
#include <tuple>

#include "analysis/window/packed_calls.hpp"
#include "tests/seed.hpp"

using namespace pclscope;
using record::Event;
using record::EventKind;

namespace {

constexpr std::int64_t window_ns = 1000;

struct Planted {
  std::vector<Event> events;   // of one thread
  std::vector<MpiCall> calls;  // as they are expected
};

Event event_of(EventKind kind, std::uint64_t begin, std::uint64_t end, std::uint16_t function) {
  Event e{};
  e.kind = kind;
  e.begin = begin;
  e.end = end;
  e.function = function;
  e.peer = -1;
  e.tag = -1;
  return e;
}

// A thread that does one thing after the other: sends, exchanges, waits for several receives, posts collectives that
// a later call completes; polls, marks, loses events.
Planted plant(std::mt19937_64& random, std::int32_t rank, std::uint16_t thread, int calls) {
  Planted planted;
  std::uint64_t now = 1 + random() % 50, before = 0;
  bool follows = false;
  std::uint16_t last = 0;
  for (int i = 0; i < calls; ++i) {
    now += 1 + random() % 40;
    const std::uint64_t begin = now, end = now + random() % 200;
    std::uint16_t function = static_cast<std::uint16_t>(1 + random() % 30);
    if (function == last) ++function;  // as two calls that begin together would be
    last = function;
    const std::uint64_t site = 0x1000 + function;
    MpiCall call;
    call.rank = rank;
    call.thread = thread;
    call.function = function;
    call.begin = static_cast<std::int64_t>(begin);
    call.end = static_cast<std::int64_t>(end);
    call.outside = follows ? static_cast<std::int64_t>(begin - before) : -1;
    const auto put = [&](EventKind kind, std::int32_t peer, std::uint64_t bytes, std::uint64_t comm) {
      Event& e = planted.events.emplace_back(event_of(kind, begin, end, function));
      e.peer = peer;
      e.bytes = bytes;
      e.comm = comm;
      e.site = site;
      call.site = site;
    };
    switch (random() % 9) {
      case 0:  // a send
        put(EventKind::send, 3, 10, 7);
        call.peer = 3;
        call.bytes = 10;
        call.comm = 7;
        break;
      case 1:  // an exchange with two partners
        put(EventKind::send, 3, 10, 7);
        put(EventKind::recv_done, 4, 20, 7);
        call.peer = MpiCall::several;
        call.bytes = 30;
        call.comm = 7;
        break;
      case 2: {  // a Waitall of receives from one partner, or of sends alone
        put(EventKind::call, -3, 0, 0);
        const std::uint64_t count = random() % 4;
        for (std::uint64_t k = 0; k < count; ++k) put(EventKind::recv_done, 5, 100, 9);
        if (count == 0) break;
        call.peer = 5;
        call.bytes = 100 * count;
        call.comm = 9;
        break;
      }
      case 3: {  // a Wait that completes a nonblocking collective: told behind the Wait itself
        put(EventKind::call, -3, 0, 0);
        Event e = event_of(EventKind::collective, begin - 1, end, 40);
        e.flags = record::flag::nonblocking;
        e.bytes = 8;
        e.comm = 1;
        planted.events.push_back(e);
        MpiCall post;
        post.rank = rank;
        post.thread = thread;
        post.function = 40;
        post.ending = CallEnding::unseen;
        post.begin = post.end = static_cast<std::int64_t>(begin) - 1;
        post.bytes = 8;
        post.comm = 1;
        planted.calls.push_back(post);
        put(EventKind::recv_done, 5, 100, 9);
        call.peer = 5;
        call.bytes = 100;
        call.comm = 9;
        break;
      }
      case 4:  // a receive of a process with several threads is told when it begins, too
        planted.events.push_back(event_of(EventKind::recv_post, begin, begin, function));
        planted.events.back().flags = record::flag::entered;
        put(EventKind::recv_done, 4, 20, 7);
        call.peer = 4;
        call.bytes = 20;
        call.comm = 7;
        break;
      case 5:  // a collective with a root
        put(EventKind::collective, 0, 64, 1);
        call.peer = 0;
        call.bytes = 64;
        call.comm = 1;
        break;
      case 6:  // what is no call
        planted.events.push_back(event_of(EventKind::marker, begin, begin, 0));
        planted.events.push_back(event_of(EventKind::call_path, begin, begin, 0));
        planted.events.push_back(event_of(EventKind::neighbour, begin, end, 9));
        planted.events.push_back(event_of(EventKind::recv_done, begin, end, 9));
        planted.events.back().flags = record::flag::unrecorded;
        last = 0;
        continue;
      case 7:  // events are missing here
        planted.events.push_back(event_of(EventKind::lost, begin, begin, 0));
        follows = false;
        last = 0;
        continue;
      default: put(EventKind::call, -1, 0, 0); break;
    }
    planted.calls.push_back(call);
    before = end;
    follows = true;
    now = end;
  }
  return planted;
}

bool by_thread(const MpiCall& a, const MpiCall& b) {
  return std::tie(a.rank, a.thread, a.begin, a.end) < std::tie(b.rank, b.thread, b.begin, b.end);
}

void take_all(CallLog& log, std::int64_t end, std::vector<MpiCall>& to) {
  const std::uint64_t count = log.take(end);
  log.each_taken([&](std::span<MpiCall> calls) { to.insert(to.end(), calls.begin(), calls.end()); });
  REQUIRE(to.size() == count);
}

}  // namespace

TEST_CASE("calls come out as they were made, window by window, by rank, thread and time") {
  const std::uint64_t seed = test::random_seed();
  CAPTURE(seed);
  std::mt19937_64 random(seed);
  for (int round = 0; round < 20; ++round) {
    std::map<std::pair<std::int32_t, std::uint16_t>, Planted> threads;
    for (std::int32_t rank = 0; rank < 5; ++rank)
      for (std::uint16_t thread = 0; thread < 1 + rank % 2; ++thread)
        threads[{rank, thread}] = plant(random, rank, thread, 200);
    CallLog log(5, window_ns);
    std::map<std::pair<std::int32_t, std::uint16_t>, std::size_t> read;
    std::vector<MpiCall> got, expected;
    std::int64_t taken_until = 0;
    for (bool more = true; more;) {
      more = false;
      std::int64_t all_read = INT64_MAX;  // what is still to come returned after it
      for (auto& [who, planted] : threads) {
        std::size_t& at = read[who];
        const std::size_t count = std::min<std::size_t>(random() % 30, planted.events.size() - at);
        log.add(who.first, who.second, std::span(planted.events).subspan(at, count));
        at += count;
        if (at == planted.events.size()) continue;
        more = true;
        // The events of one call are not torn apart by a window that closes long after it.
        if (at > 0) all_read = std::min(all_read, static_cast<std::int64_t>(planted.events[at - 1].begin));
        else all_read = 0;
      }
      if (all_read == INT64_MAX || random() % 3 != 0) continue;
      const std::int64_t end = all_read / window_ns * window_ns;
      std::vector<MpiCall> taken;
      take_all(log, end, taken);
      CHECK(std::is_sorted(taken.begin(), taken.end(), by_thread));
      for (const MpiCall& call : taken) {
        CHECK(call.end < end);
        CHECK((call.end >= taken_until || call.ending == CallEnding::unseen));
      }
      taken_until = end;
      got.insert(got.end(), taken.begin(), taken.end());
    }
    std::vector<MpiCall> rest;
    take_all(log, INT64_MAX, rest);
    got.insert(got.end(), rest.begin(), rest.end());
    CHECK(log.waiting() == 0);
    CHECK(log.left_out() == 0);
    // As many are counted when there is no time for them.
    CallLog counting(5, window_ns);
    counting.shed(true);
    for (const auto& [who, planted] : threads) counting.add(who.first, who.second, planted.events);
    CHECK(counting.shed() == got.size());
    CHECK(counting.waiting() == 0);
    for (const auto& [who, planted] : threads)
      expected.insert(expected.end(), planted.calls.begin(), planted.calls.end());
    std::stable_sort(got.begin(), got.end(), by_thread);
    std::stable_sort(expected.begin(), expected.end(), by_thread);
    CHECK(got == expected);
  }
}

TEST_CASE("calls that find no place, or come while load is shed, are counted") {
  CallLog log(2, window_ns, 10);
  std::vector<Event> events;
  for (std::uint64_t i = 0; i < 25; ++i) events.push_back(event_of(EventKind::call, 10 * i + 1, 10 * i + 5, 3));
  log.add(0, 0, events);
  CHECK(log.waiting() == 10);
  CHECK(log.take(INT64_MAX - 1) == 10);
  CHECK(log.left_out() == 15);
  log.shed(true);
  log.add(1, 0, events);
  log.shed(false);
  CHECK(log.take(INT64_MAX) == 0);
  CHECK(log.shed() == 25);
  CHECK(log.left_out() == 15 + 25);
  log.add(-1, 0, events);
  log.add(2, 0, events);
  CHECK(log.take(INT64_MAX) == 0);
}

TEST_CASE("any call is packed and comes back as it was") {
  const std::uint64_t seed = test::random_seed();
  CAPTURE(seed);
  std::mt19937_64 random(seed);
  const auto any = [&](auto type) { return static_cast<decltype(type)>(random() >> random() % 64); };
  std::vector<MpiCall> calls;
  for (int i = 0; i < 5000; ++i) {
    MpiCall& c = calls.emplace_back();
    c.comm = any(std::uint64_t{});
    c.rank = any(std::int32_t{});
    c.thread = any(std::uint16_t{});
    c.function = any(std::uint16_t{});
    c.ending = random() % 2 ? CallEnding::returned : CallEnding::unseen;
    c.peer = any(std::int32_t{});
    c.begin = static_cast<std::int64_t>(random());
    c.end = any(std::int64_t{});
    c.outside = random() % 2 ? -1 : any(std::int64_t{});
    c.bytes = any(std::uint64_t{});
    c.site = any(std::uint64_t{});
  }
  PackedCalls packed;
  packed.append(std::span(calls).first(1234));
  packed.append(std::span(calls).subspan(1234));
  std::vector<MpiCall> back;
  packed.each([&](const MpiCall& call) { back.push_back(call); });
  CHECK(packed.count() == calls.size());
  CHECK(back == calls);
}
