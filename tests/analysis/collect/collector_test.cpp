// Rings written by other processes are found, read completely and in order, and leave no file behind.
#include "analysis/collect/collector.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <random>
#include <utility>

#include "analysis/collect/board_file.hpp"
#include "analysis/collect/rank_records.hpp"
#include "analysis/collect/tick_clock.hpp"
#include "tests/seed.hpp"

using namespace pclscope;
using collect::BoardFile;
using collect::Collector;
using collect::SegmentFile;

namespace {

constexpr char token[] = "00112233445566778899aabbccddeeff";

struct Directory {
  std::string path;
  explicit Directory(const std::string& above = "/tmp") : path(above + "/pclscope-test-XXXXXX") {
    if (::mkdtemp(path.data()) == nullptr) std::abort();
  }
  ~Directory() { std::filesystem::remove_all(path); }
  std::string segment(int rank, int thread) const {
    return path + "/" + collect::shm_names(token) + std::to_string(rank) + "-" + std::to_string(thread);
  }
};

// What the recording library does when a thread first calls MPI, without MPI.
record::SegmentHeader* create_segment(const std::string& path, int rank, int thread, std::uint64_t capacity,
                                      std::uint32_t growths = 0) {
  const int file = ::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL, 0600);
  const std::uint64_t bytes = record::segment_bytes(capacity, growths);
  if (file < 0 || ::posix_fallocate(file, 0, static_cast<off_t>(bytes)) != 0) std::abort();
  void* memory = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  ::close(file);
  auto* header = static_cast<record::SegmentHeader*>(memory);
  std::memcpy(header->magic, record::segment_magic, sizeof header->magic);
  header->version = record::segment_version;
  header->header_bytes = record::segment_header_bytes;
  header->capacity = capacity;
  header->growths = growths;
  header->world_rank = rank;
  header->world_size = 4;
  header->pid = static_cast<std::uint32_t>(::getpid());
  header->thread = static_cast<std::uint32_t>(thread);
  header->clock = record::ClockSource::monotonic;
  std::strcpy(header->node, "node1");
  header->state.store(record::ProcessState::running, std::memory_order_release);
  return header;
}

void produce(const std::string& path, int rank, std::uint64_t count) {
  record::RingWriter writer(create_segment(path, rank, 0, 64));
  for (std::uint64_t i = 0; i < count;) {
    record::Event* slot = writer.claim();
    if (slot == nullptr) {
      ::usleep(50);
      continue;
    }
    *slot = {};
    slot->ordinal = i++;
    slot->peer = rank;
    writer.publish();
  }
  writer.segment()->state.store(record::ProcessState::finalizing, std::memory_order_release);
}

}  // namespace

TEST_CASE("events of several processes are drained completely and in ring order") {
  Directory directory;
  constexpr std::uint64_t count = 50'000;
  for (int rank = 0; rank < 3; ++rank) {
    if (::fork() == 0) {
      produce(directory.segment(rank, 0), rank, count);
      ::_exit(0);
    }
  }
  Collector collector(token, directory.path);
  std::map<int, std::uint64_t> next;
  bool in_order = true;
  while (collector.finalized() < 3 || !collector.empty()) {
    collector.discover([](SegmentFile& segment) { CHECK(segment.node() == "node1"); });
    collector.drain(16, [&](std::int32_t rank, std::uint32_t, std::span<const record::Event> events) {
      for (const auto& event : events) in_order = in_order && event.ordinal == next[rank]++ && event.peer == rank;
    });
  }
  for (int i = 0; i < 3; ++i) ::wait(nullptr);
  CHECK(in_order);
  for (int rank = 0; rank < 3; ++rank) CHECK(next[rank] == count);
  CHECK(std::filesystem::is_empty(directory.path));
}

TEST_CASE("each aggregator of a node finds the rings of its own ranks") {
  Directory directory;
  const std::string first = directory.segment(0, 0);
  const auto of_part = [&](const std::string& part, int rank) {
    std::string path = directory.segment(rank, 0);
    return path.insert(path.rfind('-', path.rfind('-') - 1) + 1, part);
  };
  create_segment(first, 0, 0, 64);
  create_segment(of_part("p1-", 1), 1, 0, 64);
  create_segment(of_part("p12-", 2), 2, 0, 64);
  const auto found = [&](std::uint32_t part) {
    Collector collector(token, directory.path, record::this_node_key(), part);
    std::vector<std::int32_t> ranks;
    collector.discover([&](SegmentFile& segment) { ranks.push_back(segment.rank()); });
    return ranks;
  };
  CHECK(found(2).empty());
  CHECK(found(1) == std::vector<std::int32_t>{1});
  CHECK(found(0) == std::vector<std::int32_t>{0});
  CHECK(found(12) == std::vector<std::int32_t>{2});
}

TEST_CASE("a ring that grew is drained in order, and the memory of the one before it given back") {
  Directory directory("/dev/shm");  // as other file systems may keep it
  record::SegmentHeader* header = create_segment(directory.segment(0, 0), 0, 0, 64, 1);
  record::RingWriter writer(header, nullptr, [](record::SegmentHeader*, std::uint32_t) { return true; });
  for (std::uint64_t i = 0; i < 100; ++i) {
    record::Event* slot = writer.claim();
    REQUIRE(slot != nullptr);
    *slot = {};
    slot->ordinal = i;
    writer.publish();
  }
  const record::Event* const old = record::segment_ring(header, 64, 0);
  CHECK(old[31].ordinal == 31);
  Collector collector(token, directory.path);
  REQUIRE(collector.discover([](SegmentFile&) {}) == 1);
  CHECK(collector.segments()[0]->capacity() == 128);
  CHECK(collector.most_unread() == 64 + 128);
  std::uint64_t next = 0;
  bool in_order = true;
  const auto sink = [&](std::int32_t, std::uint32_t, std::span<const record::Event> events) {
    for (const auto& event : events) in_order = in_order && event.ordinal == next++;
  };
  CHECK(collector.drain(31, sink) == 31);
  CHECK(old[31].ordinal == 31);
  CHECK(collector.drain(1000, sink) == 69);
  CHECK(in_order);
  CHECK(collector.empty());
  CHECK(old[31].ordinal == 0);  // a page without memory reads as zeros
}

TEST_CASE("a segment whose rings do not fit its file is none") {
  Directory directory;
  create_segment(directory.segment(0, 0), 0, 0, 64)->growths = 1;            // to be made longer?
  create_segment(directory.segment(1, 0), 1, 0, 64, 1)->growths = 0;         // longer than it says
  create_segment(directory.segment(2, 0), 2, 0, 64, 1)->growths = 1u << 30;  // nonsense
  create_segment(directory.segment(3, 0), 3, 0, 64)->capacity = 65;
  Collector collector(token, directory.path);
  CHECK(collector.discover([](SegmentFile&) {}) == 0);
  CHECK(collector.complaints().size() == 3);
  CHECK(std::filesystem::exists(directory.segment(0, 0)));
}

TEST_CASE(
    "a rank's record is whole when all its rings were read to their final heads; else it is missing from then on") {
  Directory directory;
  const auto write = [](record::SegmentHeader* header, std::initializer_list<std::uint64_t> ends) {
    record::RingWriter writer(header);
    for (const std::uint64_t end : ends) {
      record::Event* slot = writer.claim();
      *slot = {};
      slot->end = end;
      writer.publish();
    }
  };
  const auto drain = [](Collector& collector, std::uint64_t limit) {
    collector.discover([](SegmentFile&) {});
    collector.drain(limit, [](std::int32_t, std::uint32_t, std::span<const record::Event>) {});
  };
  Collector collector(token, directory.path);
  record::SegmentHeader* first = create_segment(directory.segment(1, 0), 1, 0, 64);
  first->thread_count = 1;
  write(first, {100, 200, 300});
  drain(collector, 2);
  const auto record = [&](bool over = true) { return collect::rank_records(collector, 3, over)[1]; };
  CHECK_FALSE(collect::rank_records(collector, 3, true)[0].here);
  CHECK_FALSE(collect::rank_records(collector, 3, true)[0].whole);
  CHECK(record().here);
  CHECK(record().until_ticks == 200);  // one is left to read
  drain(collector, 64);
  CHECK(record().until_ticks == 300);
  CHECK_FALSE(record().whole);  // more may have come, nobody says so
  first->state = record::ProcessState::finalizing;
  CHECK(record().whole);
  first->state = record::ProcessState::left;
  CHECK(record().whole);
  first->muted = 1;
  CHECK_FALSE(record().whole);
  first->muted = 0;

  first->thread_count = 2;  // a ring that was not found
  CHECK_FALSE(record().whole);
  CHECK(record().until_ticks == 0);
  record::SegmentHeader* second = create_segment(directory.segment(1, 1), 1, 1, 64);
  write(second, {150, 250});
  drain(collector, 1);
  CHECK(record().until_ticks == 150);
  drain(collector, 64);
  CHECK(record().until_ticks == 300);  // both were read to their heads
  CHECK_FALSE(record().whole);         // but the second one may go on
  second->state = record::ProcessState::finalizing;
  CHECK(record().whole);
}

TEST_CASE("in a session that is over a living rank has recorded all, wherever it is") {
  Directory directory;
  Collector collector(token, directory.path);
  collector.set_session(3);
  const pid_t dead = ::fork();
  if (dead == 0) ::_exit(0);
  ::waitpid(dead, nullptr, 0);
  for (int rank = 0; rank < 2; ++rank) {
    record::SegmentHeader* header = create_segment(directory.segment(rank, 0), rank, 0, 64);
    header->session = 3;
    header->muted = 1;  // inside one call all the time
    if (rank == 1) header->pid = static_cast<std::uint32_t>(dead);
  }
  collector.discover([](SegmentFile&) {});
  CHECK_FALSE(collect::rank_records(collector, 2, false)[0].whole);
  CHECK(collect::rank_records(collector, 2, true)[0].whole);
  CHECK_FALSE(collect::rank_records(collector, 2, true)[1].whole);
}

TEST_CASE("what a killed process left in its ring is still read") {
  Directory directory;
  const pid_t child = ::fork();
  if (child == 0) {
    record::RingWriter writer(create_segment(directory.segment(0, 0), 0, 0, 64));
    for (int i = 0; i < 40; ++i) {
      writer.claim()->ordinal = static_cast<std::uint64_t>(i);
      writer.publish();
    }
    ::raise(SIGKILL);
  }
  ::waitpid(child, nullptr, 0);
  Collector collector(token, directory.path);
  REQUIRE(collector.discover([](SegmentFile&) {}) == 1);
  std::uint64_t seen = 0;
  collector.drain(1000, [&](std::int32_t, std::uint32_t, auto events) { seen += events.size(); });
  CHECK(seen == 40);
}

TEST_CASE("foreign, unfinished and newer files are not taken for segments") {
  Directory directory;
  std::ofstream(directory.segment(0, 0)) << "short";
  std::ofstream(directory.segment(1, 0)) << std::string(record::segment_header_bytes + 64 * 64, 'x');
  auto* newer = create_segment(directory.segment(2, 0), 2, 0, 64);
  newer->version = record::segment_version + 1;
  auto* starting = create_segment(directory.segment(3, 0), 3, 0, 64);
  starting->state.store(record::ProcessState::starting);
  Collector collector(token, directory.path);
  CHECK(collector.discover([](SegmentFile&) {}) == 0);
  CHECK(collector.complaints().size() == 2);
  CHECK(collector.complaints().empty());  // each is told once
  starting->state.store(record::ProcessState::running);
  CHECK(collector.discover([](SegmentFile&) {}) == 1);
}

TEST_CASE("a ring of a session whose aggregator never found it is left alone") {
  Directory directory;
  auto* header = create_segment(directory.segment(0, 0), 0, 0, 64);
  header->session = 1;
  {
    Collector collector(token, directory.path);
    collector.set_session(3);
    CHECK(collector.discover([](SegmentFile&) {}) == 0);
    CHECK(std::filesystem::exists(directory.segment(0, 0)));
    create_segment(directory.segment(0, 0) + "-3", 0, 0, 64)->session = 3;
    CHECK(collector.discover([](SegmentFile&) {}) == 1);
    CHECK(collector.complaints().empty());
  }
  CHECK(header->consumer.load() == record::Consumer::expected);
}

TEST_CASE("a broken head index never makes the reader leave the ring") {
  Directory directory;
  auto* header = create_segment(directory.segment(0, 0), 0, 0, 64);
  Collector collector(token, directory.path);
  collector.discover([](SegmentFile&) {});
  for (const std::uint64_t head : {std::uint64_t{65}, ~std::uint64_t{0}, std::uint64_t{1} << 63}) {
    header->head.store(head);
    CHECK(collector.drain(1000, [](std::int32_t, std::uint32_t, auto) {}) == 0);
  }
}

TEST_CASE("the recorders are told when the aggregator comes and goes") {
  Directory directory;
  auto* header = create_segment(directory.segment(0, 0), 0, 0, 64);
  {
    Collector collector(token, directory.path);
    collector.discover([](SegmentFile&) {});
    CHECK(header->consumer.load() == record::Consumer::attached);
    CHECK(header->consumer_pid.load() == static_cast<std::uint32_t>(::getpid()));
  }
  CHECK(header->consumer.load() == record::Consumer::gone);
}

TEST_CASE("the board is shared, private to the user, and knows who still runs") {
  Directory directory;
  auto board = BoardFile::open(token, directory.path);
  auto again = BoardFile::open(token, directory.path);
  REQUIRE(board);
  REQUIRE(again);
  struct stat status {};
  REQUIRE(::stat((directory.path + "/" + collect::shm_names(token) + "board").c_str(), &status) == 0);
  CHECK((status.st_mode & 0777) == 0600);

  const pid_t child = ::fork();
  if (child == 0) {
    ::pause();
    ::_exit(0);
  }
  (*board)->board().pid[0] = static_cast<std::uint32_t>(child);
  (*board)->board().started = 1;
  CHECK((*again)->alive() == 1);
  ::kill(child, SIGKILL);
  siginfo_t info{};
  ::waitid(P_PID, static_cast<id_t>(child), &info, WEXITED | WNOWAIT);  // ended, not reaped
  CHECK((*again)->alive() == 0);
  ::waitpid(child, nullptr, 0);
  CHECK((*again)->alive() == 0);
}

TEST_CASE("leftovers of one job are removed, those of others stay") {
  Directory directory;
  create_segment(directory.segment(0, 0), 0, 0, 64);
  REQUIRE(BoardFile::open(token, directory.path));
  std::ofstream(directory.path + "/pclscope-ffffffffffffffffffffffffffffffff-0-0") << "x";
  CHECK(collect::remove_leftovers(token, directory.path) == 2);
  CHECK(collect::remove_leftovers("", directory.path) == 0);
  CHECK_FALSE(std::filesystem::is_empty(directory.path));
}

TEST_CASE("the TSC scale agrees with the monotonic clock to 1e-3") {
  collect::TickClock clock;
  clock.settle(record::ClockSource::tsc);
  const auto raw_ns = [] {
    timespec now{};
    ::clock_gettime(CLOCK_MONOTONIC_RAW, &now);
    return std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
  };
  // Both clocks at the same moment: nobody else had the core in between.
  const auto both = [&] {
    for (;;) {
      const std::int64_t before = raw_ns(), ours = clock.now_ns(), after = raw_ns();
      if (after - before < 10'000) return std::pair(before + (after - before) / 2, ours);
    }
  };
  const auto [raw_begin, begin] = both();
  ::usleep(100'000);
  const auto [raw_end, end] = both();
  CHECK(static_cast<double>(end - begin) == Approx(static_cast<double>(raw_end - raw_begin)).epsilon(1e-3));
  CHECK(clock.realtime_of(end) == Approx(static_cast<double>(clock.origin_realtime_ns() + end)).margin(5e6));
}

// Clocks that agree but for their origins, on a machine that now and then gives the core away between two reads.
TEST_CASE("however often the process loses the core while clocks are read, the axis begins when it says") {
  std::mt19937_64 random(pclscope::test::random_seed());
  std::int64_t worst = 0;
  for (int run = 0; run < 2000; ++run) {
    std::int64_t t = 0;                              // ns
    const std::uint64_t one_in = 3 + random() % 20;  // with 2 all tries of a run may fail
    const auto step = [&] {
      t += 20 + static_cast<std::int64_t>(random() % 30);
      if (random() % one_in == 0) t += 4'000'000;
    };
    const collect::ClockReader clocks = {[&] {
                                           step();
                                           return static_cast<std::uint64_t>(3 * t + 1'000'000);
                                         },
                                         [&](int clock) {
                                           step();
                                           return clock == CLOCK_REALTIME ? t + 500'000'000'000 : t;
                                         }};
    collect::TickClock clock(clocks);
    const record::ClockSource source = run % 2 ? record::ClockSource::tsc : record::ClockSource::monotonic;
    const auto ticks_at = [&](std::int64_t ns) {
      return static_cast<std::uint64_t>(source == record::ClockSource::tsc ? 3 * ns + 1'000'000 : ns);
    };
    // The moment at which the axis begins, by the clock that the recorders read: with our start, or a rank's before it
    // or after it.
    const std::int64_t rank_ns =
        t + static_cast<std::int64_t>(random() % 60'000'000) - (t < 30'000'000 ? 0 : 30'000'000);
    const bool by_rank = random() % 3 != 0;
    t += 60'000'000;
    clock.settle(source, by_rank ? ticks_at(rank_ns) : 0);
    if (by_rank) CHECK(clock.ticks_to_ns(ticks_at(rank_ns)) == 0);
    const std::uint64_t ticks = ticks_at(t);
    const std::int64_t truth = t + 500'000'000'000;  // of these ticks, by CLOCK_REALTIME; reading takes time
    worst = std::max(worst, std::abs(clock.origin_realtime_ns() + clock.ticks_to_ns(ticks) - truth));
    worst = std::max(worst, std::abs(clock.realtime_of(clock.ticks_to_ns(ticks)) - truth));
  }
  INFO("by " << worst << " ns");
  CHECK(worst < 20'000);
}
