// What the word after `pclscope watch` means: a job's name, an endpoint, or a file.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "analysis/values/result.hpp"
#include "analysis/wire/jobs.hpp"
#include "viewer/session/session.hpp"

namespace pclscope::session {

struct Target {
  std::string file;  // a dump; empty for a running job
  LiveSource live;
  std::string note;  // one line for the user, e.g. which of several jobs was taken
};

// `word` empty: the only running job, else the newest with a note. `jobs` as list_jobs() gives them; `runtime` is
// the runtime directory. Fails with not_found.
Result<Target> choose_target(const std::string& word, const std::vector<wire::Job>& jobs, const std::string& runtime);

// Whether the word means a file that exists.
bool is_existing_file(const std::string& word);
// A dump or a running job. A file goes first: a job's name is one of those that `pclscope list` shows.
Result<std::unique_ptr<Session>> open_run(const std::string& word);

}  // namespace pclscope::session
