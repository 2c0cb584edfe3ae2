#include "analysis/match/one_sided.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <random>
#include <vector>

#include "analysis/match/collectives.hpp"
#include "interpose/record/functions.hpp"
#include "tests/seed.hpp"

using namespace pclscope;
using record::Event;
using record::EventKind;
using F = record::Function;

namespace {

struct Added {
  std::int32_t rank;
  Event event;
};

Added sync(std::int32_t rank, F function, std::uint64_t begin, std::uint64_t end, std::uint64_t ordinal,
           std::int32_t peer = -1, std::uint64_t bytes = 0, std::int32_t window = 0) {
  Event e{};
  e.kind = EventKind::rma_sync;
  e.function = static_cast<std::uint16_t>(function);
  e.comm = record::world_comm_id;
  e.begin = begin;
  e.end = end;
  e.ordinal = ordinal;
  e.peer = peer;
  e.bytes = bytes;
  e.tag = window;
  return {rank, e};
}

// What comes out when ranks' rings are read in any order: of each rank its events in order.
std::vector<CollectiveCall> waits_of(std::int32_t ranks, std::vector<Added> events, std::uint32_t seed) {
  std::vector<CollectiveCall> got;
  Collectives collectives(ranks, [&](std::span<const CollectiveCall> calls) {
    for (const CollectiveCall& c : calls)
      if (c.wait() > 0) got.push_back(c);
  });
  std::mt19937 random(seed);
  std::vector<std::size_t> next(static_cast<std::size_t>(ranks));
  for (std::size_t left = events.size(); left > 0;) {
    const auto rank = static_cast<std::int32_t>(random() % static_cast<unsigned>(ranks));
    std::size_t& at = next[static_cast<std::size_t>(rank)];
    while (at < events.size() && events[at].rank != rank) ++at;
    if (at == events.size()) continue;
    collectives.add(rank, events[at++].event);
    --left;
  }
  collectives.pass(INT64_MAX);
  std::sort(got.begin(), got.end(), [](const auto& a, const auto& b) { return a.begin < b.begin; });
  return got;
}

}  // namespace

TEST_CASE("an origin waits for its targets' posts, a target for its origins' completes") {
  // Rank 0 puts into 1 and 2; 2 posts late. Rank 1 waits until 0 completes.
  const std::vector<Added> events = {
      sync(0, F::Win_start, 100, 110, 1, 1, 2), sync(0, F::Win_start, 100, 110, 1, 2, 2),
      sync(0, F::Win_complete, 200, 460, 1),    sync(1, F::Win_post, 50, 60, 1, 0, 1),
      sync(1, F::Win_wait, 70, 470, 1),         sync(2, F::Win_post, 400, 410, 1, 0, 1),
      sync(2, F::Win_wait, 420, 480, 1),
  };
  for (std::uint32_t seed = 1; seed < 50; ++seed) {
    const std::vector<CollectiveCall> got = waits_of(3, events, seed);
    REQUIRE(got.size() == 2);
    CHECK(got[0].rank == 1);
    CHECK(got[0].shape == CollectiveShape::complete);
    CHECK(got[0].awaited == 0);
    CHECK(got[0].wait() == 130);
    CHECK(got[1].rank == 0);
    CHECK(got[1].shape == CollectiveShape::post);
    CHECK(got[1].function == static_cast<std::uint16_t>(F::Win_complete));
    CHECK(got[1].awaited == 2);
    CHECK(got[1].wait() == 200);
  }
}

TEST_CASE("epochs of many ranks, in any order of reading") {
  // Even ranks put into the next one, again and again; windows 0 and 1 in turn.
  const auto seed = static_cast<std::uint32_t>(test::random_seed());
  INFO("seed " << seed);
  std::mt19937 random(seed);
  const auto later = [&](std::uint64_t& time, unsigned most) { return time += 1 + random() % most; };
  for (int round = 0; round < 20; ++round) {
    std::vector<Added> events;
    std::vector<std::int64_t> late_posts, late_completes;
    for (std::int32_t origin = 0; origin < 6; origin += 2) {
      std::uint64_t of_origin = 0, of_target = 0;
      for (std::uint64_t i = 0; i < 30; ++i) {
        const auto window = static_cast<std::int32_t>(i % 2);
        const std::uint64_t number = i / 2 + 1, post = later(of_target, 1000), start = later(of_origin, 1000);
        const std::uint64_t started = std::max(start, post) + 1, complete = started + random() % 1000;
        const std::uint64_t completed = complete + 1, wait = post + 1 + random() % 1000;
        const std::uint64_t waited = std::max(wait, complete) + 1;
        events.push_back(sync(origin, F::Win_start, start, started, number, origin + 1, 1, window));
        events.push_back(sync(origin, F::Win_complete, complete, completed, number, -1, 0, window));
        events.push_back(sync(origin + 1, F::Win_post, post, post + 1, number, origin, 1, window));
        events.push_back(sync(origin + 1, F::Win_wait, wait, waited, number, -1, 0, window));
        if (post > start) late_posts.push_back(static_cast<std::int64_t>(post - start));
        if (complete > wait) late_completes.push_back(static_cast<std::int64_t>(complete - wait));
        of_origin = completed;
        of_target = waited;
      }
    }
    std::vector<std::int64_t> posts, completes;
    for (const CollectiveCall& c : waits_of(6, events, seed + static_cast<std::uint32_t>(round)))
      (c.shape == CollectiveShape::post ? posts : completes).push_back(c.wait());
    for (auto* list : {&posts, &completes, &late_posts, &late_completes}) std::sort(list->begin(), list->end());
    CHECK(posts == late_posts);
    CHECK(completes == late_completes);
  }
}

TEST_CASE("who wants a lock waits for the last who gave it up meanwhile") {
  const auto lock = [](std::int32_t rank, std::uint64_t begin, std::uint64_t end, std::uint64_t exclusive = 1) {
    return sync(rank, F::Win_lock, begin, end, 0, 0, exclusive);
  };
  const auto unlock = [](std::int32_t rank, std::uint64_t begin, std::uint64_t end) {
    return sync(rank, F::Win_unlock, begin, end, 0, 0);
  };
  for (std::uint32_t seed = 1; seed < 20; ++seed) {
    // 1, then 2, then 3 have it.
    const auto got = waits_of(4,
                              {lock(1, 10, 11), unlock(1, 100, 105), lock(2, 20, 110), unlock(2, 200, 205),
                               lock(3, 30, 210), unlock(3, 300, 305)},
                              seed);
    REQUIRE(got.size() == 2);
    CHECK(got[0].awaited == 1);
    CHECK(got[0].wait() == 80);
    CHECK(got[1].awaited == 2);
    CHECK(got[1].wait() == 170);
    // An MPI that takes the lock when the first operation is flushed.
    const auto lazy = waits_of(4,
                               {lock(1, 10, 11), unlock(1, 100, 105), lock(2, 20, 21),
                                sync(2, F::Win_flush, 30, 110, 0, 0), unlock(2, 200, 205)},
                               seed);
    REQUIRE(lazy.size() == 1);
    CHECK(lazy[0].function == static_cast<std::uint16_t>(F::Win_flush));
    CHECK(lazy[0].wait() == 70);
    // Shared ones do not wait for each other.
    CHECK(
        waits_of(4, {lock(1, 10, 11, 0), unlock(1, 100, 105), lock(2, 20, 110, 0), unlock(2, 200, 205)}, seed).empty());
  }
}

TEST_CASE("collective calls on windows and files belong together by their number") {
  const auto file = [](std::int32_t rank, F function, std::uint64_t begin, std::uint64_t end, std::uint64_t number,
                       std::int32_t index) {
    Added added = sync(rank, function, begin, end, number, -1, 0, index);
    added.event.kind = EventKind::file;
    return added;
  };
  for (std::uint32_t seed = 1; seed < 20; ++seed) {
    // The second fence of window 0; a write of file 3; nobody waits where a member left before the last came.
    const auto got = waits_of(2,
                              {sync(0, F::Win_fence, 10, 60, 1, -1, 0, 0), sync(0, F::Win_fence, 100, 160, 2, -1, 0, 0),
                               file(0, F::File_write_all, 200, 290, 1, 3), file(0, F::File_sync, 300, 310, 2, 3),
                               sync(1, F::Win_fence, 50, 60, 1, -1, 0, 0), sync(1, F::Win_fence, 90, 160, 2, -1, 0, 0),
                               file(1, F::File_write_all, 280, 295, 1, 3), file(1, F::File_sync, 350, 360, 2, 3)},
                              seed);
    REQUIRE(got.size() == 3);
    CHECK(got[0].wait() == 40);
    CHECK(got[1].rank == 1);
    CHECK(got[1].wait() == 10);
    CHECK(got[2].function == static_cast<std::uint16_t>(F::File_write_all));
    CHECK(got[2].wait() == 80);
  }
}

TEST_CASE("a call on a window that a member did not record holds nobody up") {
  std::vector<CollectiveCall> got;
  Collectives collectives(
      2, [&](std::span<const CollectiveCall> calls) { got.insert(got.end(), calls.begin(), calls.end()); });
  collectives.add(0, sync(0, F::Win_fence, 10, 60, 1).event);
  for (std::int32_t rank = 0; rank < 2; ++rank) collectives.add(rank, sync(rank, F::Win_fence, 100, 160, 2).event);
  CHECK(got.size() == 2);
  CHECK(collectives.incomplete() == 0);
  CHECK(collectives.abandoned() == 0);
  CHECK(collectives.completed() == 0);  // these are no collectives
}
