// Command line of pclscope-aggregator. Started by `pclscope run`; the secret token comes by PCLSCOPE_JOB only.
#pragma once

#include <cstdint>
#include <string>

namespace pclscope::aggregator {

struct Options {
  std::string job;        // public name
  std::string command;    // of the application, as shown to the user
  std::string dump;       // HDF5 file, empty: none
  std::string endpoint;   // empty: do not publish
  std::int64_t window_ms = 100;
  std::string regions;    // a method's name, empty: the default
  std::string baseline;   // dump of an earlier run, empty: none
  std::string keep = "interesting";
  std::uint64_t budget_bytes = 2'000'000'000;  // of the dump
  bool worker = false;
  int control = -1;       // worker: descriptor on which the anchor speaks
  std::string token;      // from the environment
  std::int32_t ranks = 0; // of the application, from PCLSCOPE_RANKS
};

// Returns 0 and fills `options`, or an exit status after printing one line.
int parse(int argc, char** argv, Options& options);

// What the anchor tells the worker, one byte each. End of file means: the anchor is gone, finish.
inline constexpr char say_finished = 'F';  // every rank entered MPI_Finalize
inline constexpr char say_stopped = 'T';   // the launcher ends the job
inline constexpr char say_nothing_to_record = 'N';  // the application never called MPI_Init, or refused

}  // namespace pclscope::aggregator
