// Announcements in the directory that the user's nodes share. Times of files are the file server's: to know its clock,
// a file is made there.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <filesystem>

#include "analysis/discovery/announcement.hpp"
#include "analysis/discovery/directories.hpp"
#include "analysis/discovery/jobs.hpp"
#include "analysis/discovery/private_file.hpp"
#include "interpose/record/shared_folder.hpp"

namespace pclscope::discovery {
namespace {

constexpr double draft_s = 600;  // a file whose writer died in the middle
constexpr double forget_dormant_s = 30 * 86400.0;

double seconds(const timespec& time) {
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

// SHARED/jobs. Inside a private directory, so its own mode does not matter.
Result<std::string> jobs_directory() {
  const auto shared = shared_directory();
  if (!shared) return shared.error();
  const std::string path = *shared + "/jobs";
  if (::mkdir(path.c_str(), 0700) == 0 || errno == EEXIST) return path;
  return Error{errno == ENOSPC || errno == EDQUOT ? ErrorCode::no_space : ErrorCode::io,
               "cannot create " + path + ": " + std::strerror(errno)};
}

std::string path_of(const std::string& directory, const std::string& job) {
  return directory + "/" + shared_file_name(job);
}

// What the file server's clock says. Where nothing can be written: this node's, which is as good as clocks agree.
double server_now(const std::string& directory) {
  const std::string path = directory + "/.now." + std::to_string(::getpid()) + "." + shared_file_name("");
  struct stat made {};
  const int fd = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600);
  const bool known = fd >= 0 && ::futimens(fd, nullptr) == 0 && ::fstat(fd, &made) == 0;
  if (fd >= 0) ::close(fd);
  if (fd >= 0) ::unlink(path.c_str());
  if (known) return seconds(made.st_mtim);
  timespec now{};
  ::clock_gettime(CLOCK_REALTIME, &now);
  return seconds(now);
}

bool ends_with(const std::string& text, const std::string& end) {
  return text.size() >= end.size() && text.compare(text.size() - end.size(), end.size(), end) == 0;
}

// All that is fresh; what is old is removed.
std::vector<Job> jobs_of(const std::string& directory) {
  std::vector<Job> jobs;
  const double now = server_now(directory);
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(directory, error)) {
    const std::string path = entry.path().string(), name = entry.path().filename().string();
    struct stat found {};
    if (::lstat(path.c_str(), &found) != 0 || !S_ISREG(found.st_mode) || found.st_uid != ::geteuid()) continue;
    const double age = std::max(0.0, now - seconds(found.st_mtim));
    const bool dormant = ends_with(name, record::dormant_suffix);
    if (age > (name[0] == '.' ? draft_s : dormant ? forget_dormant_s : forget_s)) {
      ::unlink(path.c_str());
      continue;
    }
    if (name[0] == '.' || !ends_with(name, job_suffix)) continue;
    auto announced = parse_announcement(read_small(path));
    // A copy of another's file has the wrong name.
    if (!announced || shared_file_name(*announced) != name) continue;
    Job& job = announced->job;
    job.here = is_here(announced->host, announced->boot);
    job.file = path;
    job.silent_s = age;
    if (job.here && standing(*announced) == Standing::gone) {
      ::unlink(path.c_str());
      continue;
    }
    jobs.push_back(std::move(job));
  }
  return jobs;
}

}  // namespace

Status share(const Job& job) {
  const auto directory = jobs_directory();
  if (!directory) return directory.error();
  return write_private(path_of(*directory, job.name), announcement_text(job), Existing::replace);
}

bool beat(const std::string& name) {
  const auto directory = jobs_directory();
  // Without times given, a network file system takes the server's.
  return directory && ::utimensat(AT_FDCWD, path_of(*directory, name).c_str(), nullptr, AT_SYMLINK_NOFOLLOW) == 0;
}

void withdraw_shared(const std::string& name) {
  if (!is_job_name(name)) return;
  if (const auto directory = jobs_directory()) ::unlink(path_of(*directory, name).c_str());
}

double silence_of(const std::string& file) {
  struct stat found {};
  if (::lstat(file.c_str(), &found) != 0) return errno == ENOENT ? -1 : 0;
  return std::max(0.0, server_now(file.substr(0, file.rfind('/'))) - seconds(found.st_mtim));
}

std::vector<Dormant> announced_dormant() {
  std::vector<Dormant> jobs;
  const auto directory = jobs_directory();
  if (!directory) return jobs;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(*directory, error)) {
    const std::string path = entry.path().string(), name = entry.path().filename().string();
    struct stat found {};
    if (name[0] == '.' || !ends_with(name, record::dormant_suffix) || ::lstat(path.c_str(), &found) != 0 ||
        !S_ISREG(found.st_mode) || found.st_uid != ::geteuid())
      continue;
    auto announced = parse_dormant(read_small(path));
    if (!announced || dormant_file_name(*announced) != name) continue;
    announced->job.here = is_here(announced->host, announced->boot);
    announced->job.file = path;
    jobs.push_back(std::move(announced->job));
  }
  std::sort(jobs.begin(), jobs.end(), [](const auto& a, const auto& b) { return a.file < b.file; });
  return jobs;
}

void forget(const Dormant& job) { ::unlink(job.file.c_str()); }

Listing all_jobs() {
  Listing all;
  auto here = jobs_here();
  if (here) all.jobs = std::move(*here);
  else all.problem_here = here.error().message;
  const auto directory = jobs_directory();
  if (!directory) {
    // Nothing is meant to be shared: no problem.
    if (directory.error().code != ErrorCode::not_found) all.problem_elsewhere = directory.error().message;
    return all;
  }
  const std::size_t local = all.jobs.size();
  for (Job& shared : jobs_of(*directory)) {
    const auto known = [&](const Job& job) {
      return shared.here && job.name == shared.name && job.aggregator_pid == shared.aggregator_pid;
    };
    const auto end = all.jobs.begin() + static_cast<std::ptrdiff_t>(local);
    if (std::find_if(all.jobs.begin(), end, known) == end) all.jobs.push_back(std::move(shared));
  }
  sort_by_start(all.jobs);
  return all;
}

}  // namespace pclscope::discovery
