// Frames that were damaged on the way: never a crash, never much memory.
#include <catch2/catch.hpp>
#include <cstdlib>
#include <new>
#include <random>

#include "tests/analysis/nodes/packing_values.hpp"
#include "tests/seed.hpp"

using namespace pclscope;
using namespace pclscope::nodes;
using namespace pclscope::nodes::test;

#ifdef PCLSCOPE_UNDER_SANITIZER
constexpr int mutants = 20'000;
#else
constexpr int mutants = 200'000;
#define PCLSCOPE_COUNTS_MEMORY  // the sanitizers have their own operator new
#endif

#ifdef PCLSCOPE_COUNTS_MEMORY
namespace {
std::size_t allocated = 0;
}
// Not inlined: GCC would see malloc() and free() in them, each beside the other kind of operator.
[[gnu::noinline]] void* operator new(std::size_t size) {
  allocated += size;
  if (void* p = std::malloc(size)) return p;
  throw std::bad_alloc();
}
[[gnu::noinline]] void* operator new(std::size_t size, std::align_val_t alignment) {
  allocated += size;
  const auto a = static_cast<std::size_t>(alignment);
  if (void* p = std::aligned_alloc(a, (size + a - 1) / a * a)) return p;
  throw std::bad_alloc();
}
[[gnu::noinline]] void operator delete(void* p) noexcept { std::free(p); }
[[gnu::noinline]] void operator delete(void* p, std::size_t) noexcept { std::free(p); }
[[gnu::noinline]] void operator delete(void* p, std::align_val_t) noexcept { std::free(p); }
[[gnu::noinline]] void operator delete(void* p, std::size_t, std::align_val_t) noexcept { std::free(p); }
#else
namespace {
std::size_t allocated = 0;
}
#endif

namespace {

std::vector<std::byte> some_frame(Random& random) {
  switch (random() % 5) {
    case 0: return pack(any_send_records(random, 40));
    case 1: return pack(any_report(random, 2));
    case 2: return pack(any_raw(random, 30));
    case 3: return pack(any_newest(random, 30));
    default: return pack(any_orders(random, 60));
  }
}

void damage(std::vector<std::byte>& frame, Random& random) {
  for (std::uint64_t n = 1 + random() % 3; n > 0; --n) {
    const std::size_t at = frame.empty() ? 0 : random() % frame.size();
    switch (frame.empty() ? 4 : random() % 6) {
      case 0: frame[at] ^= static_cast<std::byte>(1u << random() % 8); break;
      case 1: frame[at] = static_cast<std::byte>(random()); break;
      case 2: frame.resize(at); break;
      case 3: frame.erase(frame.begin() + static_cast<std::ptrdiff_t>(at)); break;
      case 4: frame.insert(frame.begin() + static_cast<std::ptrdiff_t>(at), static_cast<std::byte>(random())); break;
      default:  // a huge number
        for (std::size_t i = at; i < std::min(frame.size(), at + 9); ++i) frame[i] = std::byte{0xff};
    }
  }
}

// Exactly as long as the frame, so that ASan sees each byte read beyond it.
template <class T>
bool try_unpack(const std::vector<std::byte>& frame) {
  T value;
  return unpack(std::span(frame.data(), frame.size()), value);
}
bool try_all(const std::vector<std::byte>& frame) {
  if (frame.empty()) return try_unpack<SendRecords>(frame) || try_unpack<Report>(frame);
  switch (static_cast<unsigned>(frame[0]) % 5) {
    case 0: return try_unpack<SendRecords>(frame);
    case 1: return try_unpack<Report>(frame);
    case 2: return try_unpack<RawMessages>(frame);
    case 4: return try_unpack<NewestOfNode>(frame);
    default: return try_unpack<Orders>(frame);
  }
}

}  // namespace

TEST_CASE("damaged frames are refused or read as something else, in little memory") {
  const auto seed = pclscope::test::random_seed();
  INFO("seed " << seed);
  Random random(seed);
  int refused = 0;
  double most = 0;
  for (int i = 0; i < mutants / 20; ++i) {
    const std::vector<std::byte> frame = some_frame(random);
    for (int k = 0; k < 20; ++k) {
      std::vector<std::byte> mutant = frame;
      damage(mutant, random);
      mutant.shrink_to_fit();
      allocated = 0;
      refused += !try_all(mutant);
      most = std::max(most, static_cast<double>(allocated) / (static_cast<double>(mutant.size()) + 64));
    }
  }
  WARN(refused << " of " << mutants << " refused; at most " << most << " bytes allocated per byte of a frame");
  CHECK(refused > mutants / 2);
  CHECK(most < 400);  // all allocations together, growing lists included
}

TEST_CASE("every cut of a frame is refused, and so is a longer one") {
  const auto seed = pclscope::test::random_seed();
  INFO("seed " << seed);
  Random random(seed);
  for (int i = 0; i < 40; ++i) {
    const std::vector<std::byte> frame = some_frame(random);
    REQUIRE(try_all(frame));
    for (std::size_t n = 2; n < frame.size(); ++n) {
      const std::vector<std::byte> cut(frame.begin(), frame.begin() + static_cast<std::ptrdiff_t>(n));
      REQUIRE(!try_all(cut));
    }
    std::vector<std::byte> longer = frame;
    longer.push_back(std::byte{0});
    REQUIRE(!try_all(longer));
  }
}

TEST_CASE("frames of noise, and of counts without anything behind them") {
  const auto seed = pclscope::test::random_seed();
  INFO("seed " << seed);
  Random random(seed);
  for (int i = 0; i < mutants / 10; ++i) {
    std::vector<std::byte> frame(2 + random() % 200, std::byte{0xff});
    if (i % 4 != 0) {
      for (std::byte& b : frame) b = static_cast<std::byte>(random() >> random() % 8);
    }
    frame[0] = static_cast<std::byte>(random() % 4);
    frame[1] = std::byte{1};
    allocated = 0;
    try_all(frame);
    REQUIRE(allocated < 400 * (frame.size() + 64));
  }
}
