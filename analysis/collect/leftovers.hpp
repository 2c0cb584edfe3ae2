// Files in /dev/shm of jobs that ended in a way that left nobody to tidy up (an aborted srun step, a node's processes
// all killed at once).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "interpose/record/segment.hpp"

namespace pclscope::collect {

// Removes this user's files of this node whose processes are all dead: those entered on a board, who made it, and its
// aggregator; files without a board by the process that wrote them. Those of other PID namespaces are left alone, as
// nobody here can tell whether they live. Returns how many files it removed. Called by `pclscope list`, `run`,
// `attach`.
std::size_t sweep_leftovers(const std::string& directory = "/dev/shm", std::uint32_t node = record::this_node_key());

}  // namespace pclscope::collect
