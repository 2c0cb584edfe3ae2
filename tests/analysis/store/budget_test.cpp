// The file never exceeds its budget, whatever is appended for however long, and what is missing has been counted.
#include <catch2/catch.hpp>
#include <cmath>
#include <random>

#include "analysis/store/reader.hpp"
#include "analysis/store/writer.hpp"
#include "tests/analysis/store/older_version.hpp"
#include "tests/analysis/store/sample_rows.hpp"
#include "tests/seed.hpp"
#include "tests/thinned.hpp"

using namespace pclscope;
using namespace pclscope::store;
using namespace pclscope::testing;
namespace fs = std::filesystem;

namespace {

std::unique_ptr<Writer> create(const std::string& path, std::uint64_t budget) {
  WriterOptions options;
  options.budget_bytes = budget;
  auto writer = Writer::create(path, options);
  if (!writer) FAIL(writer.error().message);
  return std::move(*writer);
}

std::unique_ptr<Reader> open(const std::string& path) {
  auto reader = Reader::open(path);
  if (!reader) FAIL(reader.error().message);
  return std::move(*reader);
}

}  // namespace

TEST_CASE("everything at once and far too much of it: within the budget, counted, and the last summary is there") {
  const std::uint64_t seed = pclscope::test::random_seed();
  INFO("seed " << seed);
  std::mt19937_64 random(seed);
  const TemporaryDirectory directory;
  const std::string path = directory / "run.h5";
  const std::uint64_t budget = 5'000'000;
  const auto writer = create(path, budget);
  std::uint64_t messages = 0, calls = 0, windows = 0;
  std::uint32_t sites = 0;
  Snapshot last;
  std::vector<std::uint64_t> seen;
  for (int round = 0; round < 120; round++) {
    const std::uint64_t rows = random() % 4000, more = random() % 2000;
    REQUIRE(writer->append(messages_of(messages, rows)));
    REQUIRE(writer->append(collectives_of(calls, more)));
    messages += rows;
    calls += more;
    for (std::uint64_t i = random() % 200; i > 0; i--) REQUIRE(writer->append(window_of(windows++)));
    REQUIRE(writer->append(sites_of(sites + 1, 20, true)));
    sites += 20;
    last = snapshot_beside_rows(round + 1, 40);
    REQUIRE(writer->summarize(last));
    REQUIRE(writer->flush());
    CHECK(fs::file_size(path) <= budget);
    CHECK(writer->file_bytes() <= budget);
    if (round % 10 != 0) continue;
    const auto reader = open(path);
    CHECK(reader->message_count() + reader->messages_not_stored() == messages);
    CHECK(reader->messages_not_stored() == writer->messages_not_stored());
    CHECK(reader->collective_count() + reader->collectives_not_stored() == calls);
    seen.push_back(reader->message_count());
    CHECK(*reader->messages(0, messages) == messages_of(0, seen.back()));
  }
  CHECK(std::is_sorted(seen.begin(), seen.end()));  // what has been shown stays
  REQUIRE(writer->close());
  CHECK(fs::file_size(path) <= budget);
  const auto reader = open(path);
  CHECK(reader->complete());
  CHECK(reader->message_count() + reader->messages_not_stored() == messages);
  CHECK(reader->messages_not_stored() > 0);
  CHECK(reader->message_count() > 10'000);
  CHECK(reader->collective_count() > 5'000);
  CHECK(*reader->messages(0, messages) == messages_of(0, reader->message_count()));
  CHECK(*reader->collectives(0, calls) == collectives_of(0, reader->collective_count()));
  Snapshot found = reader->summary();
  CHECK(found.sites.size() > 100);
  found.sites.clear();
  CHECK(found == last);
}

TEST_CASE("years of windows in 5 MB: all of the time is covered, and every message counted once") {
  const TemporaryDirectory directory;
  const std::string path = directory / "run.h5";
  const std::uint64_t budget = 5'000'000, count = pclscope::test::thinned<std::uint64_t>(1'500'000, 500'000);
  const auto writer = create(path, budget);
  Window next;
  next.length_s = 100;  // 4.7 years together
  next.regions.resize(3);
  for (std::int32_t i = 0; i < 3; i++) next.regions[static_cast<std::size_t>(i)].region = i;
  for (std::uint64_t i = 0; i < count; i++) {
    next.begin_s = static_cast<double>(i) * 100;
    next.all.messages = 30;
    next.all.mean_ratio = i % 2 == 0 ? 1 : 2;
    for (RegionWindow& region : next.regions) region.messages = 10;
    if (!writer->append(next)) FAIL("window " << i);
    if (i % 50'000 == 0) {
      REQUIRE(writer->flush());
      CHECK(fs::file_size(path) <= budget);
    }
  }
  REQUIRE(writer->close());
  CHECK(fs::file_size(path) <= budget);
  const auto windows = open(path)->windows();
  REQUIRE(windows);
  double at = 0;
  std::uint64_t messages = 0;
  for (const Window& window : *windows) {
    CHECK(window.begin_s == at);
    at += window.length_s;
    messages += window.all.messages;
    CHECK(window.regions.size() == 3);
    CHECK(window.regions[2].messages * 3 == window.all.messages);
    if (window.length_s > 100) CHECK(window.all.mean_ratio == Approx(1.5).margin(0.001));
  }
  CHECK(at == count * 100.0);
  CHECK(messages == count * 30);
  CHECK(windows->size() > 900);
  CHECK(windows->front().length_s == 100);
  CHECK(windows->back().length_s < at / 20);  // a stage more would be twice as coarse
}

TEST_CASE("a summary that does not fit: lists go first, totals stay") {
  const TemporaryDirectory directory;
  const std::string path = directory / "run.h5";
  const auto writer = create(path, smallest_budget_bytes);
  Snapshot large = snapshot_without_sites(1, 10);
  large.regions.clear();
  large.messages.matched = 77;
  large.ranks.resize(100);
  large.criteria.resize(100'000);
  large.network.corrections.resize(300);
  large.network.dead_nodes = {0};
  REQUIRE(writer->summarize(large));
  REQUIRE(writer->flush());
  Snapshot found = open(path)->summary();
  CHECK(found.messages.matched == 77);
  CHECK(found.ranks.size() == 100);
  CHECK(found.criteria.empty());
  CHECK(found.network.corrections.empty());
  CHECK(found.network.dead_nodes.size() == 1);
  large.ranks.resize(200'000);
  large.messages.matched = 78;
  REQUIRE(writer->summarize(large));
  REQUIRE(writer->close());
  found = open(path)->summary();
  CHECK(found.messages.matched == 78);
  CHECK(found.ranks.empty());
  CHECK(fs::file_size(path) <= smallest_budget_bytes);
}

TEST_CASE("a budget too small for any dump is refused; none at all means unlimited") {
  const TemporaryDirectory directory;
  WriterOptions options;
  options.budget_bytes = smallest_budget_bytes - 1;
  const auto refused = Writer::create(directory / "run.h5", options);
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code == ErrorCode::bad_argument);
  CHECK(refused.error().message.find(std::to_string(smallest_budget_bytes)) != std::string::npos);
  CHECK_FALSE(fs::exists(directory / "run.h5"));
  const auto writer = create(directory / "run.h5", 0);
  REQUIRE(writer->append(messages_of(0, 50'000)));
  REQUIRE(writer->close());
  CHECK(open(directory / "run.h5")->message_count() == 50'000);
}

TEST_CASE("a closed dump is as small as its content") {
  const TemporaryDirectory directory;
  WriterOptions options;
  for (const std::uint64_t below : {std::uint64_t{0}, options.compact_below_bytes}) {
    options.compact_below_bytes = below;
    const auto writer = std::move(*Writer::create(directory / std::to_string(below), options));
    for (std::uint64_t i = 0; i < 30; i++) {
      REQUIRE(writer->append(messages_of(i * 1000, 1000)));
      REQUIRE(writer->append(collectives_of(i * 100, 100)));
      REQUIRE(writer->append(window_of(i)));
      REQUIRE(writer->append(sites_of(static_cast<std::uint32_t>(i) + 1, 1, true)));
      REQUIRE(writer->summarize(snapshot_beside_rows(i + 1)));
      REQUIRE(writer->flush());
    }
    REQUIRE(writer->close());
  }
  const std::string large = directory / "0", small = directory / std::to_string(options.compact_below_bytes);
  CHECK(fs::file_size(small) + 500'000 < fs::file_size(large));
  const auto a = open(large), b = open(small);
  CHECK(b->complete());
  CHECK(a->summary() == b->summary());
  CHECK(*a->windows() == *b->windows());
  CHECK(*b->messages(0, 100'000) == messages_of(0, 30'000));
  CHECK(*b->collectives(0, 100'000) == collectives_of(0, 3000));
  CHECK(std::distance(fs::directory_iterator(directory.path()), {}) == 2);
}
