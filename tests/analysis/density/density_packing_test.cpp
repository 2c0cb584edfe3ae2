#include <catch2/catch.hpp>

#include "analysis/density/packing.hpp"
#include "tests/analysis/density/random_calls.hpp"

using namespace pclscope;
using namespace pclscope::density;
using namespace pclscope::density::test;

namespace {

CallDensity random_density(unsigned seed) {
  Pyramid pyramid({.most_slices = 64, .budget_bytes = 1 << 20, .first_shift = 14});
  pyramid.set_regions(std::vector<std::int32_t>{0, 0, 3, 3, 3, -1});
  for (const Call& c : random_calls(seed, 300, std::int64_t{1} << 26)) put(pyramid, c);
  return pyramid.value();
}

}  // namespace

TEST_CASE("density: the worked example of FORMAT.md") {
  CallDensity d;
  d.inside.push_back({-1, 7, 2, 300});
  d.calls.push_back({7, 2, 65, 1, 1});
  const std::vector<std::uint8_t> bytes{1, 20, 20, 8, 1, 0, 7, 2, 0xac, 2, 0, 1, 7, 0xc1, 8, 1, 1, 0};
  CHECK(pack(d) == bytes);
  CHECK(unpack(bytes) == d);
}

TEST_CASE("density: what is packed comes back, and its size is known before") {
  for (unsigned seed = 1; seed <= 20; ++seed) {
    const CallDensity d = random_density(seed);
    const auto bytes = pack(d);
    CHECK(bytes.size() == packed_bytes(d));
    CHECK(unpack(bytes) == d);
  }
  CallDensity large;
  large.inside = {{-1, 0, 0, 1}, {INT32_MAX, 65535, UINT32_MAX, UINT64_MAX}};
  large.calls = {{0, 0, 0, 1, 0}, {65535, UINT32_MAX, 511, UINT64_MAX, 0}};
  CHECK(unpack(pack(large)) == large);
  CHECK(pack({}).empty());
  CHECK(unpack({})->empty());
}

TEST_CASE("density: what was cut or changed is refused, or is another sound density") {
  const auto bytes = pack(random_density(3));
  for (std::size_t size = 1; size < bytes.size(); ++size) REQUIRE_FALSE(unpack(std::span(bytes).first(size)));
  std::mt19937 random(7);
  for (int i = 0; i < 3000; ++i) {
    auto changed = bytes;
    for (unsigned k = 0; k <= random() % 3; ++k)
      changed[random() % changed.size()] = static_cast<std::uint8_t>(random());
    const auto d = unpack(changed);
    if (!d) continue;
    CHECK(unpack(pack(*d)) == d);
    Pyramid pyramid;
    pyramid.add(*d);  // whatever it says
  }
}
