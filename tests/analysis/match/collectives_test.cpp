#include "analysis/match/collectives.hpp"

#include <catch2/catch.hpp>

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
      collectives.add(event(EventKind::collective, 1, static_cast<std::uint64_t>(ordinal)));
  CHECK(collectives.completed() == 2);
  collectives.add(event(EventKind::collective, 1, 2));
  CHECK(collectives.incomplete() == 1);
  for (std::uint64_t comm = 100; comm < 400; ++comm) {
    for (int rank = 0; rank < 2; ++rank) collectives.add(event(EventKind::comm_created, comm, 1, 2));
    for (std::uint64_t i = 0; i < 10; ++i)
      for (int rank = 0; rank < 2; ++rank) collectives.add(event(EventKind::collective, comm, i));
    for (int rank = 0; rank < 2; ++rank) collectives.add(event(EventKind::comm_freed, comm, 0));
  }
  CHECK(collectives.completed() == 2 + 3000);
  CHECK(collectives.communicators() == 1);
  // Members never seen: bounded, given up.
  for (std::uint64_t i = 3; i < 100'000; ++i) collectives.add(event(EventKind::collective, 1, i));
  CHECK(collectives.incomplete() <= 1 << 14);
  CHECK(collectives.abandoned() > 80'000);
}
