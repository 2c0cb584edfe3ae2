// The ring between two processes, as it is used: the writer here, the reader in a forked child, over shared memory.
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <catch2/catch.hpp>
#include <cstring>
#include <random>
#include <thread>

#include "interpose/record/ring.hpp"
#include "tests/seed.hpp"
#include "tests/thinned.hpp"

using namespace pclscope::record;

namespace {

// A segment in memory that survives fork.
struct Shared {
  explicit Shared(std::uint64_t capacity, std::uint32_t growths = 0) : bytes(segment_bytes(capacity, growths)) {
    memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    REQUIRE(memory != MAP_FAILED);
    header = static_cast<SegmentHeader*>(memory);
    header->capacity = capacity;
    header->growths = growths;
  }
  ~Shared() { munmap(memory, bytes); }
  std::uint64_t bytes;
  void* memory;
  SegmentHeader* header;
};

Event numbered(std::uint64_t i) {
  Event e{};
  e.begin = i;
  e.end = ~i;
  e.site = i * 3;
  e.comm = i ^ 0x5555;
  e.bytes = i << 7;
  e.ordinal = i;
  e.peer = static_cast<std::int32_t>(i);
  e.tag = -static_cast<std::int32_t>(i & 0xffff);
  e.kind = EventKind::send;
  e.function = static_cast<std::uint16_t>(i);
  e.flags = static_cast<std::uint32_t>(i * 7);
  return e;
}

bool granted(SegmentHeader*, std::uint32_t) { return true; }  // a RingWriter::Grow

bool same(const Event& a, const Event& b) { return std::memcmp(&a, &b, sizeof a) == 0; }

// Reads `total` events in random portions; 0 when each is what it should be, and whatever is published can be read.
int read_all(SegmentHeader* header, std::uint64_t capacity, std::uint64_t total, unsigned seed,
             std::uint32_t growths = 0) {
  std::mt19937 random(seed);
  RingReader reader(header, capacity, growths);
  for (std::uint64_t next = 0; next < total;) {
    const std::uint64_t published = header->head.load(std::memory_order_acquire);
    const auto events = reader.peek(1 + random() % (2 * capacity));
    if (events.empty() && published > next) return 3;
    for (const Event& e : events) {
      if (!same(e, numbered(next++))) return 1;
    }
    reader.release(events.size());
    if (random() % 64 == 0) usleep(random() % 50);
  }
  return reader.peek(1).empty() ? 0 : 2;
}

}  // namespace

TEST_CASE("an empty ring has nothing to read") {
  Shared shared(64);
  RingReader reader(shared.header, 64);
  CHECK(reader.peek(100).empty());
  RingWriter writer(shared.header);
  REQUIRE(writer.claim() != nullptr);
  CHECK(reader.peek(100).empty());  // claimed, not published
}

TEST_CASE("a full ring refuses, and takes exactly as many as were released") {
  Shared shared(64);
  RingWriter writer(shared.header);
  RingReader reader(shared.header, 64);
  std::uint64_t next = 0;
  const auto fill = [&] {
    std::uint64_t written = 0;
    while (Event* slot = writer.claim()) {
      *slot = numbered(next++);
      writer.publish();
      ++written;
    }
    return written;
  };
  CHECK(fill() == 64);
  CHECK(fill() == 0);
  CHECK(reader.peek(1000).size() == 64);
  reader.release(10);
  CHECK(fill() == 10);
  CHECK(shared.header->head == 74);
  // Two pieces, as it wraps.
  CHECK(reader.peek(1000).size() == 54);
  CHECK(same(reader.peek(1).front(), numbered(10)));
  reader.release(54);
  CHECK(reader.peek(1000).size() == 10);
  CHECK(same(reader.peek(1).front(), numbered(64)));
}

TEST_CASE("a broken head index is never followed beyond the ring") {
  Shared shared(64);
  RingReader reader(shared.header, 64);
  shared.header->head = 1000;
  CHECK(reader.peek(1u << 20).empty());
}

TEST_CASE("what one process writes another reads, whole and in order") {
  const auto capacity = GENERATE(as<std::uint64_t>(), 1, 2, 64, 1024);
  const unsigned seed = GENERATE(1u, 2u, 3u);
  const auto growths = GENERATE(as<std::uint32_t>(), 0, 5);
  CAPTURE(capacity, seed, growths);
  const std::uint64_t total = pclscope::test::thinned<std::uint64_t>(capacity < 64 ? 20000 : 300000);
  Shared shared(capacity, growths);
  const pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) _exit(read_all(shared.header, capacity, total, seed, growths));
  std::mt19937 random(seed + 100);
  RingWriter writer(shared.header, nullptr, granted);
  int ended = 0;
  int status = -1;
  for (std::uint64_t i = 0; i < total && ended == 0;) {
    if (Event* slot = writer.claim()) {
      *slot = numbered(i++);
      writer.publish();
      if (random() % 4096 == 0) usleep(random() % 50);
    } else {
      ended = waitpid(child, &status, WNOHANG);  // a reader that found a fault is gone
      usleep(1);
    }
  }
  if (ended == 0) REQUIRE(waitpid(child, &status, 0) == child);
  CHECK(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 0);
}

TEST_CASE("a reader in the middle of the run sees what a dead writer left") {
  Shared shared(64);
  const pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    RingWriter writer(shared.header);
    for (std::uint64_t i = 0; i < 40; ++i) {
      *writer.claim() = numbered(i);
      writer.publish();
    }
    *writer.claim() = numbered(99);  // claimed only
    raise(SIGKILL);
  }
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  REQUIRE(WIFSIGNALED(status));
  RingReader reader(shared.header, 64);
  const auto events = reader.peek(1000);
  REQUIRE(events.size() == 40);
  CHECK(same(events.back(), numbered(39)));
}

// The same between threads, so that ThreadSanitizer sees both sides.
TEST_CASE("what one thread writes another reads, whole and in order") {
  const auto capacity = GENERATE(as<std::uint64_t>(), 1, 2, 64);
  const auto growths = GENERATE(as<std::uint32_t>(), 0, 1, 6);
  CAPTURE(capacity, growths);
  constexpr std::uint64_t total = 50000;
  Shared shared(capacity, growths);
  std::atomic<int> result = -1;  // until the reader is through, or has found a fault
  std::thread reader([&] { result = read_all(shared.header, capacity, total, 7, growths); });
  RingWriter writer(shared.header, nullptr, granted);
  for (std::uint64_t i = 0; i < total && result < 0;) {
    if (Event* slot = writer.claim()) {
      *slot = numbered(i++);
      writer.publish();
    } else {
      std::this_thread::yield();
    }
  }
  reader.join();
  CHECK(result == 0);
}

TEST_CASE("a writer killed at any moment leaves a whole beginning") {
  const auto seed = static_cast<unsigned>(pclscope::test::random_seed());
  CAPTURE(seed);
  std::mt19937 random(seed);
  for (int life = 0; life < 100; ++life) {
    const std::uint64_t capacity = std::uint64_t{1} << random() % 7;
    const auto growths = static_cast<std::uint32_t>(random() % 5);
    CAPTURE(life, capacity, growths);
    Shared shared(capacity, growths);
    const pid_t child = fork();
    REQUIRE(child >= 0);
    if (child == 0) {
      RingWriter writer(shared.header, nullptr, granted);
      for (std::uint64_t i = 0;;) {
        if (Event* slot = writer.claim()) {
          *slot = numbered(i++);
          writer.publish();
        }
      }
    }
    RingReader reader(shared.header, capacity, growths);
    std::uint64_t next = 0, wrong = 0;
    const auto drain = [&] {
      const auto events = reader.peek(1 + random() % (2 * capacity));
      for (const Event& e : events) wrong += same(e, numbered(next++)) ? 0u : 1u;
      reader.release(events.size());
      return !events.empty();
    };
    for (unsigned i = random() % 300; i > 0; --i) drain();
    kill(child, SIGKILL);
    REQUIRE(waitpid(child, nullptr, 0) == child);
    while (drain()) {}
    CHECK(wrong == 0);
    CHECK(next == shared.header->head);
  }
}

TEST_CASE("a quarter full, the ring wakes a reader that rests, and no other") {
  Shared shared(64);
  Bell bell{};
  RingWriter writer(shared.header, &bell);
  RingReader reader(shared.header, 64);
  const auto write = [&](int count) {
    for (; count > 0; --count) {
      REQUIRE(writer.claim() != nullptr);
      writer.publish();
    }
  };
  bell.resting = 1;
  write(16);
  CHECK(bell.rung == 0);
  write(1);  // claimed with a quarter unread
  CHECK(bell.rung == 1);
  CHECK(bell.resting == 0);
  write(32);  // it is awake and slow
  CHECK(bell.rung == 1);
  reader.release(49);
  bell.resting = 1;
  write(32);  // a quarter since the last look, and at most two unread
  CHECK(bell.rung == 2);
  bell.resting = 1;
  write(32);
  CHECK(bell.rung == 3);
  bell.resting = 1;
  CHECK(writer.claim() == nullptr);  // full
  CHECK(bell.rung == 4);
}

TEST_CASE("a reader that sleeps until it is woken misses nothing and is woken in time") {
  constexpr std::uint64_t capacity = 64, total = 20000;
  Shared shared(capacity), other(64);
  auto& bell = *new (other.header) Bell{};
  const pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    RingWriter writer(shared.header, &bell);
    for (std::uint64_t i = 0; i < total;) {
      if (Event* slot = writer.claim()) {
        *slot = numbered(i++);
        writer.publish();
      }
    }
    shared.header->state = ProcessState::finalizing;
    ring_bell(bell);
    _exit(0);
  }
  RingReader reader(shared.header, capacity);
  std::uint64_t next = 0, wrong = 0;
  while (next < total) {
    const auto events = reader.peek(capacity);
    for (const Event& e : events) wrong += same(e, numbered(next++)) ? 0u : 1u;
    reader.release(events.size());
    const std::uint32_t seen = bell.rung;
    bell.resting = 1;
    if (shared.header->head - reader.consumed() < capacity / 4 && shared.header->state != ProcessState::finalizing)
      syscall(SYS_futex, &bell.rung, FUTEX_WAIT, seen, nullptr, nullptr, 0);  // for ever, were it not rung
    bell.resting = 0;
  }
  CHECK(wrong == 0);
  int status = -1;
  REQUIRE(waitpid(child, &status, 0) == child);
}

TEST_CASE("a second reader goes on where the first one died") {
  constexpr std::uint64_t capacity = 64, total = 20000;
  const auto growths = GENERATE(as<std::uint32_t>(), 0, 3);
  Shared shared(capacity, growths);
  const pid_t writing = fork();
  REQUIRE(writing >= 0);
  if (writing == 0) {
    RingWriter writer(shared.header, nullptr, granted);
    for (std::uint64_t i = 0; i < total;) {
      if (Event* slot = writer.claim()) {
        *slot = numbered(i++);
        writer.publish();
      }
    }
    _exit(0);
  }
  const pid_t first = fork();
  REQUIRE(first >= 0);
  if (first == 0) _exit(read_all(shared.header, capacity, total / 2, 5, growths));
  int status = -1;
  REQUIRE(waitpid(first, &status, 0) == first);
  CHECK((WIFEXITED(status) && WEXITSTATUS(status) != 1));
  RingReader reader(shared.header, capacity, growths);
  std::uint64_t next = reader.consumed(), wrong = 0;
  while (next < total) {
    const auto events = reader.peek(10);
    for (const Event& e : events) wrong += same(e, numbered(next++)) ? 0u : 1u;
    reader.release(events.size());
  }
  CHECK(wrong == 0);
  REQUIRE(waitpid(writing, &status, 0) == writing);
}

TEST_CASE("half full, the writer goes on in a larger ring, and the reader takes what is left in the old one first") {
  Shared shared(64, 2);
  RingWriter writer(shared.header, nullptr, granted);
  RingReader reader(shared.header, 64, 2);
  std::uint64_t written = 0;
  const auto fill = [&](std::uint64_t most) {
    for (; written < most; ++written) {
      Event* slot = writer.claim();
      if (slot == nullptr) break;
      *slot = numbered(written);
      writer.publish();
    }
  };
  std::uint64_t next = 0;
  const auto take = [&](std::uint64_t limit) {
    const auto events = reader.peek(limit);
    for (const Event& e : events) CHECK(same(e, numbered(next++)));
    reader.release(events.size());
    return events.size();
  };
  fill(32);
  CHECK(shared.header->begins[0] == 0);
  CHECK(writer.capacity() == 64);
  fill(33);
  CHECK(shared.header->begins[0] == 32);
  CHECK(writer.capacity() == 128);
  CHECK(writer.room() == 127);
  CHECK(reader.newest() == 1);
  fill(32 + 64);
  CHECK(shared.header->begins[1] == 0);
  fill(1000);  // the third one is the last
  CHECK(shared.header->begins[1] == 96);
  CHECK(written == 32 + 64 + 256);
  CHECK(writer.room() == 0);
  CHECK(reader.newest() == 2);

  CHECK(take(20) == 20);
  CHECK(writer.claim() == nullptr);  // room in a ring that is not used any more is none
  CHECK(take(1000) == 12);
  CHECK(reader.ring() == 1);
  CHECK(take(1000) == 64);  // 32 to 95 of 128 slots
  CHECK(reader.ring() == 2);
  CHECK(take(1000) == 160);  // from slot 96 on
  CHECK(writer.room() == 160);
  fill(1000);
  CHECK(written == 32 + 64 + 256 + 160);
  while (take(1000) > 0) {}
  CHECK(next == written);
}

TEST_CASE("a ring that is read in time, or may not grow, stays as it is") {
  static int asked;
  asked = 0;
  const auto refuse = [](SegmentHeader*, std::uint32_t ring) {
    CHECK(ring == 1);
    ++asked;
    return false;
  };
  Shared shared(64, 3);
  RingWriter writer(shared.header, nullptr, refuse);
  RingReader reader(shared.header, 64, 3);
  for (int i = 0; i < 1000; ++i) {
    REQUIRE(writer.claim() != nullptr);
    writer.publish();
    if (i % 16 == 15) reader.release(16);  // never more than a quarter is unread when the writer looks
  }
  CHECK(asked == 0);
  reader.release(1000 - reader.consumed());
  for (int i = 0; i < 64; ++i) {
    REQUIRE(writer.claim() != nullptr);
    writer.publish();
  }
  CHECK(writer.claim() == nullptr);
  CHECK(asked == 1);
  CHECK(shared.header->begins[0] == 0);
}

TEST_CASE("a larger ring rings the bell as well") {
  Shared shared(64, 1);
  Bell bell{};
  RingWriter writer(shared.header, &bell, granted);
  const auto write = [&](int count) {
    for (; count > 0; --count) {
      REQUIRE(writer.claim() != nullptr);
      writer.publish();
    }
  };
  write(33);
  REQUIRE(writer.capacity() == 128);
  const std::uint32_t before = bell.rung;
  bell.resting = 1;
  write(32);  // a quarter of the new one
  CHECK(bell.rung == before + 1);
}

TEST_CASE("a broken number of a ring's first event is never followed beyond the rings") {
  Shared shared(64, 1);
  RingReader reader(shared.header, 64, 1);
  shared.header->head = 1000;
  for (const std::uint64_t begin : {std::uint64_t{1}, std::uint64_t{500}, std::uint64_t{1} << 63, ~std::uint64_t{0}}) {
    shared.header->begins[0] = begin;
    CHECK(reader.peek(1u << 20).size() <= 64);
  }
}
