#include "viewer/session/target.hpp"

#include <algorithm>
#include <filesystem>

namespace pclscope::session {
namespace {

LiveSource live_of(const wire::Job& job, const std::string& runtime) {
  return {job.name, job.endpoint, job.aggregator_pid, runtime + "/" + job.name + ".job"};
}

}  // namespace

Result<Target> choose_target(const std::string& word, const std::vector<wire::Job>& jobs, const std::string& runtime) {
  Target target;
  if (word.empty()) {
    if (jobs.empty()) {
      return Error{ErrorCode::not_found, "no running job of yours on this node; pclscope run -n 4 -- ./app starts one"};
    }
    const auto newest = std::max_element(jobs.begin(), jobs.end(), [](const wire::Job& a, const wire::Job& b) {
      return a.started_realtime_ns < b.started_realtime_ns;
    });
    target.live = live_of(*newest, runtime);
    if (jobs.size() > 1) {
      target.note = std::to_string(jobs.size()) + " jobs are running; this is the newest, " + newest->name +
                    " (pclscope list shows all)";
    }
    return target;
  }
  for (const wire::Job& job : jobs) {
    if (job.name != word && job.endpoint != word) continue;
    target.live = live_of(job, runtime);
    return target;
  }
  if (word.find("://") != std::string::npos) {
    target.live = {word, word, 0, ""};
    return target;
  }
  std::error_code failed;
  if (std::filesystem::exists(word, failed)) {
    target.file = word;
    return target;
  }
  return Error{ErrorCode::not_found, "'" + word +
                                         "' is neither a running job of yours on this node nor a file; "
                                         "pclscope list shows the jobs"};
}

bool is_existing_file(const std::string& word) {
  std::error_code failed;
  return word.find("://") == std::string::npos && std::filesystem::exists(word, failed);
}

Result<std::unique_ptr<Session>> open_run(const std::string& word) {
  if (is_existing_file(word)) return open_stored(word);
  const auto runtime = wire::runtime_directory();
  const auto jobs = wire::list_jobs();
  const auto target = choose_target(word, jobs ? *jobs : std::vector<wire::Job>(), runtime ? *runtime : std::string());
  if (!target) return target.error();
  return target->file.empty() ? open_live(target->live) : open_stored(target->file);
}

}  // namespace pclscope::session
