// PlaneDeflate writes what HDF5's own filters would understand: a zlib stream of byte planes.
#include "analysis/store/plane_deflate.hpp"

#include <zlib.h>

#include <catch2/catch.hpp>
#include <cstring>
#include <random>

#include "tests/seed.hpp"

using pclscope::store::PlaneDeflate;

namespace {

using Bytes = std::vector<std::uint8_t>;

// Inflates and puts the planes together again, with zlib alone (it checks the Adler-32).
Bytes undo(std::span<const std::uint8_t> stream, std::size_t rows, std::size_t width) {
  Bytes planes(rows * width), values(rows * width);
  uLongf size = planes.size();
  const int status = ::uncompress(planes.data(), &size, stream.data(), stream.size());
  CHECK(status == Z_OK);
  CHECK(size == planes.size());
  for (std::size_t i = 0; i < rows; i++) {
    for (std::size_t k = 0; k < width; k++) values[i * width + k] = planes[k * rows + i];
  }
  return values;
}

// Bytes of one of the kinds that planes have: constant, few values, a ramp, runs, noise, skewed noise.
std::uint8_t byte_of(int kind, std::size_t row, std::mt19937_64& random) {
  switch (kind) {
    case 0: return 0;
    case 1: return 0xff;
    case 2: return static_cast<std::uint8_t>(random() % 3);
    case 3: return static_cast<std::uint8_t>(row / 100);
    case 4: return static_cast<std::uint8_t>(row % 1000 < 990 ? 7 : random());
    case 5: return static_cast<std::uint8_t>(random());
    case 6: return static_cast<std::uint8_t>(random() % 256 * (random() % 256) >> 8);
    default: return static_cast<std::uint8_t>(1u << random() % 8);
  }
}

}  // namespace

TEST_CASE("any values of any width come back from plain zlib") {
  const std::uint64_t seed = pclscope::test::random_seed();
  INFO("seed " << seed);
  std::mt19937_64 random(seed);
  PlaneDeflate deflate;
  for (int round = 0; round < 1500; round++) {
    const std::size_t width = 1 + random() % 8;
    const std::size_t rows = round % 50 == 0 ? random() % 90'000 : random() % 3000;
    Bytes values(rows * width);
    for (std::size_t k = 0; k < width; k++) {
      const int kind = static_cast<int>(random() % 8);
      for (std::size_t i = 0; i < rows; i++) values[i * width + k] = byte_of(kind, i, random);
    }
    INFO("round " << round << ": " << rows << " rows of " << width);
    if (undo(deflate.compress(values.data(), rows, width, random() % 3), rows, width) != values) FAIL("other values");
  }
}

TEST_CASE("what a plane costs: constants nothing, noise itself, frequencies about their entropy, repetitions less") {
  constexpr std::size_t rows = 4096;
  PlaneDeflate deflate;
  std::mt19937_64 random(5);
  const auto size = [&](int kind) {
    Bytes values(rows * 8);
    for (std::size_t i = 0; i < rows; i++) values[i * 8] = byte_of(kind, i, random);  // one plane, seven of zeros
    return deflate.compress(values.data(), rows, 8, static_cast<std::size_t>(kind)).size();
  };
  CHECK(size(0) < 100);
  CHECK(size(2) < 1.3 * rows * 1.585 / 8 + 200);  // entropy of three values; chance repetitions are no gain
  CHECK(size(3) < 400);
  CHECK(size(5) < rows + 150);
  CHECK(size(5) > rows);
  CHECK(size(6) < rows);
  CHECK(size(7) < 1.2 * rows * 3 / 8 + 100);  // eight of them
}
