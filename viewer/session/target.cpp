#include "viewer/session/target.hpp"

#include <algorithm>
#include <filesystem>
#include <mutex>

#include "viewer/session/preloaded.hpp"

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
  return word == job.name || (job.here && word == job.endpoint) || word == job.name + "@" + job.node ||
         (!job.batch_job.empty() && word == job.batch_job) ||
         std::find(job.tcp.begin(), job.tcp.end(), word) != job.tcp.end();
}

}  // namespace

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

std::vector<discovery::Job> running_jobs(std::vector<discovery::Job> jobs) {
  std::erase_if(jobs, [](const discovery::Job& job) { return !fresh(job); });
  return jobs;
}

Target target_of(const discovery::Job& job) {
  Target target;
  target.live = live_of(job);
  return target;
}

Result<Target> find_target(const std::string& word) {
  const discovery::Listing all = discovery::all_jobs();
  auto target = choose_target(word, all.jobs);
  if (target) return target;
  // Endpoints and files can do without directories of ours; jobs cannot.
  if (!all.problem_here.empty()) return Error{target.error().code, all.problem_here};
  if (const std::string about = about_preloaded(word, preloaded_jobs()); !about.empty())
    return Error{target.error().code, (word.empty() ? "no running job of yours is recorded; " : "") + about};
  if (all.problem_elsewhere.empty()) return target;
  return Error{target.error().code,
               target.error().message + " (jobs on other nodes cannot be seen: " + all.problem_elsewhere + ")"};
}

Result<Target> choose_again(const Target& lost, const std::vector<discovery::Job>& jobs) {
  if (!lost.live.job) return lost;
  const discovery::Job& before = *lost.live.job;
  const auto is_it = [&](const discovery::Job& job) {
    return job.name == before.name && job.node == before.node && job.started_realtime_ns == before.started_realtime_ns;
  };
  const auto follows = [&](const discovery::Job& job) {
    return fresh(job) && job.started_realtime_ns > before.started_realtime_ns &&
           (job.name == before.name ||
            (!before.batch_job.empty() && job.batch_job == before.batch_job && job.cluster == before.cluster));
  };
  auto found = std::find_if(jobs.begin(), jobs.end(), [&](const auto& job) { return is_it(job) && fresh(job); });
  if (found == jobs.end()) {
    for (auto job = jobs.begin(); job != jobs.end(); ++job)
      if (follows(*job) && (found == jobs.end() || older(*found, *job))) found = job;
  }
  if (found == jobs.end()) return Error{ErrorCode::not_found, "job " + before.name + " is gone"};
  Target again = lost;
  again.note.clear();
  again.live.name = found->name;
  again.live.endpoint = found->endpoint;
  again.live.job = *found;
  return again;
}

Result<Target> find_again(const Target& lost) { return choose_again(lost, discovery::all_jobs().jobs); }

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

std::function<Result<std::unique_ptr<Session>>()> reopener(const Target& target) {
  struct Meant {
    std::mutex mutex;
    Target target;
  };
  const auto meant = std::make_shared<Meant>();
  meant->target = target;
  return [meant]() -> Result<std::unique_ptr<Session>> {
    std::unique_lock lock(meant->mutex);
    const Target before = meant->target;
    lock.unlock();
    const auto again = find_again(before);
    if (!again) return again.error();
    auto session = open_target(*again);
    // A host that was asked for any job is asked for this one from now on.
    lock.lock();
    if (session && meant->target.live.name.empty()) meant->target.live.name = (*session)->job();
    return session;
  };
}

Result<std::unique_ptr<Session>> open_run(const std::string& word) {
  if (is_existing_file(word)) return open_stored(word);
  const auto target = find_target(word);
  if (!target) return target.error();
  return open_target(*target);
}

}  // namespace pclscope::session
