// Jobs that were only preloaded, on this node and on others: which there are, and which one a word means.
#pragma once

#include <string>
#include <vector>

#include "analysis/collect/dormant.hpp"
#include "analysis/values/result.hpp"

namespace pclscope::commands {

enum class DormantState {
  dormant,
  attached,
  unknown  // its node could not be asked
};

struct DormantThere {
  std::string name, node, command, mpi, batch_job, cluster;
  std::int32_t ranks = 0, nodes = 0;
  std::int64_t started_realtime_ns = 0;
  DormantState state = DormantState::unknown;
};

struct DormantElsewhere {
  std::vector<DormantThere> jobs;     // oldest first
  std::vector<std::string> problems;  // one line for each node that did not answer
};
// Asks the nodes from which jobs announced themselves; removes announcements of which a node knows nothing any more,
// and those of this node whose job is not among `here`.
DormantElsewhere dormant_elsewhere(const std::vector<collect::DormantJob>& here);

// A word that names a dormant job of this node otherwise than by its name: NAME@NODE, Slurm's id. Else the word itself.
std::string dormant_name_here(const std::string& word);

// `pclscope COMMAND WORDS` on the node of the job that `word` means, when that is another node; what it says there is
// said here. Fails when no job elsewhere is meant, or several are.
int done_elsewhere(const std::string& command, const std::string& word, std::vector<std::string> words);

}  // namespace pclscope::commands
