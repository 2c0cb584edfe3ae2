#include "viewer/launch/attached_job.hpp"

#include <algorithm>
#include <fstream>
#include <thread>

#include "viewer/launch/job_files.hpp"

namespace pclscope::launch {

Result<AttachedJob> AttachedJob::open(const std::string& name) {
  std::vector<collect::DormantJob> jobs = collect::dormant_jobs();
  if (name.empty() && jobs.size() > 1) {
    return Error{ErrorCode::bad_argument,
                 std::to_string(jobs.size()) +
                     " jobs of yours on this node were only preloaded: name one, pclscope list shows them"};
  }
  const auto found =
      std::find_if(jobs.begin(), jobs.end(), [&](const auto& job) { return name.empty() || job.name == name; });
  if (found == jobs.end()) {
    return Error{
        ErrorCode::not_found,
        name.empty()
            ? "no job of yours on this node was only preloaded: pclscope list shows what runs"
            : "'" + name + "' is no job of yours on this node that was only preloaded: pclscope list shows what runs"};
  }
  auto board = collect::BoardFile::open_existing(found->token);
  if (!board) return Error{ErrorCode::not_found, "job " + found->name + " has just ended"};
  return AttachedJob(std::move(*found), std::move(*board));
}

std::uint32_t AttachedJob::aggregator() const {
  const std::uint32_t pid = progress().aggregator;
  return pid != 0 && is_aggregator(pid) ? pid : 0;
}

std::string AttachedJob::dump_of_aggregator() const {
  std::ifstream file("/proc/" + std::to_string(aggregator()) + "/cmdline", std::ios::binary);
  for (std::string word; std::getline(file, word, '\0');) {
    if (word == "--dump" && std::getline(file, word, '\0')) return word;
  }
  return "";
}

bool AttachedJob::wait(std::chrono::milliseconds limit, const std::function<bool()>& over,
                       const std::function<void()>& idle) const {
  const auto deadline = std::chrono::steady_clock::now() + limit;
  while (!over()) {
    if (std::chrono::steady_clock::now() >= deadline) return false;
    if (idle) idle();
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return true;
}

}  // namespace pclscope::launch
