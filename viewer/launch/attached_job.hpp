// A job that was only preloaded, and the aggregator beside it, seen from outside through the node's board.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>

#include "analysis/collect/dormant.hpp"
#include "analysis/values/result.hpp"

namespace pclscope::launch {

class AttachedJob {
 public:
  // `name` empty: the only one there is. Fails with not_found, bad_argument (several).
  static Result<AttachedJob> open(const std::string& name);

  const collect::DormantJob& job() const { return job_; }
  collect::SessionProgress progress() const { return collect::progress(*board_); }
  // Its aggregator on this node, when that lives and is one of ours; else 0.
  std::uint32_t aggregator() const;
  // What the aggregator was told to store in; empty: nothing.
  std::string dump_of_aggregator() const;
  // The aggregator closed everything in order; not so when it died.
  bool session_closed() const { return progress().closed; }

  // Calls `idle` now and then until `over` or `limit` is reached; false: the limit.
  bool wait(std::chrono::milliseconds limit, const std::function<bool()>& over,
            const std::function<void()>& idle = {}) const;

 private:
  AttachedJob(collect::DormantJob job, std::unique_ptr<collect::BoardFile> board)
      : job_(std::move(job)), board_(std::move(board)) {}
  collect::DormantJob job_;
  std::unique_ptr<collect::BoardFile> board_;
};

}  // namespace pclscope::launch
