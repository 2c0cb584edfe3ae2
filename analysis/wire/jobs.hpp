// The user's runtime directory, and the file that announces each running job in it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analysis/values/result.hpp"

namespace pclscope::wire {

// $XDG_RUNTIME_DIR/pclscope when that is a directory of this user where nobody else can replace it, else
// /tmp/pclscope-UID. Created with mode 0700; refused (not_permitted) when it exists and belongs to somebody else or
// others can enter it.
Result<std::string> runtime_directory();

struct Job {
  std::string name;      // public, short: what `pclscope watch NAME` takes
  std::string endpoint;  // what Subscriber::connect takes
  std::string command;
  std::string mpi;
  std::string node;
  std::int32_t ranks = 0;
  std::uint32_t aggregator_pid = 0;
  std::int64_t started_realtime_ns = 0;
};

// Writes RUNTIME/NAME.job (JSON, mode 0600, atomically); remove it with withdraw(). Never contains the token.
Status announce(const Job& job);
void withdraw(const std::string& name);
// Running jobs of this user on this node, oldest first. Files whose aggregator is gone are removed on the way.
Result<std::vector<Job>> list_jobs();

}  // namespace pclscope::wire
