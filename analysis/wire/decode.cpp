#include "analysis/wire/decode.hpp"

#include <cstring>
#include <string>
#include <vector>

#include "analysis/density/packing.hpp"
#include "analysis/wire/calls_frame.hpp"
#include "analysis/wire/dag_frame.hpp"
#include "analysis/wire/decoding.hpp"
#include "analysis/wire/snapshot_frame.hpp"

namespace pclscope::wire {
namespace {

// Checks the header and the whole FlatBuffer. `aligned` keeps a copy alive when the frame lies askew in memory.
Result<const fb::Frame*> open(std::span<const std::uint8_t> frame, std::vector<std::uint64_t>& aligned) {
  if (frame.size() < header_bytes || std::memcmp(frame.data(), magic, sizeof magic) != 0) {
    return Error{ErrorCode::not_ours, "what answers there does not speak pclscope's protocol"};
  }
  const unsigned major = frame[4] | frame[5] << 8;
  if (major != version_major) {
    return Error{ErrorCode::wrong_version, "the job speaks version " + std::to_string(major) +
                                               " of the protocol, this program version " +
                                               std::to_string(version_major) + ": use the same pclscope for both"};
  }
  std::span<const std::uint8_t> body = frame.subspan(header_bytes);
  if (body.empty() || body.size() > limit::frame_bytes) return damaged("size");
  if (reinterpret_cast<std::uintptr_t>(body.data()) % alignof(std::uint64_t) != 0) {
    aligned.resize(body.size() / sizeof(std::uint64_t) + 1);
    std::memcpy(aligned.data(), body.data(), body.size());
    body = {reinterpret_cast<const std::uint8_t*>(aligned.data()), body.size()};
  }
  flatbuffers::Verifier verifier(body.data(), body.size(), limit::depth, limit::tables);
  if (!verifier.VerifyBuffer<fb::Frame>(nullptr)) return damaged("structure");
  return flatbuffers::GetRoot<fb::Frame>(body.data());
}

}  // namespace

Result<Snapshot> decode_snapshot(std::span<const std::uint8_t> frame) {
  std::vector<std::uint64_t> aligned;
  const auto opened = open(frame, aligned);
  if (!opened) return opened.error();
  const fb::Snapshot* body = (*opened)->body_as_Snapshot();
  if (!body) return damaged("not a snapshot");
  Budget budget;
  Snapshot snapshot = decode(*body, budget);
  if (budget.exceeded()) return damaged("too large or out of range");
  return snapshot;
}

Result<Question> decode_question(std::span<const std::uint8_t> frame) {
  std::vector<std::uint64_t> aligned;
  const auto opened = open(frame, aligned);
  if (!opened) return opened.error();
  const fb::Question* body = (*opened)->body_as_Question();
  if (!body) return damaged("not a question");
  Question question{body->id(), QuestionKind::unknown, {}, {}, {}};
  if (body->kind() == fb::QuestionKind::newest_snapshot) question.kind = QuestionKind::newest_snapshot;
  if (body->kind() == fb::QuestionKind::traffic) question.kind = QuestionKind::traffic;
  if (body->kind() == fb::QuestionKind::density) {
    if (!body->density()) return damaged("a question without its content");
    question.kind = QuestionKind::density;
    question.density = {body->density()->from_ns(), body->density()->to_ns()};
  }
  Budget budget;
  if (body->kind() == fb::QuestionKind::calls) {
    if (!body->calls()) return damaged("a question without its content");
    question.kind = QuestionKind::calls;
    question.calls = decode(*body->calls(), budget);
    if (budget.exceeded()) return damaged("too large or out of range");
  }
  if (body->kind() != fb::QuestionKind::dag) return question;
  if (!body->dag()) return damaged("a question without its content");
  question.kind = QuestionKind::dag;
  question.dag = decode(*body->dag(), budget);
  if (budget.exceeded()) return damaged("too large or out of range");
  return question;
}

Result<Answer> decode_answer(std::span<const std::uint8_t> frame) {
  std::vector<std::uint64_t> aligned;
  const auto opened = open(frame, aligned);
  if (!opened) return opened.error();
  const fb::Answer* body = (*opened)->body_as_Answer();
  if (!body) return damaged("not an answer");
  Answer answer{body->id(), AnswerStatus::unknown_question, {}};
  if (body->status() <= fb::AnswerStatus::cannot) answer.status = static_cast<AnswerStatus>(body->status());
  if (body->text()) answer.text = body->text()->str().substr(0, limit::text_bytes);
  return answer;
}

Result<Dag> decode_dag(std::span<const std::uint8_t> frame) {
  std::vector<std::uint64_t> aligned;
  const auto opened = open(frame, aligned);
  if (!opened) return opened.error();
  const fb::Dag* body = (*opened)->body_as_Dag();
  if (!body) return damaged("not a dependency graph");
  Budget budget;
  Dag dag = decode(*body, budget);
  if (budget.exceeded()) return damaged("too large or out of range");
  return dag;
}

Result<std::vector<PairTraffic>> decode_traffic(std::span<const std::uint8_t> frame) {
  std::vector<std::uint64_t> aligned;
  const auto opened = open(frame, aligned);
  if (!opened) return opened.error();
  const fb::Traffic* body = (*opened)->body_as_Traffic();
  if (!body) return damaged("not traffic");
  Budget budget;
  std::vector<PairTraffic> pairs = decode(*body, budget);
  if (budget.exceeded()) return damaged("too large or out of range");
  return pairs;
}

Result<DensityPart> decode_density(std::span<const std::uint8_t> frame) {
  std::vector<std::uint64_t> aligned;
  const auto opened = open(frame, aligned);
  if (!opened) return opened.error();
  const fb::Density* body = (*opened)->body_as_Density();
  if (!body) return damaged("not a density of calls");
  DensityPart part{body->begin_ns(), body->end_ns(), {}};
  if (part.begin_ns < 0 || part.begin_ns >= part.end_ns) return damaged("a period that ends before it begins");
  if (!body->packed()) return part;
  const std::span<const std::uint8_t> packed(body->packed()->data(), body->packed()->size());
  if (packed.size() > limit::density_bytes) return damaged("too large or out of range");
  auto density = density::unpack(packed);
  if (!density) return damaged("a density of calls that is not whole");
  if (!density->empty()) part.density = std::move(*density);
  return part;
}

Result<CallsPart> decode_calls(std::span<const std::uint8_t> frame) {
  std::vector<std::uint64_t> aligned;
  const auto opened = open(frame, aligned);
  if (!opened) return opened.error();
  const fb::Calls* body = (*opened)->body_as_Calls();
  if (!body) return damaged("not calls");
  Budget budget;
  CallsPart part = decode(*body, budget);
  if (budget.exceeded()) return damaged("too large or out of range");
  return part;
}

}  // namespace pclscope::wire
