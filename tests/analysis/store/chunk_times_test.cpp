// What a reader passes over when it is asked for a time: never a row that belongs to it.
#include <algorithm>
#include <catch2/catch.hpp>
#include <random>

#include "analysis/store/reader.hpp"
#include "analysis/store/writer.hpp"
#include "tests/analysis/store/sample_rows.hpp"
#include "tests/thinned.hpp"

using namespace pclscope;
using namespace pclscope::store;
using namespace pclscope::testing;

namespace {

constexpr std::int64_t second = 1'000'000'000;

// Runs for 100 s; times are not sorted, but rows of about one time lie together.
std::vector<Message> messages_over_time(std::mt19937_64& random, std::size_t count) {
  std::vector<Message> rows = messages_of(0, count);
  for (std::size_t i = 0; i < count; i++) {
    Message& m = rows[i];
    m.send_begin = static_cast<std::int64_t>(100.0 * second * static_cast<double>(i) / static_cast<double>(count)) +
                   static_cast<std::int64_t>(random() % (2 * second)) - second;
    m.recv_end =
        m.send_begin + static_cast<std::int64_t>(random() % second) - second / 10;  // some before they were sent
    if (random() % 200 == 0) m.recv_end += 20 * second;
  }
  return rows;
}

std::vector<CollectiveCall> collectives_over_time(std::mt19937_64& random, std::size_t count) {
  std::vector<CollectiveCall> rows = collectives_of(0, count);
  for (std::size_t i = 0; i < count; i++) {
    rows[i].begin = static_cast<std::int64_t>(100.0 * second * static_cast<double>(i) / static_cast<double>(count));
    rows[i].end = rows[i].begin + static_cast<std::int64_t>(random() % second);
  }
  return rows;
}

std::uint64_t rows_in(const std::vector<RowRange>& ranges) {
  std::uint64_t rows = 0, end = 0;
  for (const RowRange& range : ranges) {
    REQUIRE((range.count > 0 && range.first >= end));
    end = range.first + range.count;
    rows += range.count;
  }
  return rows;
}

template <class Rows, class Inside>
void require_all(const Rows& all, const std::vector<RowRange>& ranges, Inside&& inside) {
  auto range = ranges.begin();
  for (std::uint64_t i = 0; i < all.size(); i++) {
    while (range != ranges.end() && range->first + range->count <= i) ++range;
    const bool covered = range != ranges.end() && range->first <= i;
    if (!covered && inside(all[i])) FAIL("row " << i << " was passed over");
  }
}

void check_times(const Reader& reader, std::mt19937_64& random, bool narrow) {
  const auto messages = reader.messages(0, ~0ull);
  const auto calls = reader.collectives(0, ~0ull);
  REQUIRE((messages && calls));
  for (int i = 0; i < test::thinned(60, 20); i++) {
    const auto begin = static_cast<std::int64_t>(random() % (110 * second)) - 5 * second;
    const auto end = begin + static_cast<std::int64_t>(random() % (3 * second));
    const auto ranges = reader.messages_within(begin, end);
    require_all(*messages, ranges, [&](const Message& m) {
      return (m.send_begin >= begin && m.send_begin < end) || (m.recv_end >= begin && m.recv_end < end);
    });
    const auto call_ranges = reader.collectives_within(begin, end);
    require_all(*calls, call_ranges, [&](const CollectiveCall& c) { return c.end >= begin && c.begin < end; });
    if (!narrow) continue;
    CHECK(rows_in(ranges) < messages->size() / 2);
    CHECK(rows_in(call_ranges) < calls->size() / 5);
  }
  CHECK(rows_in(reader.messages_within(INT64_MIN, INT64_MAX)) == messages->size());
  CHECK(rows_in(reader.collectives_within(INT64_MIN, INT64_MAX)) == calls->size());
}

std::unique_ptr<Reader> open(const std::string& path) {
  auto reader = Reader::open(path);
  REQUIRE(reader);
  return std::move(*reader);
}

}  // namespace

TEST_CASE("a reader that is asked for a time passes over chunks, but over no row of that time") {
  const TemporaryDirectory directory;
  const std::string path = directory / "run.h5";
  std::mt19937_64 random(11);
  WriterOptions options;
  options.rows_per_chunk = 64;
  const bool compact = GENERATE(true, false);
  if (!compact) options.compact_below_bytes = 0;
  const std::size_t piece = test::thinned<std::size_t>(1000, 300);
  const auto messages = messages_over_time(random, 40 * piece);
  const auto calls = collectives_over_time(random, 10 * piece);
  auto writer = Writer::create(path, options);
  REQUIRE(writer);
  for (std::size_t i = 0; i < 40; i++) {  // also while it is written, and what is in the tail
    REQUIRE((*writer)->append(std::span(messages).subspan(i * piece, piece)));
    REQUIRE((*writer)->append(std::span(calls).subspan(i * (piece / 4), piece / 4)));
    REQUIRE((*writer)->flush());
    if (i % 13 == 5) check_times(*open(path), random, false);
  }
  check_times(*open(path), random, true);
  Snapshot summary;
  SECTION("on one node") {}
  SECTION("clocks that were corrected at the end") {
    summary.application.ranks = 64;
    summary.application.nodes = {"one", "two"};
    summary.application.node_of_rank.assign(64, 0);
    for (std::size_t rank = 0; rank < 64; rank += 2) summary.application.node_of_rank[rank] = 1;
    summary.network.corrections = {{1, 0, 3.0, 1e-6}, {1, 60, -2.5, 1e-6}};
  }
  REQUIRE((*writer)->summarize(summary));
  REQUIRE((*writer)->close());
  const auto reader = open(path);
  REQUIRE(reader->complete());
  CHECK((*reader->messages(0, ~0ull) == messages) == summary.network.corrections.empty());
  check_times(*reader, random, true);
}
