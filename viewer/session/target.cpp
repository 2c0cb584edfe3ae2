#include "viewer/session/target.hpp"

#include <algorithm>
#include <filesystem>

namespace pclscope::session {
namespace {

LiveSource live_of(const discovery::Job& job) {
  LiveSource live;
  live.name = job.name;
  live.endpoint = job.endpoint;
  live.job = job;
  return live;
}

bool fresh(const discovery::Job& job) { return job.here || job.silent_s <= discovery::silent_s; }

bool older(const discovery::Job& a, const discovery::Job& b) { return a.started_realtime_ns < b.started_realtime_ns; }

std::string seconds_text(double seconds) { return std::to_string(static_cast<long>(seconds)) + " s"; }

bool means(const std::string& word, const discovery::Job& job) {
  return word == job.name || word == job.endpoint || word == job.name + "@" + job.node ||
         (!job.batch_job.empty() && word == job.batch_job);
}

}  // namespace

std::string Target::again() const {
  if (!live.via.empty()) return live.name;
  return live.job && !live.job->batch_job.empty() ? live.job->batch_job : live.name;
}

Result<Target> choose_target(const std::string& word, const std::vector<discovery::Job>& jobs) {
  Target target;
  std::vector<discovery::Job> meant;
  for (const discovery::Job& job : jobs)
    if (word.empty() ? fresh(job) : means(word, job)) meant.push_back(job);
  if (!meant.empty()) {
    // One that has been silent may have been followed by another of the same name or id.
    const auto lively = std::stable_partition(meant.begin(), meant.end(), fresh);
    const auto newest = std::max_element(meant.begin(), lively == meant.begin() ? meant.end() : lively, older);
    target.live = live_of(*newest);
    if (!fresh(*newest)) {
      target.note = "no sign of life from " + newest->name + " on " + newest->node + " for " +
                    seconds_text(newest->silent_s) + ": it may be gone";
    } else if (word.empty() && meant.size() > 1) {
      target.note = std::to_string(meant.size()) + " jobs are running; this is the newest, " + newest->name +
                    " (pclscope list shows all)";
    }
    return target;
  }
  if (word.empty()) {
    return Error{ErrorCode::not_found,
                 "no running job of yours on any node that shares this home; pclscope run -n 4 -- "
                 "./app starts one, --wait waits for one"};
  }
  if (word.find("://") != std::string::npos) {
    target.live.name = target.live.endpoint = word;
    return target;
  }
  std::error_code failed;
  if (std::filesystem::exists(word, failed)) {
    target.file = word;
    return target;
  }
  return Error{ErrorCode::not_found,
               "'" + word + "' is neither a running job of yours nor a file; pclscope list shows the jobs"};
}

Result<Target> find_target(const std::string& word) {
  const discovery::Listing all = discovery::all_jobs();
  auto target = choose_target(word, all.jobs);
  if (target) return target;
  // Endpoints and files can do without directories of ours; jobs cannot.
  if (!all.problem_here.empty()) return Error{target.error().code, all.problem_here};
  if (all.problem_elsewhere.empty()) return target;
  return Error{target.error().code,
               target.error().message + " (jobs on other nodes cannot be seen: " + all.problem_elsewhere + ")"};
}

Target target_via(const std::string& host, const std::string& word) {
  Target target;
  target.live.via = host;
  target.live.name = word;
  return target;
}

bool is_existing_file(const std::string& word) {
  std::error_code failed;
  return word.find("://") == std::string::npos && std::filesystem::exists(word, failed);
}

Result<std::unique_ptr<Session>> open_target(const Target& target) {
  return target.file.empty() ? open_live(target.live) : open_stored(target.file);
}

Result<std::unique_ptr<Session>> open_run(const std::string& word) {
  if (is_existing_file(word)) return open_stored(word);
  const auto target = find_target(word);
  if (!target) return target.error();
  return open_target(*target);
}

}  // namespace pclscope::session
