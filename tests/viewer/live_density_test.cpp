// A running job's density put together from parts, against the whole, while calls come and slices are joined.
#include "viewer/session/live_density.hpp"

#include <catch2/catch.hpp>
#include <random>

#include "analysis/density/coarser.hpp"
#include "tests/analysis/density/random_calls.hpp"
#include "tests/thinned.hpp"

using namespace pclscope;
using density::Pyramid;

namespace {

const std::function<bool()> never = [] { return false; };

// As the other side of the wire: how often it was asked, and how much it told.
struct AskedPyramid {
  Pyramid pyramid;
  std::size_t most_bytes;
  int questions = 0;
  std::vector<Pyramid::Running> running;
  session::LiveDensity::Ask ask() {
    return [this](const DensityQuestion& question) -> Result<DensityPart> {
      ++questions;
      return pyramid.part(question, running, most_bytes);
    };
  }
};

}  // namespace

TEST_CASE("live density: all parts of a job that stands still are its density") {
  for (unsigned seed = 1; seed <= 20; ++seed) {
    const std::int64_t until = std::int64_t{1} << (20 + seed % 16);
    AskedPyramid job{Pyramid({.most_slices = 64, .budget_bytes = 1u << 20, .first_shift = 10}), 400 * seed, 0, {}};
    for (const auto& c : density::test::random_calls(seed, 500, until)) density::test::put(job.pyramid, c);
    job.running = {{3, 1, until / 2, until + until / 4}};
    session::LiveDensity live;
    REQUIRE(live.refresh(job.ask(), until + until / 4, never));
    CHECK(live.density() == job.pyramid.value(job.running));
    CHECK(live.until_ns() > until);
    REQUIRE(live.refresh(job.ask(), until + until / 4, never));
    CHECK(live.density() == job.pyramid.value(job.running));
  }
}

TEST_CASE("live density: it follows a job whose slices are joined, and old calls that come late are there in the end") {
  for (unsigned seed = 1; seed <= test::thinned(12u, 2u); ++seed) {
    std::mt19937_64 random(seed);
    AskedPyramid job{Pyramid({.most_slices = 64, .budget_bytes = 1u << 20, .first_shift = 16}), 2000, 0, {}};
    session::LiveDensity live;
    std::int64_t now = 0;
    std::uint64_t counted = 0;
    for (int round = 0; round < 120; ++round) {
      for (int i = 0; i < 40; ++i) {
        now += static_cast<std::int64_t>(random() % 5'000'000);
        const auto length = static_cast<std::int64_t>(random() % 50'000'000);
        density::test::put(job.pyramid,
                           {static_cast<std::uint16_t>(1 + random() % 4), static_cast<std::int32_t>(random() % 8),
                            std::max<std::int64_t>(0, now - length), now});
        ++counted;
      }
      REQUIRE(live.refresh(job.ask(), now, never));
      std::uint64_t ends = 0;  // what comes in order is there at once
      for (const auto& c : live.density().calls) ends += c.ends;
      REQUIRE(ends == counted);
    }
    CHECK(live.density() == job.pyramid.value());
    density::test::put(job.pyramid, {9, 0, 5'000'000, 90'000'000});  // late by more than anybody waits for
    REQUIRE(live.refresh(job.ask(), now, never));
    for (int round = 0; round < 256; ++round) REQUIRE(live.refresh(job.ask(), now, never));  // older ones in turn
    CHECK(live.density() == job.pyramid.value());
  }
}

TEST_CASE("live density: once all is there, a refresh asks for the newest and one older part") {
  AskedPyramid job{Pyramid({.most_slices = 1024, .budget_bytes = 1u << 24, .first_shift = 20}), 400'000, 0, {}};
  const std::int64_t until = 60'000'000'000;
  for (const auto& c : density::test::random_calls(5, 20'000, until)) density::test::put(job.pyramid, c);
  session::LiveDensity live;
  REQUIRE(live.refresh(job.ask(), until, never));
  CHECK(job.questions > 8);
  for (int round = 0; round < 30; ++round) {
    job.questions = 0;
    REQUIRE(live.refresh(job.ask(), until + round * std::int64_t{100'000'000}, never));
    REQUIRE(job.questions <= 5);
  }
}

TEST_CASE("live density: a call that goes on is there up to now, however long ago the last event was") {
  AskedPyramid job{Pyramid({.most_slices = 64, .budget_bytes = 1u << 20, .first_shift = 20}), 1u << 20, 0, {}};
  density::test::put(job.pyramid, {4, 0, 1'000'000, 3'000'000});
  session::LiveDensity live;
  for (std::int64_t now = 5'000'000; now < 20'000'000'000; now += now / 2) {
    job.running = {{3, 1, 2'000'000, now}};
    REQUIRE(live.refresh(job.ask(), 3'000'000, never));
    CHECK(live.density() == job.pyramid.value(job.running));
  }
}

TEST_CASE("live density: what fails is told, and goes on later; parts of odd lengths do no harm") {
  AskedPyramid job{Pyramid({.most_slices = 64, .budget_bytes = 1u << 20, .first_shift = 10}), 500, 0, {}};
  for (const auto& c : density::test::random_calls(2, 300, 1 << 22)) density::test::put(job.pyramid, c);
  session::LiveDensity live;
  int left = 3;
  const auto failing = [&](const DensityQuestion& question) -> Result<DensityPart> {
    if (left-- == 0) return Error{ErrorCode::unreachable, "gone"};
    return job.ask()(question);
  };
  const Status failed = live.refresh(failing, 1 << 22, never);
  REQUIRE_FALSE(failed);
  CHECK(failed.error().code == ErrorCode::unreachable);
  REQUIRE(live.refresh(job.ask(), 1 << 22, never));
  CHECK(live.density() == job.pyramid.value());
  int stops = 2;
  REQUIRE(live.refresh(job.ask(), 1 << 22, [&] { return stops-- == 0; }));
  // From others: anything that the wire lets through.
  std::mt19937_64 random(4);
  for (int i = 0; i < 2000; ++i) {
    DensityPart part;
    part.begin_ns = static_cast<std::int64_t>(random() >> (1 + random() % 62));
    part.end_ns =
        part.begin_ns + 1 + static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(INT64_MAX - part.begin_ns));
    part.density = job.pyramid.value();
    part.density.inside_shift = static_cast<std::uint8_t>(random() % 63);
    part.density.calls_shift = static_cast<std::uint8_t>(random() % 63);
    live.put(part);
  }
  const auto wild = [&](const DensityQuestion&) -> Result<DensityPart> {
    return DensityPart{0, 1 + static_cast<std::int64_t>(random() % 3), job.pyramid.value()};
  };
  session::LiveDensity other;
  CHECK(other.refresh(wild, INT64_MAX - 1, never));  // ends
}
