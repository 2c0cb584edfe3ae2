// A running job reached through another program's standard input and output: `pclscope relay` at the end of ssh or
// srun.
#pragma once

#include <atomic>
#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "analysis/values/result.hpp"
#include "analysis/wire/frame_link.hpp"

namespace pclscope::reach {

struct RelayCommand {
  std::vector<std::string> arguments;  // the first is looked for in PATH
  std::string where;                   // for messages: "ssh to node7"
  std::string host;                    // what to log in to, to see what is wrong; empty: nothing
};

struct RelayedJob {
  std::unique_ptr<wire::FrameLink> link;
  std::string job, node;  // as the relay tells them
};

// Starts the program, in a session of its own so that it can ask nobody for a password, and waits for the relay's word.
// Gives up when `stop` is set. Fails with unreachable, wrong_version, not_ours, not_found (no such job): one line.
Result<RelayedJob> open_relay(const RelayCommand& command, std::chrono::milliseconds patience,
                              std::chrono::milliseconds interval, const std::atomic<bool>& stop);

}  // namespace pclscope::reach
