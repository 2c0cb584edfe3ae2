// The command lines that start pclscope on another node.
#pragma once

#include <string>
#include <vector>

#include "analysis/discovery/jobs.hpp"
#include "viewer/reach/relay_link.hpp"

namespace pclscope::reach {

// `ssh HOST pclscope WORDS`; $PCLSCOPE_SSH names another program, with options if need be. `program`: where pclscope is
// likely to be there; else it is looked for in PATH. `before`: what a shell there does first, ending with a semicolon.
// `connect_s`: how long a node that does not answer is tried.
RelayCommand by_ssh(const std::string& host, const std::string& program, const std::vector<std::string>& words,
                    const std::string& before = "", int connect_s = 5);
// Beside the steps of a running Slurm job, on its node.
RelayCommand by_srun(const discovery::Job& job, const std::vector<std::string>& words);
// What starts the relay there that looks at this job: its name, and where it listens.
std::vector<std::string> relay_words(const discovery::Job& job);

// Whether a word can stand for a host in a command line: it may come from a file.
bool is_host(const std::string& word);

}  // namespace pclscope::reach
