// Frames to values. A frame comes from outside: nothing in it is believed before it is checked. Never crashes,
// never takes more memory than frame.hpp's limits; numbers that are not finite become 0.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "analysis/values/calls_part.hpp"
#include "analysis/values/dag.hpp"
#include "analysis/values/density_part.hpp"
#include "analysis/values/result.hpp"
#include "analysis/values/snapshot.hpp"
#include "analysis/wire/encode.hpp"

namespace pclscope::wire {

enum class QuestionKind { unknown, newest_snapshot, dag, traffic, density, calls };
struct Question {
  std::uint64_t id = 0;
  QuestionKind kind = QuestionKind::unknown;
  DagQuestion dag;          // of kind dag; ranks ascending, most_messages within limit::dag_messages
  DensityQuestion density;  // of kind density
  CallsQuestion calls;      // of kind calls; ranks ascending, most within limit::calls
};

struct Answer {
  std::uint64_t id = 0;
  AnswerStatus status = AnswerStatus::unknown_question;
  std::string text;  // of status cannot
};

// All fail with not_ours (no header), wrong_version, damaged.
Result<Snapshot> decode_snapshot(std::span<const std::uint8_t> frame);
Result<Question> decode_question(std::span<const std::uint8_t> frame);
Result<Answer> decode_answer(std::span<const std::uint8_t> frame);
// Edges lead from lower to higher nodes that exist; DagMessage::other_node is a node, or -1.
Result<Dag> decode_dag(std::span<const std::uint8_t> frame);
// Ranks are not negative.
Result<std::vector<PairTraffic>> decode_traffic(std::span<const std::uint8_t> frame);
// 0 <= begin_ns < end_ns.
Result<DensityPart> decode_density(std::span<const std::uint8_t> frame);
// 0 <= from_ns <= until_ns <= now_ns; no call ends before it begins, ranks are not negative, `untold` ascending.
Result<CallsPart> decode_calls(std::span<const std::uint8_t> frame);

}  // namespace pclscope::wire
