// The newest single calls of a running job, put together from what it answers. One thread.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "analysis/values/calls_part.hpp"
#include "analysis/values/result.hpp"
#include "viewer/session/timeline_run.hpp"

namespace pclscope::session {

class LiveTimeline {
 public:
  static constexpr std::int64_t shown_ns = 10'000'000'000;
  static constexpr std::int64_t late_ns = 500'000'000;  // asked for once more: some rank's calls may come late
  static constexpr std::size_t most_calls = 400'000;

  // Asks for what is new. Fails as `ask` does.
  using Ask = std::function<Result<CallsPart>(const CallsQuestion&)>;
  Status refresh(const Ask& ask);
  void put(const CallsPart& part);

  bool empty() const { return until_ns_ == 0; }
  std::int64_t from_ns() const { return from_ns_; }
  std::int64_t until_ns() const { return until_ns_; }           // what returned before is there
  const std::vector<MpiCall>& calls() const { return calls_; }  // by the answers they came with
  const CallsPart& newest() const { return newest_; }           // without its calls
  // Of those that returned since from_ns(), or a little before; some more if too_many().
  std::uint64_t left_out() const;
  bool too_many() const { return gap_until_ns_ > from_ns_; }  // of some moments there were more than one answer takes
  // "calls of the newest 5.0 s", and what is missing.
  std::string words() const;
  std::shared_ptr<const TimelineRun> run(std::int32_t ranks) const;

 private:
  void forget_old();

  std::vector<MpiCall> calls_;
  CallsPart newest_;
  std::int64_t from_ns_ = 0, until_ns_ = 0, gap_until_ns_ = 0;
  struct LeftOut {
    std::int64_t until_ns = 0;
    std::uint64_t calls = 0;
  };
  std::deque<LeftOut> left_out_;  // as answers told, those in sight and one before
};

}  // namespace pclscope::session
