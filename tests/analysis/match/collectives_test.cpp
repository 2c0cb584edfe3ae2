#include "analysis/match/collectives.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <random>
#include <set>
#include <span>
#include <vector>

#include "interpose/record/functions.hpp"
#include "tests/seed.hpp"

using namespace pclscope;
using record::Event;
using record::EventKind;

TEST_CASE("collectives are complete when every member is, in any order, and communicators fall out") {
  Collectives collectives(4);
  const auto event = [](EventKind kind, std::uint64_t comm, std::uint64_t ordinal, std::uint64_t bytes = 0) {
    Event e{};
    e.kind = kind;
    e.comm = comm;
    e.ordinal = ordinal;
    e.bytes = bytes;
    return e;
  };
  for (const int ordinal : {1, 0})  // nonblocking ones complete out of order
    for (int rank = 0; rank < 4; ++rank)
      collectives.add(rank, event(EventKind::collective, 1, static_cast<std::uint64_t>(ordinal)));
  CHECK(collectives.completed() == 2);
  collectives.add(0, event(EventKind::collective, 1, 2));
  CHECK(collectives.incomplete() == 1);
  for (std::uint64_t comm = 100; comm < 400; ++comm) {
    for (int rank = 0; rank < 2; ++rank) collectives.add(rank, event(EventKind::comm_created, comm, 1, 2));
    for (std::uint64_t i = 0; i < 10; ++i)
      for (int rank = 0; rank < 2; ++rank) collectives.add(rank, event(EventKind::collective, comm, i));
    for (int rank = 0; rank < 2; ++rank) collectives.add(rank, event(EventKind::comm_freed, comm, 0));
  }
  CHECK(collectives.completed() == 2 + 3000);
  CHECK(collectives.communicators() == 1);
  // Members never seen: bounded, given up.
  for (std::uint64_t i = 3; i < 100'000; ++i) collectives.add(0, event(EventKind::collective, 1, i));
  CHECK(collectives.incomplete() <= 1 << 14);
  CHECK(collectives.abandoned() > 80'000);
  CHECK(collectives.parts() <= 1 << 14);
}

namespace {

std::uint16_t number(record::Function f) { return static_cast<std::uint16_t>(f); }

// Entry times of the ranks 0, 1, 2 ... and the waits that follow from the definition, for one operation.
std::vector<CollectiveCall> calls_of(record::Function function, std::int32_t root, std::vector<std::uint64_t> begins,
                                     std::uint64_t end, std::uint32_t flags = 0) {
  std::vector<CollectiveCall> got;
  Collectives collectives(static_cast<std::int32_t>(begins.size()),
                          [&](std::span<const CollectiveCall> calls) { got.assign(calls.begin(), calls.end()); });
  for (std::size_t rank = begins.size(); rank-- > 0;) {
    Event e{};
    e.kind = EventKind::collective;
    e.comm = record::world_comm_id;
    e.function = number(function);
    e.peer = function == record::Function::Scan ? static_cast<std::int32_t>(rank) : root;
    e.begin = begins[rank];
    e.end = end;
    e.flags = flags;
    CHECK(got.empty());
    collectives.add(static_cast<std::int32_t>(rank), e);
  }
  std::sort(got.begin(), got.end(), [](const auto& a, const auto& b) { return a.rank < b.rank; });
  REQUIRE(got.size() == begins.size());
  return got;
}

std::vector<std::int64_t> waits(const std::vector<CollectiveCall>& calls) {
  std::vector<std::int64_t> list;
  for (const CollectiveCall& c : calls) list.push_back(c.wait());
  return list;
}

}  // namespace

TEST_CASE("members that begin to record late put a communicator in step, and what came before is not counted") {
  std::vector<std::uint64_t> completed;
  Collectives collectives(2, [&](std::span<const CollectiveCall> calls) { completed.push_back(calls[0].ordinal); });
  const auto member = [&](std::int32_t rank, std::uint64_t base) {
    record::Event e{};
    e.kind = record::EventKind::comm_created;
    e.comm = record::world_comm_id;
    e.bytes = 2;
    e.site = base;
    e.flags = record::flag::unrecorded;
    collectives.add(rank, e);
  };
  const auto barrier = [&](std::int32_t rank, std::uint64_t ordinal) {
    record::Event e{};
    e.kind = record::EventKind::collective;
    e.comm = record::world_comm_id;
    e.ordinal = ordinal;
    e.peer = record::any_source;
    e.begin = e.end = 10 * ordinal + 1;
    collectives.add(rank, e);
  };
  member(0, 5'000'000'000);
  barrier(0, 5'000'000'000);  // rank 1 was in it before it began to record
  barrier(0, 5'000'000'001);
  CHECK(collectives.incomplete() == 2);
  member(1, 5'000'000'001);
  CHECK(collectives.incomplete() == 1);
  barrier(1, 5'000'000'001);
  barrier(1, 5'000'000'002);
  barrier(0, 5'000'000'002);
  CHECK(completed == std::vector<std::uint64_t>{5'000'000'001, 5'000'000'002});
  CHECK(collectives.abandoned() == 0);
  CHECK(collectives.incomplete() == 0);
  CHECK(collectives.parts() == 0);
}

TEST_CASE("ranks wait for those whom the collective makes them wait for") {
  using F = record::Function;
  using W = std::vector<std::int64_t>;
  CHECK(waits(calls_of(F::Barrier, -1, {100, 400, 250}, 410)) == W{300, 0, 150});
  CHECK(waits(calls_of(F::Allreduce, -1, {100, 400, 250}, 410)) == W{300, 0, 150});
  CHECK(waits(calls_of(F::Bcast, 2, {100, 400, 250}, 410)) == W{150, 0, 0});
  CHECK(waits(calls_of(F::Reduce, 0, {100, 400, 250}, 410)) == W{300, 0, 0});
  CHECK(waits(calls_of(F::Gatherv, 1, {100, 400, 250}, 410)) == W{0, 0, 0});
  CHECK(waits(calls_of(F::Scan, -1, {100, 400, 250}, 410)) == W{0, 0, 150});
  CHECK(waits(calls_of(F::Scan, -1, {300, 100, 200}, 410)) == W{0, 200, 100});
  CHECK(calls_of(F::Scan, -1, {300, 100, 200}, 410)[2].awaited == 0);
  CHECK(waits(calls_of(F::Barrier, -1, {100, 400, 250}, 300)) ==
        W{200, 0, 50});  // clocks that disagree: not beyond its end
  CHECK(waits(calls_of(F::Ibarrier, -1, {100, 400, 250}, 410, record::flag::nonblocking)) == W{0, 0, 0});
  CHECK(waits(calls_of(F::Bcast, 2, {100, 400, 250}, 410, record::flag::intercomm)) == W{0, 0, 0});
  CHECK(waits(calls_of(F::Bcast, 7, {100, 400, 250}, 410)) == W{0, 0, 0});  // no such root
  CHECK(calls_of(F::Barrier, -1, {100, 400, 250}, 410)[2].awaited == 1);
}

TEST_CASE("what is broadcast goes through others: who is behind one that came late waits for it, and so does a root") {
  // A binomial tree, its entries at random moments: everybody leaves when all on the way from the root have come, or,
  // where blocks are not copied, a root with its first child.
  const std::uint64_t seed = test::random_seed();
  CAPTURE(seed);
  std::mt19937_64 random(seed);
  constexpr std::uint64_t ms = 1'000'000;
  int relays = 0;
  for (int round = 0; round < 400; ++round) {
    const int size = 2 + static_cast<int>(random() % 14),
              root = static_cast<int>(random() % static_cast<unsigned>(size));
    const bool copied = random() % 2 == 0, nonblocking = random() % 3 == 0;
    std::set<std::uint64_t> moments;
    while (moments.size() < static_cast<std::size_t>(size)) moments.insert(ms * (1 + random() % 200));
    std::vector<std::uint64_t> begins(moments.begin(), moments.end());
    std::shuffle(begins.begin(), begins.end(), random);
    const auto begin_of = [&](int place) { return begins[static_cast<std::size_t>((place + root) % size)]; };
    std::vector<CollectiveCall> got;
    Collectives collectives(size,
                            [&](std::span<const CollectiveCall> calls) { got.assign(calls.begin(), calls.end()); });
    std::vector<int> expected(static_cast<std::size_t>(size), -1);
    for (int place = 0; place < size; ++place) {
      std::vector<int> way{place};  // up to the root: without the lowest bit
      while (way.back() != 0) way.push_back(way.back() & (way.back() - 1));
      if (place == 0 && !copied) way.push_back(1);
      int last = way.front();
      for (const int on : way)
        if (begin_of(on) > begin_of(last)) last = on;
      const std::uint64_t own = begin_of(place), sent = std::max(own, begin_of(0)), held = begin_of(last);
      const auto rank = (place + root) % size;
      // The larger part of its wait: for the root, or for another one.
      if (last != place)
        expected[static_cast<std::size_t>(rank)] = last != 0 && held - sent > sent - own ? (last + root) % size
                                                   : sent > own                          ? root
                                                                                         : -1;
      relays += last != place && last != 0 && held - sent > sent - own;
      Event e{};
      e.kind = EventKind::collective;
      e.comm = record::world_comm_id;
      e.function = number(nonblocking ? record::Function::Ibcast : record::Function::Bcast);
      e.flags = nonblocking ? record::flag::nonblocking : 0;
      e.peer = root;
      e.begin = own;
      e.end = held + 5'000 + random() % 5'000;
      e.tag = record::completion_length(e.end - e.begin);  // it waited from the beginning
      collectives.add(rank, e);
    }
    REQUIRE(got.size() == static_cast<std::size_t>(size));
    for (const CollectiveCall& c : got) {
      CAPTURE(size, root, c.rank, nonblocking, copied);
      REQUIRE(c.awaited == expected[static_cast<std::size_t>(c.rank)]);
    }
  }
  CHECK(relays > 300);
}

TEST_CASE("forms of a collective have its shape") {
  using F = record::Function;
  CHECK(shape_of(number(F::Iallreduce)) == CollectiveShape::all_to_all);
  CHECK(shape_of(number(F::Allreduce_init_c)) == CollectiveShape::all_to_all);
  CHECK(shape_of(number(F::Ireduce_scatter_block_c)) == CollectiveShape::all_to_all);
  CHECK(shape_of(number(F::Ibcast)) == CollectiveShape::from_root);
  CHECK(shape_of(number(F::Scatterv_c)) == CollectiveShape::from_root);
  CHECK(shape_of(number(F::Igatherv)) == CollectiveShape::to_root);
  CHECK(shape_of(number(F::Ineighbor_alltoall)) == CollectiveShape::neighbours);
  CHECK(shape_of(number(F::Init)) == CollectiveShape::all_to_all);
  CHECK(shape_of(number(F::Win_fence)) == CollectiveShape::all_to_all);
  CHECK(shape_of(number(F::Comm_split)) == CollectiveShape::unknown);
  CHECK(shape_of(0) == CollectiveShape::unknown);
  CHECK(shape_of(65535) == CollectiveShape::unknown);
}

TEST_CASE("parts of incomplete collectives are bounded over all communicators") {
  Collectives collectives(4);
  Event e{};
  e.kind = EventKind::collective;
  for (std::uint64_t i = 0; i < 3'000'000; ++i) {
    e.comm = 100 + i % 300;
    e.ordinal = i / 300;
    collectives.add(0, e);
    if (i % 1024 == 0) REQUIRE(collectives.parts() <= (1 << 20) + 300);
  }
  CHECK(collectives.abandoned() > 1'900'000);
}
