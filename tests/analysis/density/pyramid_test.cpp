// Against counting one by one (random_calls.hpp).
#include "analysis/density/pyramid.hpp"

#include <catch2/catch.hpp>

#include "analysis/density/coarser.hpp"
#include "analysis/density/packing.hpp"
#include "tests/analysis/density/random_calls.hpp"

using namespace pclscope;
using namespace pclscope::density;
using namespace pclscope::density::test;

TEST_CASE("a duration is in the bin that its logarithm says") {
  for (std::uint64_t d = 0; d < 100'000; ++d) REQUIRE(bin_of(d) == bin_by_powers(d));
  for (unsigned bin = 1; bin < bins; ++bin) {
    const auto first = static_cast<std::uint64_t>(std::ceil(std::exp2(static_cast<long double>(bin) / 8)));
    for (const std::uint64_t d : {first - 1, first, first + 1}) REQUIRE(bin_of(d) == bin_by_powers(d));
  }
  std::mt19937_64 random(1);
  for (int i = 0; i < 10'000; ++i) {
    const std::uint64_t d = random() >> random() % 64;
    REQUIRE(bin_of(d) == bin_by_powers(d));
  }
  CHECK(bin_of(~std::uint64_t{0}) == bins - 1);
}

TEST_CASE("random calls: every bin and slice as counted one by one, however much was joined") {
  for (unsigned seed = 1; seed <= 40; ++seed) {
    const std::int64_t until = std::int64_t{1} << (18 + seed % 20);
    Pyramid pyramid(
        {.most_slices = 16, .budget_bytes = std::size_t{3000} * (seed % 4 == 0 ? 1 : 100), .first_shift = 10});
    const auto calls = random_calls(seed, 500, until);
    std::size_t counted = 0;
    for (const Call& c : calls) {
      put(pyramid, c);
      if (++counted % 100 != 0) continue;
      const std::vector<Call> so_far(calls.begin(), calls.begin() + static_cast<std::ptrdiff_t>(counted));
      REQUIRE(pyramid.value() == by_hand(so_far, pyramid.inside_shift(), pyramid.calls_shift()));
    }
    CHECK(slices_of_inside(pyramid.value()) <= 16);
    CHECK(pyramid.calls_shift() >= pyramid.inside_shift());
  }
}

TEST_CASE("pieces taken on several nodes add up to the whole at the root") {
  for (unsigned seed = 1; seed <= 20; ++seed) {
    const auto calls = random_calls(seed, 600, std::int64_t{1} << 30);
    Pyramid::Limits limits{.most_slices = 64, .budget_bytes = 1 << 20, .first_shift = 12};
    std::vector<Pyramid> nodes;
    for (int node = 0; node < 3; ++node) nodes.emplace_back(limits);
    Pyramid root(limits);
    std::mt19937 random(seed);
    for (const Call& c : calls) {
      const std::size_t node = random() % nodes.size();
      put(nodes[node], c);
      if (random() % 50 == 0) root.add(nodes[node].take());
    }
    for (Pyramid& node : nodes) root.add(node.take());
    CHECK(root.value() == by_hand(calls, root.inside_shift(), root.calls_shift()));
    for (Pyramid& node : nodes) CHECK(node.take().empty());
  }
}

TEST_CASE("regions divide the time inside, and change") {
  const auto calls = random_calls(3, 400, std::int64_t{1} << 24);
  const std::vector<std::int32_t> before{5, 5, 5, 2, 2, -1, -1, 9}, after{5, 5, 2, 2, 2, 2, 2, 11};
  Pyramid pyramid;
  pyramid.set_regions(before);
  std::vector<Call> first(calls.begin(), calls.begin() + 200), second(calls.begin() + 200, calls.end());
  for (const Call& c : first) put(pyramid, c);
  CHECK(pyramid.value() == by_hand(first, 20, 20, before));
  pyramid.set_regions(after);
  for (const Call& c : second) put(pyramid, c);
  Pyramid expected;
  expected.add(by_hand(first, 20, 20, before));
  expected.add(by_hand(second, 20, 20, after));
  CHECK(pyramid.value() == expected.value());
}

TEST_CASE("more regions than are told apart: the largest are, and nothing is lost") {
  const std::int32_t ranks = 200;
  std::vector<std::int32_t> region_of_rank;  // region r has r + 1 ranks
  for (std::int32_t r = 0; r < 19; ++r) region_of_rank.insert(region_of_rank.end(), static_cast<std::size_t>(r + 1), r);
  region_of_rank.resize(static_cast<std::size_t>(ranks), -1);
  const auto calls = random_calls(4, 3000, std::int64_t{1} << 24, ranks);
  Pyramid pyramid;
  pyramid.set_regions(region_of_rank);
  for (const Call& c : calls) put(pyramid, c);
  std::vector<std::int32_t> told = region_of_rank;
  for (std::int32_t& r : told)
    if (r < 3) r = -1;
  CHECK(pyramid.value() == by_hand(calls, 20, 20, told));
  // Regions that are no more make room for new ones.
  std::vector<std::int32_t> later = region_of_rank;
  for (std::int32_t& r : later) r = r < 0 ? -1 : r + 100;
  pyramid.set_regions(later);
  for (const Call& c : calls) put(pyramid, c);
  CHECK(sums_of(pyramid.value()) == [&] {
    std::vector<Call> twice = calls;
    twice.insert(twice.end(), calls.begin(), calls.end());
    return sums_of(by_hand(twice, 20, 20));
  }());
}

TEST_CASE("made coarser, all sums stay") {
  for (unsigned seed = 1; seed <= 10; ++seed) {
    const auto calls = random_calls(seed, 2000, std::int64_t{1} << 31);
    Pyramid pyramid({.most_slices = 4096, .budget_bytes = 32u << 20, .first_shift = 19});
    for (const Call& c : calls) put(pyramid, c);
    CallDensity d = pyramid.value();
    const auto sums = sums_of(d);
    for (const std::size_t bytes : {20'000u, 5'000u, 1'000u, 100u, 0u}) {
      fit(d, bytes);
      CHECK(sums_of(d) == sums);
      const bool least = slices_of_inside(d) == 1 && slices_of_calls(d) == 1 && d.bins_per_octave == 1;
      CHECK((packed_bytes(d) <= bytes || least));
      CallDensity expected = by_hand(calls, d.inside_shift, d.calls_shift);
      while (expected.bins_per_octave > d.bins_per_octave) halve_bins(expected);
      CHECK(d == expected);
    }
    CallDensity few = pyramid.value();
    fit_inside(few, 10);
    CHECK(slices_of_inside(few) <= 10);
    CHECK(sums_of(few) == sums);
  }
}

TEST_CASE("a run without an end: memory and packed size stay as they are") {
  Pyramid pyramid;
  std::mt19937_64 random(5);
  std::int64_t now = 0;
  std::size_t largest = 0, largest_packed = 0;
  std::uint64_t calls = 0;
  for (int octave = 0; octave < 24; ++octave) {                   // from a second to half a year
    const std::int64_t until = std::int64_t{3} << (29 + octave);  // three quarters of the slices
    const std::int64_t step = (until - now) / 20'000;
    for (; now < until; now += step, ++calls) {
      const auto length = static_cast<std::int64_t>(std::exp2(std::uniform_real_distribution<>(8, 24)(random)));
      put(pyramid, {static_cast<std::uint16_t>(1 + random() % 12), 0, now, now + length});
    }
    const std::size_t packed = packed_bytes(pyramid.value());
    if (octave >= 8) {
      CHECK(pyramid.bytes() <= largest * 11 / 10);
      CHECK(packed <= largest_packed * 11 / 10);
    }
    largest = std::max(largest, pyramid.bytes());
    largest_packed = std::max(largest_packed, packed);
  }
  CHECK(largest < (std::size_t{64} << 20));
  std::uint64_t starts = 0;
  for (const auto& [function, sum] : sums_of(pyramid.value())) starts += sum.starts;
  CHECK(starts == calls);
}

TEST_CASE("the worst case of memory: all functions, all durations, all the time") {
  Pyramid pyramid;
  for (std::uint32_t i = 0; i < 3'000'000; ++i) {
    const std::int64_t begin = static_cast<std::int64_t>(i) * 357;
    pyramid.call(pyramid.place(static_cast<std::uint16_t>(i * 2654435761u >> 16 & 127)), begin,
                 begin + (std::int64_t{1} << (i * 40503u >> 8) % 30));
  }
  CHECK(pyramid.bytes() <= (std::size_t{64} << 20));
}

TEST_CASE("parts: slices of the whole, nothing twice, nothing left out, with calls that go on") {
  for (unsigned seed = 1; seed <= 30; ++seed) {
    std::mt19937_64 random(seed);
    const std::int64_t until = std::int64_t{1} << (18 + seed % 14);
    Pyramid pyramid(
        {.most_slices = 32, .budget_bytes = std::size_t{6000} * (seed % 4 == 0 ? 1 : 100), .first_shift = 10});
    pyramid.set_regions(std::vector<std::int32_t>{5, 5, 2, 2});
    for (const Call& c : random_calls(seed, 300, until)) put(pyramid, c);
    std::vector<Pyramid::Running> running;
    for (int i = 0; i < 4; ++i) {  // some have gone on for longer than there are slices
      const auto begin = static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(until));
      const auto length =
          static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(seed % 3 == 0 ? 8 * until : until));
      running.push_back({static_cast<std::uint16_t>(1 + i % 2), i, begin, begin + length});
    }
    if (seed % 5 == 0) running.clear();
    const CallDensity whole = pyramid.value(running);
    for (const std::size_t most_bytes : {std::size_t{1}, std::size_t{2000}, part_bytes}) {
      CallDensity sum;
      std::int64_t from = 0;
      int parts = 0;
      for (; from < 16 * until; ++parts) {
        const DensityPart part = pyramid.part({from, INT64_MAX}, running, most_bytes);
        if (part.begin_ns < from) break;  // there are no slices any more
        REQUIRE(part.begin_ns == from);
        REQUIRE(part.end_ns > part.begin_ns);
        for (const auto& i : part.density.inside) {
          REQUIRE(std::int64_t{i.slice} << part.density.inside_shift >= part.begin_ns);
          REQUIRE((std::int64_t{i.slice} + 1) << part.density.inside_shift <= part.end_ns);
        }
        for (const auto& c : part.density.calls) {
          REQUIRE(std::int64_t{c.slice} << part.density.calls_shift >= part.begin_ns);
          REQUIRE((std::int64_t{c.slice} + 1) << part.density.calls_shift <= part.end_ns);
        }
        add(sum, part.density);
        from = part.end_ns;
      }
      CHECK(sum == whole);
      CHECK((most_bytes != part_bytes || parts == 1));
      CHECK((most_bytes != 1 || parts > 1 || seed % 4 == 0));  // where counts are of one slice, so are parts
    }
    // A period in the middle: what the whole has there.
    const auto from = static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(until));
    const DensityPart part = pyramid.part({from, from + until / 3}, running);
    CHECK(part.begin_ns <= from);
    CHECK(part.end_ns >= std::min(from + until / 3, std::int64_t{32} << part.density.inside_shift));
    CallDensity cut = whole;
    std::erase_if(cut.inside, [&](const auto& i) {
      const std::int64_t begin = std::int64_t{i.slice} << cut.inside_shift;
      return begin < part.begin_ns || begin >= part.end_ns;
    });
    std::erase_if(cut.calls, [&](const auto& c) {
      const std::int64_t begin = std::int64_t{c.slice} << cut.calls_shift;
      return begin < part.begin_ns || begin >= part.end_ns;
    });
    CHECK(part.density == cut);
  }
}

TEST_CASE("parts: any question gets an answer that ends") {
  Pyramid empty, far;
  far.call_inside(far.place(3), 0, 0, INT64_MAX / 4);
  const std::int64_t odd[] = {INT64_MIN, -1, 0, 1, 1'000'000, INT64_MAX / 4, INT64_MAX - 1, INT64_MAX};
  for (const Pyramid* pyramid : {&empty, &far}) {
    for (const std::int64_t from : odd) {
      for (const std::int64_t to : odd) {
        const std::vector<Pyramid::Running> running{{3, 0, odd[3], to}};
        const DensityPart part = pyramid->part({from, to}, running);
        CHECK(part.begin_ns >= 0);
        CHECK(part.end_ns > part.begin_ns);
      }
    }
  }
}
