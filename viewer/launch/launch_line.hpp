// The command that starts an application under pclscope: a pure function of what the user asked for and of facts.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "viewer/launch/detect_mpi.hpp"
#include "viewer/launch/host_source.hpp"

namespace pclscope::launch {

inline constexpr int most_aggregators = 64;     // on a node
inline constexpr int aggregators_by_ranks = 0;  // for RunOptions::aggregators, until settle_aggregators()

// One of several programs of a job, behind the first: "./atm a : -n 2 ./ocean o".
struct MoreRanks {
  int ranks = 0;
  std::vector<std::string> command;
};

// What the user asked for.
struct RunOptions {
  int ranks = 0;        // of all programs
  int aggregators = 1;  // on each node that gets ranks
  std::string dump;     // absolute path; empty = no dump
  std::int64_t window_ns = 100'000'000;
  std::string regions;      // "" or a method's name
  double half_life_s = -1;  // of the graph of regions; 0: never forgets, below: the default
  std::string baseline;     // absolute path of a dump; empty = none
  std::string keep;         // "", "summaries", "interesting", "all"
  std::optional<std::uint64_t> budget_bytes;
  std::vector<std::string> launcher_args;  // words
  std::optional<std::uint64_t> ring_events;
  std::optional<std::uint64_t> ring_limit;
  std::optional<std::uint32_t> stacks;
  std::string ring_directory;  // "": as the library decides
  std::string overflow;        // "", "wait", "drop"
  std::optional<std::uint64_t> overflow_wait_ms;
  std::string clock;                 // "", "tsc", "monotonic"
  std::vector<std::string> command;  // the application and its arguments
  std::vector<MoreRanks> more;       // other programs of the same job, in the order of their ranks
  int ranks_of_command() const;      // of `ranks`
};

// Takes what stands behind a ":" in the command, as all mpiruns read it, as further programs: sets command, more and
// ranks. One line: what is wrong with it.
std::optional<std::string> split_programs(RunOptions& options);

// What is the case.
struct RunFacts {
  Mpi mpi = Mpi::openmpi;
  std::string launcher;  // path of mpirun
  // The word that it is called by. Open MPI takes a path for --prefix, and puts its own folders before those of the
  // application's PATH and LD_LIBRARY_PATH.
  std::string launcher_word;
  std::string rank_program;  // pclscope-rank
  std::string aggregator_program;
  std::string library;      // to preload
  std::string mpi_library;  // the application's own, for the aggregator; empty: as the system finds it
  bool root = false;
  int slots = 0;                      // Open MPI's; 0 = not known
  std::set<std::string> environment;  // names of variables that are set
  std::string job;                    // public name
  std::string token;                  // the job's secret
  std::string last_words;             // file for the last snapshot; may be empty
  std::string log;                    // attach: file for what is said in the background; may be empty
  std::string endpoint;               // empty: published nowhere; "auto": of that node's choice
  bool tcp = false;                   // at a port of the system's choice as well
  std::string batch_job, cluster;     // Slurm's; may be empty
  std::string mpi_type;               // of srun --mpi; empty: Slurm's own, or what the user says
  std::string slurm_export;           // SLURM_EXPORT_ENV
  // What sbatch says to srun of how to spread tasks: not for ours (slurm.hpp).
  std::vector<std::pair<std::string, std::string>> slurm_spreading;
  std::string program;  // pclscope
  Placement placement;  // no nodes: one, the launcher decides
};

// Shell: a new secret.
inline const std::string new_token_here = "$(od -An -N16 -tx1 /dev/urandom | tr -d ' \\n')";

struct LaunchLine {
  std::string program;                                           // file to execute
  std::vector<std::string> arguments;                            // the word that it is called by first
  std::vector<std::pair<std::string, std::string>> environment;  // to be set for the launcher
  std::vector<std::string> without;                              // and to be left out there
};

// Puts a number in place of aggregators_by_ranks: one for each 32 ranks of the fullest node.
void settle_aggregators(RunOptions& options, const Placement& placement);

LaunchLine build_launch_line(const RunOptions& options, const RunFacts& facts);

// The same job without us: no recorder, no rank more, no option that the user did not give (but root's permission).
LaunchLine build_bare_line(const RunOptions& options, const RunFacts& facts);

// The tool's ranks: so many on each node that gets ranks of the application.
std::size_t tool_ranks(const RunOptions& options, const RunFacts& facts);
// What all ranks of the job, and ours, find in their environment.
std::vector<std::pair<std::string, std::string>> job_variables(const RunOptions& options, const RunFacts& facts);
// The words of one aggregator: the program first.
std::vector<std::string> aggregator_words(const RunOptions& options, const RunFacts& facts);
// The same as a rank of the job; `part`: which of its node's aggregators it is.
std::vector<std::string> aggregator_rank(const RunOptions& options, const RunFacts& facts, int part = 0);
// The aggregators of a job that runs already, as an MPI job of their own: one per node of the placement. On one node it
// is the program itself, without a launcher.
LaunchLine build_attach_line(const RunOptions& options, const RunFacts& facts);
// The launcher's own option for the number of processes, when it stands in --launcher-args, where it must not.
std::optional<std::string> misplaced_rank_count(const std::vector<std::string>& launcher_args);

}  // namespace pclscope::launch
