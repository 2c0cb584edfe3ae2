// The network between nodes, as Slurm knows it: `scontrol show topology`, asked once in the background inside a Slurm
// job (SLURM_JOB_ID is set). It has 5 s and 1 MiB; what takes longer is ended, and the network is not known.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <future>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace pclscope::machine {

// A program that is running. Any thread may end it, and its children, as long as it is not reaped.
class Child {
 public:
  void begin(pid_t pid);
  void kill();
  // True once it has ended, which is the last word of it; `status` as from waitpid. Not waiting.
  bool reap(int& status);

 private:
  std::mutex mutex_;
  pid_t pid_ = 0;  // 0: none
  bool over_ = false;
};

class SlurmQuery {
 public:
  static constexpr std::chrono::milliseconds last_patience{300};  // when the job is over before the answer is there

  SlurmQuery();
  ~SlurmQuery();  // ends what still runs
  SlurmQuery(const SlurmQuery&) = delete;
  SlurmQuery& operator=(const SlurmQuery&) = delete;
  // What it printed, once it is there, waiting so long at most; empty: not yet, no Slurm, or no answer. One thread.
  const std::string& text(std::chrono::milliseconds patience = std::chrono::milliseconds(0));

 private:
  std::shared_ptr<Child> child_;  // the thread's as well
  std::future<std::string> coming_;
  std::string text_;
};

// Runs a program of the PATH and returns what it prints; empty when it fails, or takes longer or prints more than this.
std::string printed_by(Child& child, const std::vector<std::string>& command, std::chrono::milliseconds limit,
                       std::size_t most);

}  // namespace pclscope::machine
