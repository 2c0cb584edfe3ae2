#include "analysis/discovery/jobs.hpp"

#include <unistd.h>

#include <filesystem>

#include "analysis/discovery/announcement.hpp"
#include "analysis/discovery/directories.hpp"
#include "analysis/discovery/private_file.hpp"

namespace pclscope::discovery {
namespace {

// The job's file, and its sockets if they lie beside it.
void remove_traces(const std::string& directory, const Job& job) {
  ::unlink((directory + "/" + job.name + job_suffix).c_str());
  if (job.endpoint != "ipc://" + directory + "/" + job.name) return;
  ::unlink((directory + "/" + job.name + ".pub").c_str());
  ::unlink((directory + "/" + job.name + ".ask").c_str());
}

}  // namespace

Status announce(const Job& job) {
  if (!is_job_name(job.name)) {
    return Error{ErrorCode::bad_argument,
                 "job name '" + job.name + "': use up to 64 letters, digits, '-', '_' and '.'"};
  }
  const auto directory = runtime_directory();
  if (!directory) return directory.error();
  const Status written =
      write_private(*directory + "/" + job.name + job_suffix, announcement_text(job), Existing::replace);
  if (written) return {};
  return Error{written.error().code, "cannot announce the job: " + written.error().message};
}

void withdraw(const std::string& name) {
  if (!is_job_name(name)) return;
  if (const auto directory = runtime_directory()) ::unlink((*directory + "/" + name + job_suffix).c_str());
}

Result<std::vector<Job>> jobs_here() {
  const auto directory = runtime_directory();
  if (!directory) return directory.error();
  std::vector<Job> jobs;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(*directory, error)) {
    const std::string name = entry.path().filename().string();
    if (name[0] == '.' || entry.path().extension() != job_suffix || !entry.is_regular_file(error)) continue;
    auto announced = parse_announcement(read_small(entry.path().string()));
    if (!announced || announced->job.name + job_suffix != name) continue;
    announced->job.file = entry.path().string();
    const Standing now = standing(*announced);
    if (now == Standing::running) jobs.push_back(announced->job);
    if (now == Standing::gone) remove_traces(*directory, announced->job);
  }
  sort_by_start(jobs);
  return jobs;
}

}  // namespace pclscope::discovery
