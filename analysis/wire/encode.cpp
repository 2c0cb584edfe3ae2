#include "analysis/wire/encode.hpp"

#include <cstring>
#include <string>

#include "analysis/density/packing.hpp"
#include "analysis/wire/calls_frame.hpp"
#include "analysis/wire/dag_frame.hpp"
#include "analysis/wire/encoding.hpp"
#include "analysis/wire/frame.hpp"
#include "analysis/wire/snapshot_frame.hpp"

namespace pclscope::wire {
namespace {

// Finishes the FlatBuffer and puts the header in front of it, in the same memory.
template <class Table>
std::span<const std::uint8_t> finish(Builder& to, fb::Body kind, Offset<Table> body) {
  to.Finish(fb::CreateFrame(to, kind, body.Union()));
  std::uint8_t header[header_bytes];
  std::memcpy(header, magic, sizeof magic);
  header[4] = version_major & 0xff;
  header[5] = version_major >> 8;
  header[6] = version_minor & 0xff;
  header[7] = version_minor >> 8;
  to.PushFlatBuffer(header, sizeof header);
  return {to.GetBufferPointer(), to.GetSize()};
}

}  // namespace

struct Encoder::State {
  Builder builder{4096};
};

Encoder::Encoder() : state_(std::make_unique<State>()) {}
Encoder::~Encoder() = default;

std::span<const std::uint8_t> Encoder::snapshot(const Snapshot& value) {
  Builder& to = state_->builder;
  to.Clear();
  return finish(to, fb::Body::Snapshot, encode(to, value));
}

std::span<const std::uint8_t> Encoder::question_newest(std::uint64_t id) {
  Builder& to = state_->builder;
  to.Clear();
  return finish(to, fb::Body::Question, fb::CreateQuestion(to, id, fb::QuestionKind::newest_snapshot));
}

std::span<const std::uint8_t> Encoder::question_dag(std::uint64_t id, const DagQuestion& question) {
  Builder& to = state_->builder;
  to.Clear();
  const auto dag = encode(to, question);
  return finish(to, fb::Body::Question, fb::CreateQuestion(to, id, fb::QuestionKind::dag, dag));
}

std::span<const std::uint8_t> Encoder::answer(std::uint64_t id, AnswerStatus status, const std::string& text) {
  Builder& to = state_->builder;
  to.Clear();
  const Offset<flatbuffers::String> line = text.empty() ? 0 : to.CreateString(text.substr(0, limit::text_bytes));
  return finish(to, fb::Body::Answer, fb::CreateAnswer(to, id, static_cast<fb::AnswerStatus>(status), line));
}

std::span<const std::uint8_t> Encoder::dag(const Dag& value) {
  Builder& to = state_->builder;
  to.Clear();
  return finish(to, fb::Body::Dag, encode(to, value));
}

std::span<const std::uint8_t> Encoder::question_traffic(std::uint64_t id) {
  Builder& to = state_->builder;
  to.Clear();
  return finish(to, fb::Body::Question, fb::CreateQuestion(to, id, fb::QuestionKind::traffic));
}

std::span<const std::uint8_t> Encoder::traffic(const std::vector<PairTraffic>& pairs) {
  Builder& to = state_->builder;
  to.Clear();
  return finish(to, fb::Body::Traffic, encode(to, pairs));
}

std::span<const std::uint8_t> Encoder::question_density(std::uint64_t id, const DensityQuestion& question) {
  Builder& to = state_->builder;
  to.Clear();
  const auto density = fb::CreateDensityQuestion(to, question.from_ns, question.to_ns);
  return finish(to, fb::Body::Question, fb::CreateQuestion(to, id, fb::QuestionKind::density, 0, density));
}

std::span<const std::uint8_t> Encoder::density(const DensityPart& part) {
  Builder& to = state_->builder;
  to.Clear();
  const auto packed = to.CreateVector(density::pack(part.density));
  return finish(to, fb::Body::Density, fb::CreateDensity(to, part.begin_ns, part.end_ns, packed));
}

std::span<const std::uint8_t> Encoder::question_calls(std::uint64_t id, const CallsQuestion& question) {
  Builder& to = state_->builder;
  to.Clear();
  const auto calls = encode(to, question);
  return finish(to, fb::Body::Question, fb::CreateQuestion(to, id, fb::QuestionKind::calls, 0, 0, calls));
}

std::span<const std::uint8_t> Encoder::calls(const CallsPart& part) {
  Builder& to = state_->builder;
  to.Clear();
  return finish(to, fb::Body::Calls, encode(to, part));
}

}  // namespace pclscope::wire
