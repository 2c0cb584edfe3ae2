// What a node says of its dormant jobs (`pclscope list --here --json`), and what follows for one that was announced
// from a node of that name.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "analysis/discovery/jobs.hpp"

namespace pclscope::commands {

enum class DormantState {
  dormant,
  attached,
  unknown  // its node could not be asked
};

struct DormantAnswer {
  struct Job {
    std::string name;
    DormantState state;
  };
  std::vector<Job> jobs;
  std::string boot;     // discovery::boot_id() there; empty: of a version that does not say it
  std::string cluster;  // as Slurm calls it; empty: not known there
};
// Nothing: it is no such answer.
std::optional<DormantAnswer> parse_dormant_answer(const std::string& output);

enum class Verdict {
  dormant,
  attached,
  gone,        // its node says that there is none, or was started anew since: the announcement may be removed
  other_node,  // of that name, in another cluster, or before it was started anew: nothing is known of the job
};
Verdict judge(const discovery::Dormant& announced, const DormantAnswer& answer);

// The cluster of this node, as Slurm's environment says it, else a dormant job that was announced from here; else
// empty.
std::string cluster_here(const std::vector<discovery::Dormant>& announced);

}  // namespace pclscope::commands
