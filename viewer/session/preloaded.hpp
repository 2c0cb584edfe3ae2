// Jobs that were only preloaded, for those who look for one that is recorded: seen from the node's boards and from the
// announcements of others, without asking any node.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace pclscope::session {

struct Preloaded {
  std::string name, node, batch_job;
  std::int64_t started_realtime_ns = 0;
  bool here = false;
  bool attached = false;  // of those here: somebody records it
};
// May wait for a home on the network.
std::vector<Preloaded> preloaded_jobs();

// What can be done with the one among `jobs` that `word` means (name, NAME@NODE, Slurm's id; empty: any, the newest),
// in a part of a sentence; empty: it means none.
std::string about_preloaded(const std::string& word, const std::vector<Preloaded>& jobs);

}  // namespace pclscope::session
