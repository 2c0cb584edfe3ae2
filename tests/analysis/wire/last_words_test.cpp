// The last snapshot of a job, from an aggregator to whoever started it.
#include "analysis/wire/last_words.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <cstdlib>
#include <string>

#include "analysis/wire/decode.hpp"
#include "analysis/wire/encode.hpp"
#include "tests/analysis/wire/random_snapshot.hpp"

using namespace pclscope;
using namespace pclscope::wire;

TEST_CASE("last words arrive as they were written, as a frame has them") {
  const LastWords words;
  REQUIRE_FALSE(words.path().empty());
  CHECK_FALSE(words.read());
  const Snapshot snapshot = pclscope::testing::RandomSnapshot(7).make();
  REQUIRE(write_last_words(words.path(), snapshot));
  Encoder encoder;
  const auto expected = decode_snapshot(encoder.snapshot(snapshot));
  REQUIRE(expected);
  CHECK(words.read() == *expected);
}

TEST_CASE("last words that are no whole snapshot are none") {
  const LastWords words;
  Encoder encoder;
  const auto frame = encoder.snapshot(pclscope::testing::RandomSnapshot(8).make());
  const int file = ::open(words.path().c_str(), O_WRONLY | O_CLOEXEC);
  REQUIRE(file >= 0);
  const std::size_t half = frame.size() / 2;
  REQUIRE(::write(file, frame.data(), half) == static_cast<ssize_t>(half));
  ::close(file);
  CHECK_FALSE(words.read());
}

TEST_CASE("another file that has the place of last words is left alone") {
  char name[] = "/tmp/pclscope-last-words-XXXXXX";
  const int file = ::mkstemp(name);
  REQUIRE(file >= 0);
  ::unlink(name);
  CHECK_FALSE(write_last_words("/proc/self/fd/" + std::to_string(file), Snapshot()));
  CHECK(::lseek(file, 0, SEEK_END) == 0);
  ::close(file);
  CHECK_FALSE(write_last_words("/proc/self/fd/999999", Snapshot()));
  CHECK_FALSE(write_last_words("", Snapshot()));
}
