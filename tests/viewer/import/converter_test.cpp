// Events of a trace as a record: numbers in the order of posting, and what waits until it is known.
#include "viewer/import/converter.hpp"

#include <catch2/catch.hpp>

using namespace pclscope;
using namespace pclscope::importing;
using record::EventKind;

namespace {

constexpr std::uint32_t world = 0, main_region = 100, first_mpi = 0;

// Two ranks; regions 0, 1 ...: the functions named.
Trace two_ranks(std::initializer_list<const char*> functions) {
  Definitions d;
  for (std::uint32_t rank = 0; rank < 2; ++rank) {
    d.locations.push_back({rank, 0, rank});
    d.processes[rank] = {0};
  }
  d.nodes[0] = {"node7", "node", undefined};
  Definitions::Group list;
  list.locations = list.mpi = true;
  list.members = {0, 1};
  d.groups[0] = list;
  list.locations = false;
  d.groups[1] = list;
  d.comms[world] = {"MPI_COMM_WORLD", 1, undefined, undefined};
  d.regions[main_region] = {"main", "/src/main.c", 12};
  std::uint32_t number = first_mpi;
  for (const char* name : functions) d.regions[number++] = {name, "", 0};
  auto trace = understood(std::move(d));
  REQUIRE(trace);
  return std::move(*trace);
}

struct Fed {
  Trace trace;
  CallPlaces places{trace};
  std::vector<record::Event> events;  // of rank 0
  Converter converter;
  explicit Fed(std::initializer_list<const char*> functions, std::size_t most = Converter::most_held)
      : trace(two_ranks(functions)),
        converter(
            trace, places,
            [this](std::int32_t rank, std::uint32_t, std::span<const record::Event> batch) {
              if (rank == 0) events.insert(events.end(), batch.begin(), batch.end());
            },
            most) {}
  void posts(std::uint64_t from, std::uint64_t request) {
    converter.enter({0, from}, 0, undefined);
    converter.post({0, from + 1}, request, false);
    converter.leave({0, from + 2}, 0);
  }
  void waits(std::uint64_t from, std::uint64_t request, std::uint32_t tag) {
    converter.enter({0, from}, 1, undefined);
    converter.receive_posted({0, from + 5}, world, 1, tag, 8, request);
    converter.leave({0, from + 5}, 1);
  }
};

std::vector<EventKind> kinds(const std::vector<record::Event>& events) {
  std::vector<EventKind> list;
  for (const record::Event& e : events) list.push_back(e.kind);
  return list;
}

}  // namespace

TEST_CASE("receives are numbered as they were posted, in whatever order they complete") {
  Fed fed({"MPI_Irecv", "MPI_Wait"});
  fed.posts(10, 7);
  fed.posts(20, 8);
  fed.waits(30, 8, 2);
  CHECK(fed.converter.hand_on() == 10);  // the first post is not known yet: nothing later is
  CHECK(fed.events.empty());
  CHECK(fed.converter.holds());
  fed.waits(40, 7, 1);
  CHECK(fed.converter.hand_on() == 45);
  CHECK_FALSE(fed.converter.holds());
  REQUIRE(kinds(fed.events) == std::vector{EventKind::recv_post, EventKind::recv_post, EventKind::call,
                                           EventKind::recv_done, EventKind::call, EventKind::recv_done});
  CHECK(fed.events[0].ordinal == 0);
  CHECK(fed.events[0].tag == 1);
  CHECK(fed.events[0].peer == 1);
  CHECK(fed.events[0].begin == origin_ticks + 10);
  CHECK(fed.events[0].end == origin_ticks + 12);
  CHECK(fed.events[1].ordinal == 1);
  CHECK(fed.events[1].tag == 2);
  CHECK(fed.events[3].ordinal == 1);
  CHECK(fed.events[3].flags == (record::flag::posted | record::flag::nonblocking));
  CHECK(fed.events[5].ordinal == 0);
  CHECK(fed.events[5].begin == origin_ticks + 40);
  CHECK(fed.converter.oddities().words().empty());
}

TEST_CASE("what is outstanding for too long counts as posted when it completes") {
  Fed fed({"MPI_Irecv", "MPI_Wait"}, 10);
  fed.posts(10, 7);
  for (std::uint64_t i = 0; i < 20; ++i) {
    fed.posts(100 * (i + 1), 100 + i);
    fed.waits(100 * (i + 1) + 10, 100 + i, 3);
  }
  fed.converter.hand_on();
  CHECK_FALSE(fed.converter.holds());
  CHECK(fed.converter.oddities().held_too_long == 1);
  fed.waits(9000, 7, 1);
  fed.converter.hand_on();
  REQUIRE(fed.events.size() == 62);
  const record::Event& last = fed.events.back();
  CHECK(last.kind == EventKind::recv_done);
  CHECK(last.flags == 0);
  CHECK(last.ordinal == 20);  // behind the 20 others
  for (std::size_t i = 0; i < 60; i += 3) CHECK(fed.events[i].ordinal == i / 3);
}

TEST_CASE("what was never complete or cancelled leaves no number, and the rest goes on") {
  Fed fed({"MPI_Irecv", "MPI_Wait"});
  fed.posts(10, 7);
  fed.posts(20, 8);
  fed.posts(30, 9);
  fed.converter.cancelled({0, 35}, 8);
  fed.waits(40, 9, 3);
  fed.converter.hand_on();
  CHECK(fed.events.empty());
  fed.converter.finish();
  REQUIRE(kinds(fed.events) == std::vector{EventKind::recv_post, EventKind::call, EventKind::recv_done});
  CHECK(fed.events[0].ordinal == 0);
  CHECK(fed.events[2].ordinal == 0);
  CHECK(fed.converter.oddities().never_complete == 1);
}

TEST_CASE("nonblocking collectives count in the order of their posts") {
  Fed fed({"MPI_Ibarrier", "MPI_Wait", "MPI_Barrier"});
  fed.converter.enter({0, 10}, 0, undefined);
  fed.converter.post({0, 11}, 5, true);
  fed.converter.leave({0, 12}, 0);
  fed.converter.enter({0, 20}, 2, undefined);
  fed.converter.collective({0, 25}, 0, world, 0xffffffffu, 0);
  fed.converter.leave({0, 26}, 2);
  fed.converter.enter({0, 30}, 1, undefined);
  fed.converter.collective_posted({0, 37}, world, 0xffffffffu, 0, 5);
  fed.converter.leave({0, 38}, 1);
  fed.converter.hand_on();
  REQUIRE(kinds(fed.events) == std::vector{EventKind::collective, EventKind::call, EventKind::collective});
  CHECK(fed.events[0].ordinal == 1);
  CHECK(fed.events[2].ordinal == 0);
  CHECK(fed.events[2].begin == origin_ticks + 10);
  CHECK(fed.events[2].end == origin_ticks + 38);
  CHECK((fed.events[2].flags & record::flag::nonblocking) != 0);
}

TEST_CASE("times never run back, and calls know from which function they were made") {
  Fed fed({"MPI_Send"});
  fed.converter.enter({0, 5}, main_region, undefined);
  fed.converter.enter({0, 100}, 0, undefined);
  fed.converter.send({0, 90}, world, 1, 3, 16);
  fed.converter.send({0, 110}, world, 9, 3, 16);
  fed.converter.leave({0, 120}, 0);
  fed.converter.hand_on();
  REQUIRE(fed.events.size() == 2);
  CHECK(fed.events[0].begin == origin_ticks + 100);
  CHECK(fed.events[0].end == origin_ticks + 120);
  CHECK(fed.events[0].peer == 1);
  CHECK(fed.events[1].peer == record::unknown_rank);
  CHECK(fed.converter.oddities().backwards == 1);
  CHECK(fed.converter.oddities().no_partner == 1);
  const CallSite& site = fed.places.sites().at(fed.events[0].site - 1);
  CHECK(site.function == "main");
  CHECK(site.file == "/src/main.c");
  CHECK(site.line == 12);
}

TEST_CASE("definitions that lead in a circle or nowhere are refused") {
  Definitions d;
  CHECK_FALSE(understood(d));
  d.locations.push_back({0, 0, 0});
  d.processes[0] = {0};
  CHECK(understood(d));
  Definitions circle = d;
  circle.nodes[0] = {"a", "node", 1};
  circle.nodes[1] = {"b", "node", 0};
  CHECK_FALSE(understood(circle));
  circle = d;
  circle.contexts[0] = {0, undefined, 0};
  CHECK_FALSE(understood(circle));
  circle = d;
  circle.comms[3] = {"x", undefined, undefined, 4};
  circle.comms[4] = {"y", undefined, undefined, 3};
  CHECK_FALSE(understood(circle));
}

TEST_CASE("MPI functions are known by the names that tools give them") {
  const std::uint16_t send = function_named("MPI_Send");
  REQUIRE(send != 0);
  for (const char* name : {"MPI_Send()", "mpi_send", "mpi_send_", "MPI_SEND", "PMPI_Send", "mpi_send_f08_"})
    CHECK(function_named(name) == send);
  for (const char* name : {"MPI_", "send", "MPI_Sent", "main", "", "MPI_Send2"}) CHECK(function_named(name) == 0);
}
