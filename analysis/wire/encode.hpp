// Values to frames (header and FlatBuffer, frame.hpp).
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "analysis/values/calls_part.hpp"
#include "analysis/values/dag.hpp"
#include "analysis/values/density_part.hpp"
#include "analysis/values/snapshot.hpp"

namespace pclscope::wire {

enum class AnswerStatus : std::uint8_t { here = 0, nothing_yet = 1, unknown_question = 2, cannot = 3 };

// Keeps its memory between frames. A returned span is valid until the next call.
class Encoder {
 public:
  Encoder();
  ~Encoder();
  std::span<const std::uint8_t> snapshot(const Snapshot& value);
  std::span<const std::uint8_t> question_newest(std::uint64_t id);
  std::span<const std::uint8_t> question_dag(std::uint64_t id, const DagQuestion& question);
  // `text`: one line that says why, of status cannot.
  std::span<const std::uint8_t> answer(std::uint64_t id, AnswerStatus status, const std::string& text = {});
  std::span<const std::uint8_t> dag(const Dag& value);
  std::span<const std::uint8_t> question_traffic(std::uint64_t id);
  std::span<const std::uint8_t> traffic(const std::vector<PairTraffic>& pairs);
  std::span<const std::uint8_t> question_density(std::uint64_t id, const DensityQuestion& question);
  std::span<const std::uint8_t> density(const DensityPart& part);
  std::span<const std::uint8_t> question_calls(std::uint64_t id, const CallsQuestion& question);
  std::span<const std::uint8_t> calls(const CallsPart& part);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace pclscope::wire
