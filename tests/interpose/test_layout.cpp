// The offsets that FORMAT.md and the Python reader of these tests state. A failure means: a new version is due.
#include <catch2/catch.hpp>
#include <cstddef>
#include <cstring>
#include <set>
#include <string>

#include "interpose/record/board.hpp"
#include "interpose/record/functions.hpp"
#include "interpose/record/segment.hpp"

using namespace pclscope::record;

TEST_CASE("what a job that was only preloaded writes on its board lies behind what every job has") {
  CHECK(offsetof(Board, described) == 16428);
  CHECK(offsetof(Board, version) == 16432);
  CHECK(offsetof(Board, started_ns) == 16456);
  CHECK(offsetof(Board, job) == 16464);
  CHECK(offsetof(Board, session) % 64 == 0);
  CHECK(offsetof(Board, recording) == offsetof(Board, session) + 64);
  CHECK(offsetof(Board, exit_status) == offsetof(Board, recording) + 4);
  CHECK(offsetof(Board, process_ids) == offsetof(Board, recording) + 16);
  CHECK(offsetof(Board, bell) == offsetof(Board, recording) + 64);
  CHECK(offsetof(Board, first_init) == offsetof(Board, bell) + 64);
  CHECK(offsetof(Bell, rung) == 4);
}

TEST_CASE("names carry the node: FNV-1a of the host name") {
  CHECK(node_key("") == 0x811C9DC5u);
  CHECK(node_key("a") == 0xE40C292Cu);
  CHECK(node_key("foobar") == 0xBF9CF968u);
  char key[9];
  write_node_key(0x00ABCDEFu, key);
  CHECK(std::string(key) == "00abcdef");
}

TEST_CASE("the segment header lies as FORMAT.md says") {
  CHECK(offsetof(SegmentHeader, version) == 8);
  CHECK(offsetof(SegmentHeader, header_bytes) == 12);
  CHECK(offsetof(SegmentHeader, capacity) == 16);
  CHECK(offsetof(SegmentHeader, world_rank) == 24);
  CHECK(offsetof(SegmentHeader, world_size) == 28);
  CHECK(offsetof(SegmentHeader, pid) == 32);
  CHECK(offsetof(SegmentHeader, thread) == 36);
  CHECK(offsetof(SegmentHeader, clock) == 40);
  CHECK(offsetof(SegmentHeader, threads) == 44);
  CHECK(offsetof(SegmentHeader, tasks) == 432);
  CHECK(offsetof(SegmentHeader, session) == 436);
  CHECK(offsetof(SegmentHeader, node) == 48);
  CHECK(offsetof(SegmentHeader, mpi) == 112);
  CHECK(offsetof(SegmentHeader, executable) == 176);
  CHECK(offsetof(SegmentHeader, head) == 448);
  CHECK(offsetof(SegmentHeader, dropped) == 456);
  CHECK(offsetof(SegmentHeader, held_up_ns) == 464);
  CHECK(offsetof(SegmentHeader, state) == 512);
  CHECK(offsetof(SegmentHeader, thread_count) == 516);
  CHECK(offsetof(SegmentHeader, call_since) == 576);
  CHECK(offsetof(SegmentHeader, call_site) == 584);
  CHECK(offsetof(SegmentHeader, call_comm) == 592);
  CHECK(offsetof(SegmentHeader, call_peer) == 600);
  CHECK(offsetof(SegmentHeader, call_tag) == 604);
  CHECK(offsetof(SegmentHeader, call_function) == 608);
  CHECK(offsetof(SegmentHeader, tail) == 640);
  CHECK(offsetof(SegmentHeader, consumer) == 704);
  CHECK(offsetof(SegmentHeader, consumer_pid) == 708);
  CHECK(offsetof(SegmentHeader, descriptor) == 1280);
  CHECK(offsetof(SegmentHeader, inode) == 1288);
  CHECK(offsetof(SegmentHeader, rings_bell) == 1296);
  CHECK(offsetof(SegmentHeader, growths) == 1300);
  CHECK(offsetof(SegmentHeader, awaited_comm) == 1344);
  CHECK(offsetof(SegmentHeader, posted) == 1856);
  CHECK(sizeof(SegmentHeader::Posted) == 16);
  CHECK(offsetof(SegmentHeader, begins) == 2368);
  CHECK(sizeof(SegmentHeader::begins) == 8 * growths_limit);
  CHECK(offsetof(SegmentHeader, idle_ns) == 2496);
  CHECK(offsetof(SegmentHeader, idle_least_ns) == 2504);
  CHECK(offsetof(SegmentHeader, idle_most_ns) == 2512);
  CHECK(offsetof(SegmentHeader, off_inside_ns) == 2520);
  CHECK(offsetof(SegmentHeader, off_outside_ns) == 2528);
  CHECK(offsetof(SegmentHeader, idle_until) == 2536);
}

TEST_CASE("each further ring of a segment lies behind the one before it and is twice as large") {
  CHECK(ring_offset(64, 0) == 4096);
  CHECK(ring_offset(64, 1) == 4096 + 64 * 64);
  CHECK(ring_offset(64, 2) == 4096 + 64 * (64 + 128));
  CHECK(segment_bytes(64) == 4096 + 64 * 64);
  CHECK(segment_bytes(64, 2) == 4096 + 64 * (64 + 128 + 256));
}

TEST_CASE("the event lies as FORMAT.md says") {
  CHECK(offsetof(Event, begin) == 0);
  CHECK(offsetof(Event, end) == 8);
  CHECK(offsetof(Event, site) == 16);
  CHECK(offsetof(Event, comm) == 24);
  CHECK(offsetof(Event, bytes) == 32);
  CHECK(offsetof(Event, ordinal) == 40);
  CHECK(offsetof(Event, peer) == 48);
  CHECK(offsetof(Event, tag) == 52);
  CHECK(offsetof(Event, kind) == 56);
  CHECK(offsetof(Event, function) == 58);
  CHECK(offsetof(Event, flags) == 60);
}

TEST_CASE("the board lies as FORMAT.md says") {
  CHECK(offsetof(Board, started) == 0);
  CHECK(offsetof(Board, change) == 20);
  CHECK(offsetof(Board, aggregator_done) == 28);
  CHECK(offsetof(Board, pid) == 32);
  CHECK(offsetof(Board, said) == 32 + 4 * board_pids);
}

TEST_CASE("functions have distinct numbers and names") {
  std::set<std::string_view> names;
  for (std::uint16_t number = 1; number <= function_count; ++number) names.insert(function_name(number));
  CHECK(names.size() == function_count);
  CHECK(names.count("MPI_?") == 0);
  CHECK(function_name(static_cast<std::uint16_t>(Function::Send)) == "MPI_Send");
  CHECK(function_name(60000) == "MPI_?");
}
