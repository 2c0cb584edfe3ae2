// The blank dump that programs have inside, against one that is made here, piece by piece.
#include "analysis/store/blank.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <fstream>
#include <iterator>

#include "analysis/store/reader.hpp"
#include "analysis/store/writer.hpp"
#include "tests/analysis/store/sample_rows.hpp"
#include "tests/analysis/wire/random_snapshot.hpp"
#include "tests/seed.hpp"

using namespace pclscope;
using namespace pclscope::store;
using namespace pclscope::testing;

TEST_CASE("the blank is byte by byte what this version makes") {
  const TemporaryDirectory directory;
  REQUIRE(Writer::make_blank(directory / "blank"));
  std::ifstream file(directory / "blank", std::ios::binary);
  const std::string made{std::istreambuf_iterator<char>(file), {}};
  const std::span<const std::byte> inside = blank_dump();
  CHECK(made.size() > 100'000);
  CHECK((made == std::string(reinterpret_cast<const char*>(inside.data()), inside.size())));
  const auto exists = Writer::make_blank(directory / "blank");
  REQUIRE_FALSE(exists);
}

TEST_CASE("a dump from the blank reads as one that was made piece by piece") {
  const TemporaryDirectory directory;
  const std::uint64_t seed = test::random_seed();
  INFO("seed " << seed);
  const Snapshot snapshot = RandomSnapshot(seed).make();
  std::vector<Snapshot> read;
  std::vector<std::vector<Message>> messages;
  for (const std::uint32_t rows : {blank_rows_per_chunk, blank_rows_per_chunk - 1}) {
    const std::string path = directory / std::to_string(rows);
    WriterOptions options;
    options.rows_per_chunk = rows;
    auto writer = std::move(*Writer::create(path, options));
    REQUIRE(writer->append(messages_of(0, 10'000)));
    for (std::uint64_t i = 0; i < 5; i++) REQUIRE(writer->append(window_of(i)));
    REQUIRE(writer->summarize(snapshot));
    REQUIRE(writer->flush());
    REQUIRE(writer->close());
    const auto reader = std::move(*Reader::open(path));
    CHECK(reader->complete() == !std::any_of(snapshot.ranks.begin(), snapshot.ranks.end(),
                                             [](const RankSummary& rank) { return rank.missing; }));
    messages.push_back(*reader->messages(0, 10'000));
    CHECK(reader->windows()->size() == 5);
    read.push_back(reader->summary());
  }
  CHECK((read[0] == read[1]));
  CHECK(messages[0].size() == 10'000);
  CHECK((messages[0] == messages[1]));
  CHECK(read[0].ranks.size() == snapshot.ranks.size());
}
