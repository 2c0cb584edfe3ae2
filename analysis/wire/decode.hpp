// Frames to values. A frame comes from outside: nothing in it is believed before it is checked. Never crashes,
// never takes more memory than frame.hpp's limits; numbers that are not finite become 0.
#pragma once

#include <cstdint>
#include <span>

#include "analysis/result.hpp"
#include "analysis/snapshot.hpp"
#include "analysis/wire/encode.hpp"

namespace pclscope::wire {

struct Question {
  std::uint64_t id = 0;
  bool known = false;  // of a kind that this program can answer
};

struct Answer {
  std::uint64_t id = 0;
  AnswerStatus status = AnswerStatus::unknown_question;
};

// All fail with not_ours (no header), wrong_version, damaged.
Result<Snapshot> decode_snapshot(std::span<const std::uint8_t> frame);
Result<Question> decode_question(std::span<const std::uint8_t> frame);
Result<Answer> decode_answer(std::span<const std::uint8_t> frame);

}  // namespace pclscope::wire
