// Differences are exact for any values: damaged clocks, negative times, the largest numbers.
#include "analysis/store/packed_rows.hpp"

#include <catch2/catch.hpp>
#include <limits>
#include <random>

#include "analysis/store/reader.hpp"
#include "analysis/store/writer.hpp"
#include "tests/analysis/store/sample_rows.hpp"
#include "tests/seed.hpp"

using namespace pclscope;
using namespace pclscope::store;
using namespace pclscope::testing;

namespace {

class Anything {
 public:
  explicit Anything(std::uint64_t seed) : random_(seed) {}
  std::int64_t time() {
    switch (random_() % 5) {
      case 0: return std::numeric_limits<std::int64_t>::min() + static_cast<std::int64_t>(random_() % 2);
      case 1: return std::numeric_limits<std::int64_t>::max() - static_cast<std::int64_t>(random_() % 2);
      case 2: return static_cast<std::int64_t>(random_() % 3) - 1;
      case 3: return static_cast<std::int64_t>(random_() % 4'000'000'000'000'000'000) - 2'000'000'000'000'000'000;
      default: return static_cast<std::int64_t>(random_());
    }
  }
  template <class Integer>
  Integer number() {
    return static_cast<Integer>(random_() >> random_() % 64);
  }
  Message message() {
    return {number<std::uint64_t>(),
            number<std::int32_t>(),
            number<std::int32_t>(),
            number<std::int32_t>(),
            number<std::uint32_t>(),
            number<std::uint64_t>(),
            time(),
            time(),
            time(),
            time(),
            time(),
            number<std::uint64_t>(),
            number<std::uint64_t>()};
  }
  CollectiveCall call() {
    return {number<std::uint64_t>(),
            number<std::uint64_t>(),
            number<std::int32_t>(),
            number<std::int32_t>(),
            number<std::uint16_t>(),
            static_cast<CollectiveShape>(random_() % 5),
            random_() % 2 == 0,
            time(),
            time(),
            time(),
            number<std::uint64_t>(),
            number<std::uint64_t>()};
  }
  MpiCall mpi_call() {
    return {number<std::uint64_t>(),
            number<std::int32_t>(),
            number<std::uint16_t>(),
            number<std::uint16_t>(),
            random_() % 2 ? CallEnding::unseen : CallEnding::returned,
            number<std::int32_t>(),
            time(),
            time(),
            time(),
            number<std::uint64_t>(),
            number<std::uint64_t>()};
  }
  std::size_t below(std::size_t limit) { return random_() % limit; }

 private:
  std::mt19937_64 random_;
};

}  // namespace

TEST_CASE("zigzag: small numbers of either sign stay small, and all of them come back") {
  CHECK(zigzag(0) == 0);
  CHECK(zigzag(~std::uint64_t{0}) == 1);
  CHECK(zigzag(1) == 2);
  for (const std::uint64_t value : {std::uint64_t{0}, std::uint64_t{1}, ~std::uint64_t{0}, std::uint64_t{1} << 63,
                                    (std::uint64_t{1} << 63) - 1, mix(4)}) {
    CHECK(unzigzag(zigzag(value)) == value);
  }
}

TEST_CASE("any rows are packed and unpacked exactly, in one piece or in several") {
  const std::uint64_t seed = pclscope::test::random_seed();
  INFO("seed " << seed);
  Anything anything(seed);
  for (int round = 0; round < 200; round++) {
    std::vector<Message> messages, found;
    std::vector<CollectiveCall> calls, found_calls;
    for (std::size_t i = anything.below(60); i > 0; i--) messages.push_back(anything.message());
    for (std::size_t i = anything.below(60); i > 0; i--) calls.push_back(anything.call());
    std::vector<PackedMessage> packed;
    const std::size_t cut = anything.below(messages.size() + 1);
    pack(std::span(messages).first(cut), 0, packed);
    pack(messages, cut, packed);
    unpack(packed, found);
    CHECK(found == messages);
    std::vector<PackedCollective> packed_calls;
    pack(calls, 0, packed_calls);
    unpack(packed_calls, found_calls);
    CHECK(found_calls == calls);
    std::vector<MpiCall> single, found_single;
    for (std::size_t i = anything.below(60); i > 0; i--) single.push_back(anything.mpi_call());
    std::vector<PackedCall> packed_single;
    const std::size_t call_cut = anything.below(single.size() + 1);
    pack(std::span(single).first(call_cut), 0, packed_single);
    pack(single, call_cut, packed_single);
    unpack(packed_single, found_single);
    CHECK(found_single == single);
  }
}

TEST_CASE("any rows come back from a dump, out of chunks and out of its tail") {
  const std::uint64_t seed = pclscope::test::random_seed();
  INFO("seed " << seed);
  Anything anything(seed);
  const TemporaryDirectory directory;
  WriterOptions options;
  options.rows_per_chunk = 64;
  const auto writer = std::move(*Writer::create(directory / "run.h5", options));
  std::vector<Message> messages;
  std::vector<CollectiveCall> calls;
  std::vector<MpiCall> single;
  for (int round = 0; round < 30; round++) {
    const std::size_t single_before = single.size();
    for (std::size_t i = anything.below(100); i > 0; i--) single.push_back(anything.mpi_call());
    REQUIRE(writer->append(std::span<const MpiCall>(single).subspan(single_before)));
    REQUIRE(writer->leave_out_calls(static_cast<std::uint64_t>(round) * 3, static_cast<std::uint64_t>(round)));
    const std::size_t before = messages.size(), calls_before = calls.size();
    for (std::size_t i = anything.below(100); i > 0; i--) messages.push_back(anything.message());
    for (std::size_t i = anything.below(100); i > 0; i--) calls.push_back(anything.call());
    REQUIRE(writer->append(std::span<const Message>(messages).subspan(before)));
    REQUIRE(writer->append(std::span<const CollectiveCall>(calls).subspan(calls_before)));
    if (round == 29) REQUIRE(writer->close());
    else REQUIRE(writer->flush());
    const auto reader = std::move(*Reader::open(directory / "run.h5"));
    CHECK(*reader->messages(0, 1'000'000) == messages);
    CHECK(*reader->collectives(0, 1'000'000) == calls);
    CHECK(*reader->calls(0, 1'000'000) == single);
    CHECK(reader->has_calls());
    CHECK(reader->call_count() == single.size());
    CHECK(reader->calls_not_stored() == static_cast<std::uint64_t>(round) * 3);
    CHECK(reader->calls_shed() == static_cast<std::uint64_t>(round));
  }
}
