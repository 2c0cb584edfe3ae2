#include "viewer/session/preloaded.hpp"

#include <algorithm>

#include "analysis/collect/dormant.hpp"
#include "analysis/discovery/jobs.hpp"

namespace pclscope::session {
namespace {

bool means(const std::string& word, const Preloaded& job) {
  return word.empty() || word == job.name || word == job.name + "@" + job.node ||
         (!job.batch_job.empty() && word == job.batch_job);
}

// Those that are certainly there go before those that may have died.
bool less_likely(const Preloaded& a, const Preloaded& b) {
  return a.here != b.here ? b.here : a.started_realtime_ns < b.started_realtime_ns;
}

}  // namespace

std::vector<Preloaded> preloaded_jobs() {
  std::vector<Preloaded> jobs;
  for (const collect::DormantJob& job : collect::dormant_jobs())
    jobs.push_back({job.name, job.first_node, "", job.started_ns, true, job.aggregator != 0});
  const std::size_t here = jobs.size();
  for (const discovery::Dormant& job : discovery::announced_dormant()) {
    if (!job.here) {
      jobs.push_back({job.name, job.node, job.batch_job, job.started_realtime_ns, false, false});
      continue;
    }
    for (std::size_t i = 0; i < here; ++i)
      if (jobs[i].name == job.name) jobs[i].batch_job = job.batch_job;
  }
  return jobs;
}

std::string about_preloaded(const std::string& word, const std::vector<Preloaded>& jobs) {
  std::vector<Preloaded> meant;
  for (const Preloaded& job : jobs)
    if (means(word, job)) meant.push_back(job);
  if (meant.empty()) return {};
  const Preloaded& job = *std::max_element(meant.begin(), meant.end(), less_likely);
  if (job.attached) return job.name + " is attached, but publishes nothing (--publish none), or has only just begun to";
  return job.name + (job.here ? " is dormant" : " on " + job.node + " is dormant, if it is still there") +
         ": pclscope attach " + job.name + " begins to record it" +
         (meant.size() > 1 ? " (pclscope list shows " + std::to_string(meant.size() - 1) + " more)" : "");
}

}  // namespace pclscope::session
