// What the word after `pclscope watch` means: a job's name or Slurm's id of it, an endpoint, or a file.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "analysis/discovery/jobs.hpp"
#include "analysis/values/result.hpp"
#include "viewer/session/session.hpp"

namespace pclscope::session {

struct Target {
  std::string file;  // a dump; empty for a running job
  LiveSource live;
  std::string note;  // one line for the user, e.g. which of several jobs was taken
};

// `word` empty: the only running job, else the newest with a note. `jobs` as all_jobs() gives them; of those without a
// sign of life for long none is taken that is not named. Fails with not_found.
Result<Target> choose_target(const std::string& word, const std::vector<discovery::Job>& jobs);
// Those that an empty word chooses among.
std::vector<discovery::Job> running_jobs(std::vector<discovery::Job> jobs);
Target target_of(const discovery::Job& job);
// Among all jobs of this user, on all nodes. May wait for a home on the network.
Result<Target> find_target(const std::string& word);
// The job that `lost` was, or, when it is gone, the one that goes on in its place: of the same name, or a later one
// with the same id of Slurm's. Fails with not_found.
Result<Target> find_again(const Target& lost);
// The choice among `jobs`, as find_again() makes it.
Result<Target> choose_again(const Target& lost, const std::vector<discovery::Job>& jobs);
// The same as seen from another host, which is asked when the target is opened.
Target target_via(const std::string& host, const std::string& word);

// Whether the word means a file that exists.
bool is_existing_file(const std::string& word);
// A dump or a running job. A file goes first: a job's name is one of those that `pclscope list` shows.
Result<std::unique_ptr<Session>> open_run(const std::string& word);
Result<std::unique_ptr<Session>> open_target(const Target& target);
// Opens the target again and again: after a loss what goes on in its place. May be called from several threads.
std::function<Result<std::unique_ptr<Session>>()> reopener(const Target& target);

}  // namespace pclscope::session
