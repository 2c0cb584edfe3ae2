#include "analysis/blocked/participants.hpp"

#include <catch2/catch.hpp>

#include "interpose/record/functions.hpp"

using namespace pclscope;
using blocked::Participants;
using record::Event;
using record::EventKind;
using record::Function;

namespace {
Event event(EventKind kind, std::uint64_t comm, std::uint64_t ordinal = 0, std::uint64_t bytes = 0,
            std::uint32_t flags = 0, Function function = Function::Barrier) {
  Event e{};
  e.kind = kind;
  e.comm = comm;
  e.ordinal = ordinal;
  e.bytes = bytes;
  e.flags = flags;
  e.function = static_cast<std::uint16_t>(function);
  return e;
}
void add(Participants& p, std::int32_t rank, const Event& e) { p.add(rank, {&e, 1}); }
}  // namespace

TEST_CASE("the world is known from the beginning") {
  const Participants p(3);
  REQUIRE(p.comm(record::world_comm_id));
  CHECK(p.comm(record::world_comm_id)->complete);
  CHECK(p.comm(record::world_comm_id)->members.size() == 3);
  CHECK(p.comm(77) == nullptr);
}

TEST_CASE("members of a communicator are those who made it, until they free it") {
  Participants p(5);
  for (const int rank : {4, 1, 3}) {
    CHECK((p.comm(77) == nullptr || !p.comm(77)->complete));
    add(p, rank, event(EventKind::comm_created, 77, record::world_comm_id, 3, 0, Function::Comm_split));
  }
  for (const int rank : {0, 2}) add(p, rank, event(EventKind::call, 1, 0, 0, 0, Function::Comm_split));  // got none
  REQUIRE(p.comm(77));
  CHECK(p.comm(77)->complete);
  CHECK(p.comm(77)->find(3)->rank == 3);
  CHECK(p.comm(77)->find(2) == nullptr);
  for (int rank = 0; rank < 5; ++rank) CHECK(p.comm(1)->find(rank)->creations == 1);
  add(p, 1, event(EventKind::comm_freed, 77));
  CHECK(p.comm(77)->complete);
  CHECK(p.comm(77)->find(1) == nullptr);
  add(p, 3, event(EventKind::comm_freed, 77));
  add(p, 4, event(EventKind::comm_freed, 77));
  CHECK(p.comm(77) == nullptr);
}

TEST_CASE("how far a member is follows the numbers, not their count") {
  Participants p(2);
  add(p, 0, event(EventKind::collective, 1, 0));
  add(p, 0, event(EventKind::collective, 1, 7));
  add(p, 0, event(EventKind::collective, 1, 6, 0, record::flag::nonblocking));  // completes late
  CHECK(p.comm(1)->find(0)->collectives == 8);
  CHECK(p.comm(1)->find(1)->collectives == 0);
}

TEST_CASE("after a loss a member is uncertain until its next collective there") {
  Participants p(2);
  add(p, 0, event(EventKind::collective, 1, 0));
  CHECK(p.certain(*p.comm(1)->find(0)));
  add(p, 0, event(EventKind::lost, 0, 12, 0, record::flag::summarised));
  CHECK(p.lost(0) == 12);
  CHECK_FALSE(p.in_doubt(0));
  CHECK_FALSE(p.certain(*p.comm(1)->find(0)));
  add(p, 0, event(EventKind::collective, 1, 5));
  CHECK(p.certain(*p.comm(1)->find(0)));
  add(p, 0, event(EventKind::lost, 0, 3));
  CHECK(p.lost(0) == 15);
  CHECK(p.in_doubt(0));
  CHECK_FALSE(p.in_doubt(1));
}

TEST_CASE("tens of thousands of communicators do not stay for ever") {
  Participants p(1);
  for (std::uint64_t id = 100; id < 100 + 200'000; ++id)
    add(p, 0, event(EventKind::comm_created, id, record::world_comm_id, 1, 0, Function::Comm_dup));
  int kept = 0;
  for (std::uint64_t id = 100; id < 100 + 200'000; ++id) kept += p.comm(id) != nullptr;
  CHECK(kept <= 65'536);
  CHECK(p.comm(record::world_comm_id)->complete);
}
