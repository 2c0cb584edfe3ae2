// Command line of pclscope-aggregator. Started by `pclscope run`; the secret token comes by PCLSCOPE_JOB only.
#pragma once

#include <cstdint>
#include <string>

namespace pclscope::aggregator {

struct Options {
  std::string job;                 // public name
  std::string command;             // of the application, as shown to the user
  std::string dump;                // HDF5 file, empty: none
  std::string endpoint;            // empty: do not publish
  bool tcp = false;                // at a port of the system's choice as well
  std::string batch_job, cluster;  // Slurm's; may be empty
  std::string program;             // path of pclscope; may be empty
  std::int64_t window_ms = 100;
  std::string regions;      // a method's name, empty: the default
  double half_life_s = -1;  // of the graph of regions; 0: never forgets, below: the default
  std::string baseline;     // dump of an earlier run, empty: none
  std::string keep = "interesting";
  std::uint64_t budget_bytes = 2'000'000'000;  // of the dump
  bool worker = false;
  int control = -1;              // worker: descriptor on which the anchor speaks
  std::string token;             // from the environment
  std::int32_t ranks = 0;        // of the application, from PCLSCOPE_RANKS
  std::int32_t aggregators = 1;  // of the job, in the order of their nodes; from PCLSCOPE_TOOL_RANKS
  std::int32_t per_node = 1;     // aggregators of each node; from PCLSCOPE_AGGREGATORS
  std::int32_t part = 0;         // which of its node this one is, and so which ranks it reads
  std::string last_words;        // file in memory for the last snapshot, where no dump has it; empty: none
  bool attach = false;           // started beside a job that runs already, not as ranks of it
  std::string log;  // attached: where our and the launcher's words go; removed at the end when there are none
};

// Returns 0 and fills `options`, or an exit status after printing one line.
int parse(int argc, char** argv, Options& options);

}  // namespace pclscope::aggregator
