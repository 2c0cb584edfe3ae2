// What `pclscope run` owns in /dev/shm: the job's secret and its board (interpose/record/board.hpp), seen from outside.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include "analysis/values/result.hpp"
#include "interpose/record/board.hpp"

namespace pclscope::launch {

// 32 hexadecimal digits from the system's random source.
Result<std::string> make_token();

// How the aggregator ended, as far as the board tells.
enum class AggregatorEnd { never_ran, closed, died, still_running };

// Pids are used again: signal only what is an aggregator of ours.
bool is_aggregator(std::uint32_t pid);

class JobFiles {
 public:
  // Creates the board; fails with no_space when /dev/shm has no room even for that, io.
  static Result<JobFiles> create(const std::string& token);
  JobFiles(JobFiles&& other) noexcept;
  JobFiles& operator=(JobFiles&&) = delete;
  ~JobFiles();  // remove_all()

  // Waits until the aggregator has closed everything or its process is gone, at most `limit`.
  AggregatorEnd wait_for_aggregator(std::chrono::milliseconds limit) const;
  // There was nothing to record, and a line on the job's stderr has said why.
  bool nothing_to_record() const;
  // Ends an aggregator that is still there: asks it, then kills it.
  void end_aggregator() const;
  // Removes every file of this job in /dev/shm. Mapped files stay usable for those who have them.
  void remove_all();

 private:
  JobFiles(std::string token, record::Board* board) : token_(std::move(token)), board_(board) {}
  std::string token_;
  record::Board* board_;
};

}  // namespace pclscope::launch
