// Jobs that were only preloaded, on this node and on others: which there are, and which one a word means.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "analysis/collect/dormant.hpp"
#include "viewer/commands/dormant_answer.hpp"
#include "viewer/reach/ask.hpp"

namespace pclscope::commands {

struct DormantThere {
  std::string name, node, command, mpi, batch_job, cluster;
  std::int32_t ranks = 0, nodes = 0;
  std::int64_t started_realtime_ns = 0;
  DormantState state = DormantState::unknown;
  std::string why_unknown;  // one line
  bool in_time = true;      // false: its node was not asked, or has not answered yet
};

struct DormantElsewhere {
  std::vector<DormantThere> jobs;  // oldest first
  std::string problem;             // one line for all nodes of which nothing is known; empty: there is none
};
// Which jobs are meant. Fields that are empty leave out nothing.
struct Sought {
  std::string word;  // name, NAME@NODE, Slurm's id: only nodes from which such jobs announced themselves
  std::optional<DormantState> state;  // once there is one so, other nodes have a moment to answer
};
// Asks the nodes from which jobs announced themselves, those of the newest first; removes announcements of which a node
// knows nothing any more, and those of this node whose job is not among `here`.
DormantElsewhere dormant_elsewhere(const std::vector<collect::DormantJob>& here, const Sought& sought = {},
                                   const reach::Patience& patience = {});

// A word that names a dormant job of this node otherwise than by its name: NAME@NODE, Slurm's id. Else the word itself.
std::string dormant_name_here(const std::string& word);

// `pclscope COMMAND WORDS` on the node of the job that `word` means, when that is another node; what it says there is
// said here. Fails when no job elsewhere is meant, or several are.
int done_elsewhere(const std::string& command, const std::string& word, std::vector<std::string> words,
                   const reach::Patience& patience = {});

}  // namespace pclscope::commands
