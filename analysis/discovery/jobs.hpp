// The files that announce running jobs: one in the runtime directory of the job's node, one in the directory that the
// user's nodes share. JSON, mode 0600, whole or not there; never with the token or a key.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analysis/values/result.hpp"

namespace pclscope::discovery {

struct Job {
  std::string name;              // public, short: what `pclscope watch NAME` takes
  std::string endpoint;          // on its node, as Subscriber::connect takes it
  std::vector<std::string> tcp;  // and from elsewhere: endpoints, the likeliest first
  std::string command;
  std::string mpi;
  std::string node;       // of the root's aggregator
  std::string program;    // path of pclscope there; empty: not known
  std::string batch_job;  // Slurm's id of it; empty: none
  std::string cluster;    // as Slurm calls it; empty: not known
  std::int32_t ranks = 0;
  std::uint32_t aggregator_pid = 0;
  std::int64_t started_realtime_ns = 0;

  // Set where jobs are listed.
  bool here = true;     // on this node; aggregator_pid is one of this node's
  std::string file;     // that announces it
  double silent_s = 0;  // elsewhere: since its last sign of life
};

// Whether a word can be a job's name, and a part of a file's.
bool is_job_name(const std::string& name);

// Writes RUNTIME/NAME.job; remove it with withdraw().
Status announce(const Job& job);
void withdraw(const std::string& name);
// Running jobs of this user that were announced in this node's runtime directory, oldest first. Files whose aggregator
// is gone are removed on the way.
Result<std::vector<Job>> jobs_here();

// --- in the shared directory; each of these may wait for a network file system ---

inline constexpr double beat_s = 10;      // a job that lives touches its file as often
inline constexpr double silent_s = 45;    // without a sign of life: it may be gone
inline constexpr double forget_s = 1800;  // then its file is removed by whoever lists. One that lives writes it again

// Writes SHARED/jobs/NAME@HOST.BOOT.job.
Status share(const Job& job);
// A sign of life; false when the file is not there any more.
bool beat(const std::string& name);
void withdraw_shared(const std::string& name);
// Jobs of this user on all nodes, oldest first: those here, and those whose files are shared. A file counts by its
// name, its content and the time of its last beat, all as the file server has them, so clocks may differ.
struct Listing {
  std::vector<Job> jobs;
  std::string problem_here, problem_elsewhere;  // one line each: why jobs of this node, or of others, are not seen
};
Listing all_jobs();

// A job that was only preloaded, as its rank 0 said 2 s after MPI_Init. It gives no signs of life, so its node is to be
// asked whether it is still there; unasked, files are kept for 30 days.
struct Dormant {
  std::string name;
  std::string node;  // host name where rank 0 runs
  std::string boot;  // boot_id() there: two clusters that share a home may have nodes of one name
  std::string command;
  std::string mpi;
  std::string batch_job;  // Slurm's id; empty: none
  std::string cluster;
  std::int32_t ranks = 0;
  std::int32_t nodes = 0;
  std::int64_t started_realtime_ns = 0;
  bool here = false;  // on this node: collect::dormant_jobs() knows more
  std::string file;
};
std::vector<Dormant> announced_dormant();  // may wait for a network file system
void forget(const Dormant& job);           // its node says that there is none
// Seconds since the last sign of life in a shared announcement; -1: it has been taken back, or removed.
double silence_of(const std::string& file);

}  // namespace pclscope::discovery
