// The rows of a dump in order of time, slice by slice: against all rows at once.
#include <unistd.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <filesystem>
#include <random>
#include <set>

#include "analysis/store/writer.hpp"
#include "tests/thinned.hpp"
#include "viewer/export/stored_rows.hpp"

using namespace pclscope;
using namespace pclscope::exporting;

namespace {

struct Rows {
  std::vector<Message> messages;
  std::vector<MpiCall> calls;
  std::vector<CollectiveCall> collectives;
};

std::string dump_name() {
  return (std::filesystem::temp_directory_path() / ("pclscope-slices-" + std::to_string(::getpid()) + ".h5")).string();
}

std::unique_ptr<store::Reader> stored(const Rows& rows, double duration_s) {
  const std::string name = dump_name();
  store::WriterOptions options;
  options.rows_per_chunk = 64;
  auto writer = store::Writer::create(name, options);
  REQUIRE(writer);
  REQUIRE((*writer)->append(std::span<const Message>(rows.messages)));
  REQUIRE((*writer)->append(std::span<const MpiCall>(rows.calls)));
  REQUIRE((*writer)->append(std::span<const CollectiveCall>(rows.collectives)));
  Snapshot s;
  s.duration_s = duration_s;
  s.application.ranks = 6;
  REQUIRE((*writer)->summarize(s));
  REQUIRE((*writer)->close());
  auto reader = store::Reader::open(name);
  REQUIRE(reader);
  std::filesystem::remove(name);
  return std::move(*reader);
}

// Dense and empty times, long calls, receives posted at once, a little and very long before their message.
Rows random_rows(std::mt19937_64& random, std::int64_t until) {
  Rows rows;
  const auto number = [&](std::int64_t low, std::int64_t high) {
    return std::uniform_int_distribution<std::int64_t>(low, high)(random);
  };
  const auto moment = [&] { return number(0, 3) == 0 ? number(0, until) : number(until / 2, until / 2 + until / 50); };
  for (std::uint64_t i = 0; i < 3000; ++i) {
    Message m;
    m.comm = 1;
    m.source = static_cast<std::int32_t>(number(0, 5));
    m.destination = static_cast<std::int32_t>(number(0, 5));
    m.bytes = i;
    m.send_begin = moment();
    m.send_end = m.send_begin + number(0, 1000);
    const std::int64_t lead = number(0, 9) == 0 ? number(0, until) : number(0, 3) == 0 ? number(0, 2'000'000) : -100;
    m.recv_post = m.send_begin - lead;
    m.recv_wait = std::max(m.recv_post, m.send_begin - 50);
    m.recv_end = std::max(m.recv_wait, m.send_begin) + (number(0, 99) == 0 ? number(0, until) : number(0, 10'000));
    rows.messages.push_back(m);
    MpiCall c;
    c.rank = static_cast<std::int32_t>(number(0, 5));
    c.thread = static_cast<std::uint16_t>(number(0, 1));
    c.begin = moment();
    c.end = c.begin + (number(0, 99) == 0 ? number(0, until) : number(0, 10'000));
    c.bytes = i;
    rows.calls.push_back(c);
    CollectiveCall k;
    k.rank = c.rank;
    k.begin = moment();
    k.end = k.begin + number(0, 10'000);
    k.ordinal = i;
    if (i % 3 == 0) rows.collectives.push_back(k);
  }
  std::ranges::stable_sort(rows.messages, {}, &Message::recv_end);
  std::ranges::stable_sort(rows.calls, {}, &MpiCall::end);
  std::ranges::stable_sort(rows.collectives, {}, &CollectiveCall::end);
  return rows;
}

struct Found {
  std::vector<Slice> slices;
  double last_progress = -1;
};

Found slices_of(const store::Reader& reader, const Choice& choice, std::uint64_t at_once) {
  Found found;
  const Status read = visit_slices(
      reader, choice, needs::messages | needs::calls | needs::collectives,
      [&](double share) {
        CHECK(share >= 0);
        CHECK(share <= 1);
        found.last_progress = share;
        return true;
      },
      [&](const Slice& slice) {
        found.slices.push_back(slice);
        return Status{};
      },
      at_once);
  REQUIRE(read);
  return found;
}

// By a number that each row has for itself: those that were chosen, each time that it lies in a slice.
template <class Row, class Begin, class End, class Number>
void check_rows(const Found& found, const std::vector<Row>& all, const Choice& choice, std::vector<Row> Slice::*rows,
                Begin begin, End end, Number number) {
  for (const Slice& slice : found.slices) {
    std::set<std::uint64_t> expected, got;
    for (const Row& row : all)
      if (choice.has(row) && end(row) >= slice.begin_ns && (begin(row) < slice.end_ns || slice.end_ns == INT64_MAX))
        expected.insert(number(row));
    for (const Row& row : slice.*rows) {
      INFO("twice in a slice: " << number(row));
      CHECK(got.insert(number(row)).second);
    }
    CHECK(got == expected);
  }
  for (const Row& row : all)
    if (choice.has(row))
      REQUIRE(std::ranges::count_if(found.slices, [&](const Slice& s) { return s.holds(begin(row)); }) == 1);
}

}  // namespace

TEST_CASE("every row is in each slice that it reaches into, whatever the slices are") {
  for (int seed = 1; seed <= test::thinned(12, 3); ++seed) {
    std::mt19937_64 random(static_cast<std::uint64_t>(seed));
    const std::int64_t until = seed % 3 == 0 ? 50'000 : 1'000'000'000;
    const Rows rows = random_rows(random, until);
    const auto reader = stored(rows, seed % 4 == 0 ? 0 : static_cast<double>(until) * 1e-9);
    Choice choice;
    if (seed % 2 == 0) choice.ranks = {1, 4};
    if (seed % 3 == 1) choice.from_ns = until / 4, choice.until_ns = until / 2 + 1000;
    for (const std::uint64_t at_once : {20u, 300u, 100'000u}) {
      INFO("seed " << seed << ", rows at once " << at_once);
      const Found found = slices_of(*reader, choice, at_once);
      CHECK(found.last_progress == 1);
      CHECK(found.slices.front().begin_ns == INT64_MIN);
      CHECK(found.slices.back().end_ns == INT64_MAX);
      for (std::size_t i = 1; i < found.slices.size(); ++i)
        REQUIRE(found.slices[i].begin_ns == found.slices[i - 1].end_ns);
      if (at_once == 20 && until > 1'000'000 && choice.ranks.empty()) CHECK(found.slices.size() > 20);
      check_rows(
          found, rows.messages, choice, &Slice::messages,
          [](const Message& m) { return std::min(m.send_begin, m.recv_post); },
          [](const Message& m) { return std::max(m.send_begin, m.recv_end); },
          [](const Message& m) { return m.bytes; });
      check_rows(
          found, rows.calls, choice, &Slice::calls, [](const MpiCall& c) { return c.begin; },
          [](const MpiCall& c) { return c.end; }, [](const MpiCall& c) { return c.bytes; });
      check_rows(
          found, rows.collectives, choice, &Slice::collectives, [](const CollectiveCall& c) { return c.begin; },
          [](const CollectiveCall& c) { return c.end; }, [](const CollectiveCall& c) { return c.ordinal; });
    }
  }
}

TEST_CASE("a dump without rows is one slice, and a stop is an error") {
  const auto reader = stored({}, 1);
  const Found found = slices_of(*reader, {}, 100);
  CHECK(found.slices.size() >= 1);
  CHECK(found.slices.back().calls.empty());
  std::size_t visited = 0;
  const Status status = visit_slices(
      *reader, {}, needs::calls, [](double) { return false; },
      [&](const Slice&) {
        ++visited;
        return Status{};
      });
  CHECK_FALSE(status);
  CHECK(visited == 0);
}
