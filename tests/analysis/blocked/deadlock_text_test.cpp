#include "analysis/blocked/deadlock_text.hpp"

#include <catch2/catch.hpp>

#include "interpose/record/functions.hpp"

using namespace pclscope;

namespace {
DeadlockMember member(std::int32_t rank, record::Function function, std::vector<std::int32_t> waits_for,
                      bool any = false) {
  DeadlockMember m;
  m.rank = rank;
  m.function = static_cast<std::uint16_t>(function);
  m.site = 7;
  m.waits_for = std::move(waits_for);
  m.waits_for_any = any;
  return m;
}
std::string text(const Deadlock& d) {
  return blocked::deadlock_text(d, [](const DeadlockMember& m) { return m.site == 7 ? "ring.c:42" : ""; });
}
using F = record::Function;
}  // namespace

TEST_CASE("a simple cycle reads as a chain") {
  Deadlock d;
  d.members = {member(0, F::Recv, {2}), member(2, F::Send, {0})};
  CHECK(text(d) == "rank 0 in MPI_Recv (ring.c:42) waits for rank 2 in MPI_Send (ring.c:42) waits for rank 0");
  d.members[1].site = 0;
  CHECK(text(d) == "rank 0 in MPI_Recv (ring.c:42) waits for rank 2 in MPI_Send waits for rank 0");
  d.members = {member(1, F::Recv, {1})};
  CHECK(text(d) == "rank 1 in MPI_Recv (ring.c:42) waits for rank 1");
}

TEST_CASE("a knot names everybody's needs") {
  Deadlock d;
  d.members = {member(0, F::Waitall, {1, 2}), member(1, F::Recv, {0, 2}, true), member(2, F::Barrier, {0})};
  CHECK(text(d) ==
        "rank 0 in MPI_Waitall (ring.c:42) waits for ranks 1 and 2; rank 1 in MPI_Recv (ring.c:42) waits for any of "
        "ranks 0 and 2; rank 2 in MPI_Barrier (ring.c:42) waits for rank 0");
}

TEST_CASE("collectives that do not match are told first, with who called which") {
  Deadlock d;
  d.members = {member(0, F::Reduce, {2}), member(2, F::Allreduce, {0, 1}, true), member(1, F::Recv, {0})};
  d.members[0].called = d.members[2].called = static_cast<std::uint16_t>(F::Reduce);
  d.members[1].called = static_cast<std::uint16_t>(F::Allreduce);
  CHECK(text(d) ==
        "collectives that do not match, MPI_Reduce of rank 0 (ring.c:42) against MPI_Allreduce of rank 2 (ring.c:42) "
        "against MPI_Reduce of rank 1: rank 0 in MPI_Reduce (ring.c:42) waits for rank 2; rank 2 in MPI_Allreduce "
        "(ring.c:42) waits for any of ranks 0 and 1; rank 1 in MPI_Recv (ring.c:42) waits for rank 0");
}

TEST_CASE("waiting for who has left") {
  Deadlock d;
  d.on_finished = true;
  d.members = {member(0, F::Recv, {1})};
  CHECK(text(d) == "rank 0 in MPI_Recv (ring.c:42) waits for rank 1, which has left MPI");
}

TEST_CASE("whom a blocked rank waits for, else what its call may be at") {
  const auto said = [](F function, std::vector<std::int32_t> ranks = {}) {
    RankSummary rank;
    rank.call_function = static_cast<std::uint16_t>(function);
    rank.waits_for = std::move(ranks);
    return blocked::waits_text(rank);
  };
  CHECK(said(F::Recv, {3}) == "rank 3");
  CHECK(said(F::Recv) == "a message on its way");
  CHECK(said(F::Win_unlock) == "its target, or the transfer");
  CHECK(said(F::File_write_all) == "the file, or not known");
  CHECK(said(F::Comm_spawn) == "another program");
  CHECK(said(F::Barrier) == "the operation, or not known");
  CHECK(said(F::Cancel) == "not known");
}

TEST_CASE("thousands of members stay one readable line") {
  Deadlock cycle, knot;
  std::vector<std::int32_t> all;
  for (int r = 0; r < 5000; ++r) all.push_back(r);
  for (int r = 0; r < 5000; ++r) cycle.members.push_back(member(r, F::Recv, {(r + 1) % 5000}));
  for (int r = 0; r < 5000; ++r) knot.members.push_back(member(r, F::Recv, all, true));
  CHECK(text(cycle).size() < 500);
  CHECK_THAT(text(cycle), Catch::Contains("4992 more ranks, the last of which waits for rank 0"));
  CHECK(text(knot).size() < 900);
  CHECK_THAT(text(knot),
             Catch::Contains("any of ranks 0, 1, 2 and 4997 more") && Catch::Contains("and 4992 more ranks"));
}
