// Frames of every kind, damaged in every way we can think of: the reader gives an error or a value that is whole,
// returns all memory, and takes no more of it than frame.hpp's limits say.
//
// PCLSCOPE_FUZZ_FRAMES=N frames instead of the usual number, PCLSCOPE_FUZZ_SEED=S another sequence.
#include <malloc.h>

#include <algorithm>
#include <atomic>
#include <catch2/catch.hpp>
#include <chrono>
#include <cstdlib>
#include <functional>
#include <new>
#include <random>

#include "analysis/wire/decode.hpp"
#include "analysis/wire/encode.hpp"
#include "analysis/wire/frame.hpp"
#include "tests/analysis/wire/damaged_frames.hpp"
#include "tests/analysis/wire/random_dag.hpp"
#include "tests/analysis/wire/random_snapshot.hpp"
#include "tests/analysis/wire/some_calls.hpp"
#include "tests/thinned.hpp"

#ifdef PCLSCOPE_UNDER_SANITIZER
constexpr bool sanitized = true;  // a sanitizer has its own account of memory
#else
constexpr bool sanitized = false;
#endif

namespace {

std::atomic<std::size_t> held{0}, most_held{0};

}  // namespace

#ifndef PCLSCOPE_UNDER_SANITIZER
void* operator new(std::size_t size) {
  void* memory = std::malloc(size);
  if (!memory) throw std::bad_alloc();
  const std::size_t now = held += ::malloc_usable_size(memory);
  if (now > most_held) most_held = now;
  return memory;
}
void operator delete(void* memory) noexcept {
  held -= ::malloc_usable_size(memory);
  std::free(memory);
}
void operator delete(void* memory, std::size_t) noexcept { operator delete(memory); }
#endif

using namespace pclscope;
using namespace pclscope::wire;
using pclscope::testing::Bytes;
using pclscope::testing::FrameDamage;
using pclscope::testing::random_dag;
using pclscope::testing::RandomSnapshot;

namespace {

std::uint64_t from_environment(const char* name, std::uint64_t otherwise) {
  const char* text = std::getenv(name);
  return text && *text ? std::strtoull(text, nullptr, 10) : otherwise;
}

Bytes copy(std::span<const std::uint8_t> frame) { return {frame.begin(), frame.end()}; }

// Small, so that damage hits every field soon.
Snapshot small_snapshot(std::uint64_t seed) {
  Snapshot s = RandomSnapshot(seed, 4).make();
  const auto keep = [](auto& rows, std::size_t most) {
    rows.erase(rows.begin() + static_cast<std::ptrdiff_t>(std::min(most, rows.size())), rows.end());
  };
  keep(s.regions, 1);
  keep(s.worst, 1);
  keep(s.criteria, 2);
  keep(s.functions, 1);
  keep(s.sites, 2);
  keep(s.site_activity, 2);
  keep(s.links, 1);
  keep(s.delays, 1);
  keep(s.deadlocks, 1);
  return s;
}

// One of every kind of frame, both directions.
std::vector<Bytes> whole_frames(std::mt19937_64& random) {
  Encoder encoder;
  std::vector<Bytes> frames;
  frames.push_back(
      copy(encoder.snapshot(random() % 8 ? small_snapshot(random()) : RandomSnapshot(random(), 6).make())));
  frames.push_back(copy(encoder.snapshot(small_snapshot(random()))));
  frames.push_back(copy(encoder.question_newest(random())));
  DagQuestion question;
  question.region = static_cast<std::int32_t>(random() % 5) - 1;
  for (std::int32_t rank = 0; rank < 40; rank += 1 + static_cast<std::int32_t>(random() % 3))
    question.ranks.push_back(rank);
  question.from_ns = static_cast<std::int64_t>(random());
  question.most_messages = 1000;
  frames.push_back(copy(encoder.question_dag(random(), question)));
  frames.push_back(copy(encoder.answer(random(), AnswerStatus::here)));
  frames.push_back(copy(encoder.answer(random(), AnswerStatus::cannot, "the period is too long")));
  frames.push_back(copy(encoder.dag(random_dag(random(), 12, 6))));
  frames.push_back(copy(encoder.question_density(random(), {0, static_cast<std::int64_t>(random() >> 1)})));
  DensityPart part{0, 1 << 22, {}};
  for (std::uint32_t slice = 0; slice < 1 + random() % 5; ++slice) {
    part.density.inside.push_back({-1, 3, slice, 1 + random() % 1000});
    part.density.calls.push_back({3, slice, static_cast<std::uint16_t>(random() % 200), 1, random() % 9});
  }
  frames.push_back(copy(encoder.density(part)));
  CallsQuestion calls;
  calls.from_ns = static_cast<std::int64_t>(random());
  calls.most = static_cast<std::uint32_t>(random());
  calls.ranks = question.ranks;
  frames.push_back(copy(encoder.question_calls(random(), calls)));
  frames.push_back(copy(encoder.calls(test::some_calls(random, random() % 6))));
  return frames;
}

struct Tally {
  std::uint64_t frames = 0, accepted = 0, refused = 0, compared = 0;
  double slowest_s = 0;
};

// What was accepted can be sent on, and arrives as it is: so no number is out of its range, and none is a NaN.
template <class Value, class Decode, class Encode>
void read(const std::span<const std::uint8_t> frame, Tally& tally, Decode decode, Encode encode) {
  const auto value = decode(frame);
  value ? tally.accepted++ : tally.refused++;
  if (!value) {
    const bool named = value.error().code == ErrorCode::damaged || value.error().code == ErrorCode::not_ours ||
                       value.error().code == ErrorCode::wrong_version;
    if (!named || value.error().message.empty() || value.error().message.size() > 300)
      FAIL("a bad error: " << value.error().message);
    return;
  }
  if (tally.accepted % 4 != 0) return;
  tally.compared++;
  Encoder encoder;
  const auto again = decode(encode(encoder, *value));
  if (!again) FAIL("accepted, but not when sent on: " << again.error().message);
  if (!(*again == *value)) FAIL("accepted, but another value when sent on");
}

// By the reader of its kind; now and then by all of them.
enum Kind { snapshot_frame, question_frame, answer_frame, dag_frame, density_frame, calls_frame };

void read_as(const std::span<const std::uint8_t> frame, Tally& tally, Kind kind, bool all) {
  if (all || kind == snapshot_frame)
    read<Snapshot>(frame, tally, decode_snapshot,
                   [](Encoder& to, const Snapshot& value) { return to.snapshot(value); });
  if (all || kind == dag_frame)
    read<Dag>(frame, tally, decode_dag, [](Encoder& to, const Dag& value) { return to.dag(value); });
  if (all || kind == density_frame)
    read<DensityPart>(frame, tally, decode_density,
                      [](Encoder& to, const DensityPart& value) { return to.density(value); });
  if (all || kind == calls_frame)
    read<CallsPart>(frame, tally, decode_calls, [](Encoder& to, const CallsPart& value) { return to.calls(value); });
  if (!all && kind != question_frame && kind != answer_frame) return;
  const auto question = decode_question(frame);
  question ? tally.accepted++ : tally.refused++;
  if (question && question->kind == QuestionKind::dag) {
    const DagQuestion& dag = question->dag;
    const bool sane = dag.region >= -1 && dag.ranks.size() <= limit::question_ranks &&
                      dag.most_messages <= limit::dag_messages && std::is_sorted(dag.ranks.begin(), dag.ranks.end()) &&
                      (dag.ranks.empty() || dag.ranks.front() >= 0);
    if (!sane) FAIL("a question that its answerer must not get");
  }
  if (question && question->kind == QuestionKind::calls) {
    const CallsQuestion& calls = question->calls;
    const bool sane = calls.most <= limit::calls && calls.ranks.size() <= limit::question_ranks &&
                      std::is_sorted(calls.ranks.begin(), calls.ranks.end()) &&
                      (calls.ranks.empty() || calls.ranks.front() >= 0);
    if (!sane) FAIL("a question that its answerer must not get");
  }
  if (const auto answer = decode_answer(frame)) {
    if (answer->text.size() > limit::text_bytes || answer->status > AnswerStatus::cannot)
      FAIL("an answer out of range");
  }
}

}  // namespace

TEST_CASE("damaged frames of every kind: an error or a whole value, no memory kept, none beyond the limits") {
  const std::uint64_t wanted = from_environment("PCLSCOPE_FUZZ_FRAMES", test::under_sanitizer ? 1'500 : 200'000);
  const std::uint64_t seed = from_environment("PCLSCOPE_FUZZ_SEED", 20261121);
  INFO("PCLSCOPE_FUZZ_SEED=" << seed);
  std::mt19937_64 random(seed);
  constexpr Kind kinds[] = {snapshot_frame, snapshot_frame, question_frame, question_frame, answer_frame, answer_frame,
                            dag_frame,      question_frame, density_frame,  question_frame, calls_frame};
  Tally tally;
  most_held = held.load();
  const std::size_t held_before = held;
  while (tally.frames < wanted) {
    const std::vector<Bytes> whole = whole_frames(random);
    FrameDamage damage(random());
    for (int i = 0; i < 1'000 && tally.frames < wanted; i++, tally.frames++) {
      const std::size_t which = random() % whole.size();
      const Bytes frame = damage.of(whole[which], whole[random() % whole.size()]);
      // At any address: what ZeroMQ hands over need not be aligned. Nothing of ours lies behind it.
      const std::size_t askew = i % 3 == 0 ? random() % 8 : 0;
      Bytes place(askew + frame.size());
      std::copy(frame.begin(), frame.end(), place.begin() + static_cast<std::ptrdiff_t>(askew));
      const auto began = std::chrono::steady_clock::now();
      read_as(std::span<const std::uint8_t>(place).subspan(askew), tally, kinds[which], i % 16 == 0);
      tally.slowest_s =
          std::max(tally.slowest_s, std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count());
    }
  }
  WARN(tally.frames << " frames, " << tally.accepted << " accepted, " << tally.refused << " refused, " << tally.compared
                    << " sent on; slowest " << tally.slowest_s * 1e3 << " ms; at most "
                    << ((most_held - held_before) >> 20) << " MiB");
  CHECK(tally.accepted > wanted / 10);  // damage reached values,
  CHECK(tally.refused > wanted / 10);   // and structure
  CHECK(tally.compared > wanted / 100);
  if (!sanitized) {
    // A value, its copy on the way back, and the frame between them; vectors may have grown to twice what they hold.
    CHECK(most_held - held_before < 6 * limit::decoded_bytes);
    CHECK(held < held_before + (1u << 20));  // what Catch keeps
  }
}
