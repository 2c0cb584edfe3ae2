// Frames: what goes in comes out, and nothing that comes from outside does harm.
#include <flatbuffers/flatbuffers.h>

#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>

#include "analysis/wire/decode.hpp"
#include "analysis/wire/encode.hpp"
#include "analysis/wire/frame.hpp"
#include "analysis/wire/pclscope_generated.h"
#include "tests/analysis/wire/random_snapshot.hpp"

using namespace pclscope;
using namespace pclscope::wire;
using pclscope::testing::RandomSnapshot;

namespace {

using Bytes = std::vector<std::uint8_t>;

Bytes bytes_of(std::span<const std::uint8_t> frame) { return {frame.begin(), frame.end()}; }

template <class Body>
Bytes frame_of(flatbuffers::FlatBufferBuilder& to, flatbuffers::Offset<Body> body, fb::Body kind = fb::Body::Snapshot) {
  to.Finish(fb::CreateFrame(to, kind, body.Union()));
  const std::uint8_t header[] = {'P', 'C', 'L', 'W', version_major, 0, 0, 0};
  to.PushFlatBuffer(header, sizeof header);
  return {to.GetBufferPointer(), to.GetBufferPointer() + to.GetSize()};
}

ErrorCode code_of(const Bytes& frame) {
  const auto decoded = decode_snapshot(frame);
  REQUIRE_FALSE(decoded);
  return decoded.error().code;
}

}  // namespace

TEST_CASE("random snapshots come back equal in every field") {
  Encoder encoder;
  for (std::uint64_t seed = 1; seed <= 300; seed++) {
    INFO("seed " << seed);
    const Snapshot before = RandomSnapshot(seed).make();
    const auto after = decode_snapshot(encoder.snapshot(before));
    REQUIRE(after);
    REQUIRE(*after == before);
  }
}

TEST_CASE("an empty snapshot comes back equal") {
  Encoder encoder;
  const auto after = decode_snapshot(encoder.snapshot(Snapshot{}));
  REQUIRE(after);
  CHECK(*after == Snapshot{});
}

TEST_CASE("the dendrogram does not travel") {
  Snapshot before;
  before.dendrogram.method = "paper";
  before.dendrogram.leaf_of_rank = {0, 1};
  before.dendrogram.merges = {{0, 1, 2.5}};
  Encoder encoder;
  const auto after = decode_snapshot(encoder.snapshot(before));
  REQUIRE(after);
  CHECK(*after == Snapshot{});
}

TEST_CASE("a frame without the newer tables gives their default values") {
  flatbuffers::FlatBufferBuilder to;
  fb::SnapshotBuilder snapshot(to);
  const auto after = decode_snapshot(frame_of(to, snapshot.Finish()));
  REQUIRE(after);
  CHECK(*after == Snapshot{});
  CHECK(after->retention.bites_since_s == -1);
}

// 64 regions with everything that they may carry live: 600 windows, 32 periods, 200 links, 20 delays.
TEST_CASE("a job of 1,024 ranks fits into a megabyte") {
  RandomSnapshot random(7, 2);
  Snapshot s = random.make();
  Region region;
  region.history_ratio.assign(600, 1.5f);
  region.history_messages.assign(600, 100'000);
  region.periods.assign(32, {PeriodKind::growth, true, 1.5, 2.5, 9, 99, 999, 9, 1.5, 2.5, 3.5, 4.5, 5.5, 6.5, 7.5});
  for (int r = 0; r < 16; r++) region.ranks.push_back(r * 64);  // no two of them neighbours
  s.regions.assign(64, region);
  s.links.assign(200, {1, 2, 3, 4, 5, 1.5, 2.5, 3.5, 4.5, 5.5});
  s.delays.assign(
      20, {1, 2, 3, 4, 1.5, 2.5, 3.5, 4.5, 5.5, 6.5, std::vector<std::int32_t>(8, 1), std::vector<double>(8, 1.5)});
  RankSummary rank;
  rank.node = -1;
  rank.sends = rank.receives = rank.bytes_sent = rank.bytes_received = 1'000'000;
  rank.mean_latency_ratio = rank.mpi_s = rank.late_sender_s = rank.late_receiver_s = 1.5;
  rank.collective_wait_s = rank.delay_caused_s = 2.5;
  s.ranks.assign(1024, rank);
  Encoder encoder;
  const auto frame = encoder.snapshot(s);
  INFO("bytes " << frame.size());
  CHECK(frame.size() < 1'000'000);
  const auto after = decode_snapshot(frame);
  REQUIRE(after);
  CHECK(*after == s);
}

TEST_CASE("rank lists keep any order, and ranges keep them small") {
  Snapshot before;
  before.regions.resize(2);
  before.regions[0].ranks = {5, 6, 7, 3, 2, 1, 0, 2147483647};
  for (int r = 0; r < 100'000; r++) before.regions[1].ranks.push_back(r);
  Encoder encoder;
  const auto frame = encoder.snapshot(before);
  CHECK(frame.size() < 4000);  // 4 bytes per rank would be 400,000
  const auto after = decode_snapshot(frame);
  REQUIRE(after);
  CHECK(*after == before);
}

TEST_CASE("a frame that lies askew in memory is read all the same") {
  Encoder encoder;
  const Snapshot before = RandomSnapshot(4).make();
  const auto frame = encoder.snapshot(before);
  for (std::size_t shift = 1; shift < 8; shift++) {
    Bytes shifted(shift);
    shifted.insert(shifted.end(), frame.begin(), frame.end());
    const auto after = decode_snapshot(std::span(shifted).subspan(shift));
    REQUIRE(after);
    CHECK(*after == before);
  }
}

TEST_CASE("questions and answers come back") {
  Encoder encoder;
  const auto question = decode_question(encoder.question_newest(77));
  REQUIRE(question);
  CHECK(question->id == 77);
  CHECK(question->kind == QuestionKind::newest_snapshot);
  for (const AnswerStatus status :
       {AnswerStatus::here, AnswerStatus::nothing_yet, AnswerStatus::unknown_question, AnswerStatus::cannot}) {
    const auto answer = decode_answer(encoder.answer(1234567890123, status));
    REQUIRE(answer);
    CHECK(answer->id == 1234567890123);
    CHECK(answer->status == status);
  }
  CHECK(decode_snapshot(encoder.question_newest(1)).error().code == ErrorCode::damaged);
  CHECK(decode_question(encoder.answer(1, AnswerStatus::here)).error().code == ErrorCode::damaged);
  CHECK(decode_answer(encoder.snapshot({})).error().code == ErrorCode::damaged);
}

TEST_CASE("traffic is asked for, and comes back") {
  Encoder encoder;
  const auto question = decode_question(encoder.question_traffic(8));
  REQUIRE(question);
  CHECK(question->id == 8);
  CHECK(question->kind == QuestionKind::traffic);
  std::mt19937_64 random(4);
  std::vector<PairTraffic> pairs;
  for (std::int32_t i = 0; i < 5000; i++) pairs.push_back({i / 50, i % 50, random() >> 20, random() >> 2});
  const auto back = decode_traffic(encoder.traffic(pairs));
  REQUIRE(back);
  CHECK(*back == pairs);
  CHECK(decode_traffic(encoder.traffic({}))->empty());
  CHECK(decode_traffic(encoder.traffic({{-1, 3, 1, 1}})).error().code == ErrorCode::damaged);
  CHECK(decode_traffic(encoder.question_traffic(8)).error().code == ErrorCode::damaged);
}

TEST_CASE("the density of calls is asked for, and comes back") {
  Encoder encoder;
  const auto question = decode_question(encoder.question_density(8, {-5, 123'456'789'012}));
  REQUIRE(question);
  CHECK(question->id == 8);
  CHECK(question->kind == QuestionKind::density);
  CHECK(question->density.from_ns == -5);
  CHECK(question->density.to_ns == 123'456'789'012);
  DensityPart part{1 << 21, 3 << 21, {}};
  part.density.inside_shift = part.density.calls_shift = 21;
  part.density.inside = {{-1, 15, 1, 300}, {7, 15, 2, 1'000'000}};
  part.density.calls = {{15, 1, 65, 1, 0}, {15, 2, 65, 0, 1}};
  const auto back = decode_density(encoder.density(part));
  REQUIRE(back);
  CHECK(*back == part);
  part.density = {};
  CHECK(*decode_density(encoder.density(part)) == part);
  CHECK(decode_density(encoder.question_density(8, {})).error().code == ErrorCode::damaged);
  CHECK(decode_question(encoder.density(part)).error().code == ErrorCode::damaged);
  for (const auto& [begin, end] : {std::pair{-1, 5}, std::pair{5, 5}, std::pair{6, 5}}) {
    part.begin_ns = begin, part.end_ns = end;
    CHECK(decode_density(encoder.density(part)).error().code == ErrorCode::damaged);
  }
  flatbuffers::FlatBufferBuilder to;
  const auto packed = to.CreateVector(std::vector<std::uint8_t>{1, 2, 3});
  const auto body = fb::CreateDensity(to, 0, 1, packed);
  CHECK(decode_density(frame_of(to, body, fb::Body::Density)).error().code == ErrorCode::damaged);
}

TEST_CASE("a question of a kind that is not known yet is a question") {
  flatbuffers::FlatBufferBuilder to;
  const auto body = fb::CreateQuestion(to, 5, static_cast<fb::QuestionKind>(77));
  const auto question = decode_question(frame_of(to, body, fb::Body::Question));
  REQUIRE(question);
  CHECK(question->id == 5);
  CHECK(question->kind == QuestionKind::unknown);
}

TEST_CASE("an answer that cannot be given says why, in bounds") {
  Encoder encoder;
  const auto answer = decode_answer(encoder.answer(3, AnswerStatus::cannot, "no region 9: there are 1, 2"));
  REQUIRE(answer);
  CHECK(answer->text == "no region 9: there are 1, 2");
  CHECK(decode_answer(encoder.answer(3, AnswerStatus::cannot, std::string(1'000'000, 'x')))->text.size() ==
        limit::text_bytes);
  // From somebody who does not cut it.
  flatbuffers::FlatBufferBuilder to;
  const auto text = to.CreateString(std::string(1'000'000, 'x'));
  const auto body = fb::CreateAnswer(to, 3, fb::AnswerStatus::cannot, text);
  CHECK(decode_answer(frame_of(to, body, fb::Body::Answer))->text.size() == limit::text_bytes);
}

TEST_CASE("the worked example of FORMAT.md") {
  const Bytes example = {0x50, 0x43, 0x4c, 0x57, 0x02, 0x00, 0x00, 0x00, 0x0c, 0x00, 0x00, 0x00, 0x08, 0x00,
                         0x0c, 0x00, 0x07, 0x00, 0x08, 0x00, 0x08, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x03,
                         0x0c, 0x00, 0x00, 0x00, 0x08, 0x00, 0x10, 0x00, 0x08, 0x00, 0x07, 0x00, 0x08, 0x00,
                         0x00, 0x00, 0x00, 0x00, 0x00, 0x01, 0x07, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00};
  const auto answer = decode_answer(example);
  REQUIRE(answer);
  CHECK(answer->id == 7);
  CHECK(answer->status == AnswerStatus::nothing_yet);
}

TEST_CASE("numbers that are not finite become 0") {
  Snapshot before;
  const double nan = std::numeric_limits<double>::quiet_NaN(), infinite = std::numeric_limits<double>::infinity();
  before.duration_s = nan;
  before.latency = {infinite, -infinite, nan};
  before.regions.resize(1);
  before.regions[0].mean_latency_ratio = nan;
  before.regions[0].history_ratio = {1, static_cast<float>(nan), static_cast<float>(infinite)};
  before.regions[0].history_messages = {1, 2, 3};
  before.worst.resize(1);
  before.worst[0].ratio = infinite;
  before.ranks.resize(1);
  before.ranks[0].mpi_s = nan;
  before.criteria.resize(1);
  before.criteria[0].median_s = nan;
  before.live.window_s = nan;
  before.regions[0].periods.resize(1);
  before.regions[0].periods[0].end_ratio = infinite;
  before.links.resize(1);
  before.links[0].mean_latency_ratio = nan;
  before.delays.resize(1);
  before.delays[0].cost_s = infinite;
  before.delays[0].victims = {3, 4};
  before.delays[0].victim_s = {nan};
  before.collectives.wait_s = nan;
  before.retention.memory_from_s = -infinite;
  Encoder encoder;
  const auto after = decode_snapshot(encoder.snapshot(before));
  REQUIRE(after);
  CHECK(after->duration_s == 0);
  CHECK(after->latency == LatencySummary{});
  CHECK(after->regions[0].mean_latency_ratio == 0);
  CHECK(after->regions[0].history_ratio == std::vector<float>{1, 0, 0});
  CHECK(after->worst[0].ratio == 0);
  CHECK(after->ranks[0].mpi_s == 0);
  CHECK(after->criteria[0].median_s == 0);
  CHECK(after->live.window_s == 0);
  CHECK(after->regions[0].periods[0].end_ratio == 0);
  CHECK(after->links[0] == RegionLink{});
  CHECK(after->delays[0].cost_s == 0);
  CHECK(after->delays[0].victims == std::vector<std::int32_t>{3});
  CHECK(after->delays[0].victim_s == std::vector<double>{0});
  CHECK(after->collectives == CollectiveTotals{});
  CHECK(after->retention == Retention{});
}

TEST_CASE("indices that point nowhere and unequal histories are mended") {
  Snapshot before;
  before.application.nodes = {"a", "b"};
  before.application.node_of_rank = {0, 1, 2, -7};
  before.ranks.resize(2);
  before.ranks[0].node = 1;
  before.ranks[1].node = 2;
  before.regions.resize(1);
  before.regions[0].history_ratio = {1, 2, 3};
  before.regions[0].history_messages = {1};
  Encoder encoder;
  const auto after = decode_snapshot(encoder.snapshot(before));
  REQUIRE(after);
  CHECK(after->application.node_of_rank == std::vector<std::int32_t>{0, 1, -1, -1});
  CHECK(after->ranks[0].node == 1);
  CHECK(after->ranks[1].node == -1);
  CHECK(after->regions[0].history_ratio.size() == 1);
}

TEST_CASE("another major version is refused by name, a newer minor version is read") {
  Encoder encoder;
  Bytes frame = bytes_of(encoder.snapshot(RandomSnapshot(1).make()));
  frame[6] = 9;
  CHECK(decode_snapshot(frame));
  frame[4] = version_major + 1;
  CHECK(code_of(frame) == ErrorCode::wrong_version);
  frame[5] = 1;
  CHECK(decode_snapshot(frame).error().message.find("version 259") != std::string::npos);
}

TEST_CASE("what has no header is not ours") {
  CHECK(code_of({}) == ErrorCode::not_ours);
  CHECK(code_of({'P', 'C', 'L', 'W', version_major, 0, 0}) == ErrorCode::not_ours);
  CHECK(code_of(Bytes(4096, 0)) == ErrorCode::not_ours);
  CHECK(code_of({'P', 'C', 'L', 'W', version_major, 0, 0, 0}) == ErrorCode::damaged);
}

namespace {

// A snapshot of one table with one column.
template <class Fill>
Bytes table_of(const char* name, std::uint32_t rows, const char* column_name, Fill&& fill) {
  flatbuffers::FlatBufferBuilder to;
  const auto table_name = to.CreateString(name), label = to.CreateString(column_name);
  const auto put = fill(to);
  fb::ColumnBuilder column(to);
  column.add_name(label);
  put(column);
  const auto made = column.Finish();
  const auto columns = to.CreateVector(&made, 1);
  const auto table = fb::CreateRowTable(to, table_name, rows, columns);
  const auto tables = to.CreateVector(&table, 1);
  return frame_of(to, fb::CreateSnapshot(to, tables));
}

Bytes runs_of(std::uint32_t rows, const std::vector<fb::Run>& runs) {
  return table_of("node_of_rank", rows, "node", [&](auto& to) {
    const auto vector = to.CreateVectorOfStructs(runs);
    return [vector](auto& column) { column.add_runs(vector); };
  });
}

}  // namespace

TEST_CASE("runs that have too many numbers, too few, or beyond 32 bits are refused, not allocated") {
  CHECK(decode_snapshot(runs_of(3, {{5, 1}, {7, 2}})));
  for (const auto& runs : {std::vector<fb::Run>{{0, 4'000'000'000u}},
                           {{0, 2'000'000'000u}},
                           {{5, 2}},
                           {{5, 4}},
                           {{5, 2}, {7, 2}},
                           {{2'147'483'646, 3}}}) {
    CHECK(code_of(runs_of(3, runs)) == ErrorCode::damaged);
  }
  CHECK(code_of(runs_of(4'000'000'000u, {{0, 4'000'000'000u}})) == ErrorCode::damaged);
}

TEST_CASE("a column of another type, or another number of rows, is refused") {
  const auto floats = [](std::uint32_t rows) {
    return table_of("node_of_rank", rows, "node", [](auto& to) {
      const auto vector = to.CreateVector(std::vector<float>{1, 2});
      return [vector](auto& column) { column.add_f32(vector); };
    });
  };
  const auto integers = [](std::uint32_t rows) {
    return table_of("node_of_rank", rows, "node", [](auto& to) {
      const auto vector = to.CreateVector(std::vector<std::int32_t>{1, 7});
      return [vector](auto& column) { column.add_i32(vector); };
    });
  };
  CHECK(decode_snapshot(integers(2)));
  CHECK(code_of(integers(1)) == ErrorCode::damaged);
  CHECK(code_of(integers(3)) == ErrorCode::damaged);
  CHECK(code_of(floats(2)) == ErrorCode::damaged);
}

TEST_CASE("columns and tables that nobody knows are passed over, missing ones have default values") {
  const auto unknown = [](const char* table, const char* column) {
    return table_of(table, 2, column, [](auto& to) {
      const auto vector = to.CreateVector(std::vector<std::int32_t>{1, 7});
      return [vector](auto& into) { into.add_i32(vector); };
    });
  };
  const auto after = decode_snapshot(unknown("tables of the future", "node"));
  REQUIRE(after);
  CHECK(*after == Snapshot{});
  const auto ranks = decode_snapshot(unknown("ranks", "moods"));
  REQUIRE(ranks);
  CHECK(ranks->ranks == std::vector<RankSummary>(2));
}

TEST_CASE("a small frame that claims millions of rows is refused, not allocated") {
  const auto claims = [](std::uint32_t rows) {
    flatbuffers::FlatBufferBuilder to;
    const auto name = to.CreateString("ranks");
    const auto table = fb::CreateRowTable(to, name, rows);
    const std::vector<flatbuffers::Offset<fb::RowTable>> many(1'000, table);
    const auto tables = to.CreateVector(many);
    return frame_of(to, fb::CreateSnapshot(to, tables));
  };
  CHECK(decode_snapshot(claims(1000)));
  for (const std::uint32_t rows : {4'000'000'000u, 10'000'000u}) CHECK(code_of(claims(rows)) == ErrorCode::damaged);
}

TEST_CASE("a frame cut off at any length is an error") {
  Encoder encoder;
  const Bytes whole = bytes_of(encoder.snapshot(RandomSnapshot(3).make()));
  for (std::size_t length = 0; length < whole.size(); length += length < 4096 ? 1 : 97) {
    const auto decoded = decode_snapshot(std::span(whole).first(length));
    if (decoded) FAIL("decoded " << length << " of " << whole.size() << " bytes");
  }
}
